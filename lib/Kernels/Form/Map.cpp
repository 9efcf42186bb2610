// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of maps: what is elementwise or moves elements, and is in no group yet, runs with its
// neighbors of equal loops, all their results in one kernel.

#include "DispatchPlan.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::groupMaps(DispatchPlan &plan) {
  for (linalg::LinalgOp op : plan.getCandidates()) {
    if (plan.getGroup(op))
      continue;
    unsigned group = plan.found(op, "map");
    bool changed = true;
    while (changed) {
      changed = false;
      for (linalg::LinalgOp next : plan.getNeighbors(group))
        if (std::optional<unsigned> other = plan.getGroup(next);
            other != group && (!other || plan.getGroups()[*other].rule == "map"))
          changed |= plan.add(group, next);
    }
  }
}
