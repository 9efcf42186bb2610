// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of rows: a reduction, what makes its operands, what reads its results, and other
// reductions of the same rows run in one kernel while a row is at hand.

#include "DispatchPlan.h"

using namespace mlir;
using namespace mlir::mp;

/// True if the op reduces the loop along which its first operand lies together in memory.
static bool reducesInnermost(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() == 0)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  if (map.getNumResults() == 0)
    return false;
  auto inner = dyn_cast<AffineDimExpr>(map.getResults().back());
  return inner && op.getIteratorTypesArray()[inner.getPosition()] == utils::IteratorType::reduction;
}

/// Adds neighbors until none joins. Reductions join before elementwise ops of theirs find another
/// group.
static void grow(DispatchPlan &plan, unsigned group) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (linalg::LinalgOp op : plan.getNeighbors(group))
      changed |= plan.getGroup(op) != group && plan.add(group, op);
  }
}

void mlir::mp::groupRows(DispatchPlan &plan) {
  for (bool innermost : {true, false})
    for (linalg::LinalgOp op : plan.getCandidates())
      if (op.getNumReductionLoops() != 0 && reducesInnermost(op) == innermost && !plan.getGroup(op))
        grow(plan, plan.found(op, innermost ? "rows" : "reduce"));
}
