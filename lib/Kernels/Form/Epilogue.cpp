// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of epilogues: what computes an element of each element of a contraction's result runs in
// its kernel, on sums in registers, and so does what reads that, and what makes elements for that
// alone (a batch norm's factors of its variances).

#include "DispatchPlan.h"
#include "mp/Dialect/MP/Remarks.h"

using namespace mlir;
using namespace mlir::mp;

/// True if `op` computes an element of each element of some member's result.
static bool readsElementwise(linalg::LinalgOp op, ArrayRef<linalg::LinalgOp> members) {
  if (op.getNumReductionLoops() != 0)
    return false;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    auto made = skipUnitReshapes(operand->get()).getDefiningOp<linalg::LinalgOp>();
    return made && llvm::is_contained(members, made) &&
           op.getMatchingIndexingMap(operand).isProjectedPermutation();
  });
}

/// True if members behind the contraction read what `op` computes element by element, and nothing
/// else does.
static bool feedsElementwise(linalg::LinalgOp op, ArrayRef<linalg::LinalgOp> members,
                             linalg::LinalgOp contraction) {
  const auto isInside = [&](auto &&self, Operation *user) -> bool {
    if (isUnitReshape(user))
      return llvm::all_of(user->getUsers(), [&](Operation *next) { return self(self, next); });
    return user != contraction && llvm::is_contained(members, user);
  };
  return op.getNumReductionLoops() == 0 &&
         llvm::all_of(op->getUsers(), [&](Operation *user) { return isInside(isInside, user); });
}

/// Says how many elementwise readers of the contraction did not join.
static void noteReadersApart(const DispatchPlan &plan, unsigned group,
                             linalg::LinalgOp contraction) {
  const auto isApart = [&](linalg::LinalgOp op) { return readsElementwise(op, contraction); };
  if (const size_t apart = llvm::count_if(plan.getNeighbors(group), isApart))
    remark::missed(contraction.getLoc(), remarks::kEpilogueApart)
        << std::to_string(apart)
        << " ops that read this contraction element by element run in kernels of their own";
}

void mlir::mp::groupEpilogues(DispatchPlan &plan) {
  for (linalg::LinalgOp contraction : plan.getContractions()) {
    if (plan.getGroup(contraction))
      continue;
    const unsigned group = plan.found(contraction, "epilogue");
    bool changed = true;
    while (changed) {
      changed = false;
      for (linalg::LinalgOp next : plan.getNeighbors(group)) {
        ArrayRef<linalg::LinalgOp> members = plan.getGroups()[group].members;
        if (!plan.getGroup(next) &&
            (readsElementwise(next, members) || feedsElementwise(next, members, contraction)))
          changed |= plan.add(group, next);
      }
    }
    noteReadersApart(plan, group, contraction);
  }
}
