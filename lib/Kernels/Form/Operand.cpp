// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of operands: what narrows f32 that no kernel makes (weights that are arguments), and
// what surrounds a tensor with a constant, runs while the tiles of the contractions that read it
// are copied, and needs no launch.

#include "../Plan/OperandSource.h"
#include "DispatchPlan.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
using Groups = llvm::SmallSetVector<unsigned, 4>;
} // namespace

/// Groups of the contractions that read the result of `op`, themselves or through an op that they
/// make again; empty if something else reads it.
static Groups groupsOfReaders(const DispatchPlan &plan,
                              const DenseMap<Operation *, Groups> &repeated, Operation *op) {
  Groups groups;
  for (Operation *user : op->getUsers()) {
    if (auto again = repeated.find(user); again != repeated.end())
      groups.insert(again->second.begin(), again->second.end());
    else if (std::optional<unsigned> group = plan.getGroup(user);
             group && llvm::is_contained(plan.getContractions(), user))
      groups.insert(*group);
    else
      return {};
  }
  return groups;
}

/// True for an op that a contraction may make again. Casts of what a kernel makes belong into that.
static bool mayRepeat(const DispatchPlan &plan, Operation &op) {
  if (isConstantPadding(&op))
    return true;
  auto elementwise = dyn_cast<linalg::LinalgOp>(op);
  if (!elementwise || elementwise.getNumReductionLoops() != 0 || plan.getGroup(&op) ||
      !llvm::is_contained(plan.getCandidates(), elementwise))
    return false;
  return !isNarrowing(&op) || !plan.isMadeHere(skipUnitReshapes(op.getOperand(0)));
}

void mlir::mp::groupOperands(DispatchPlan &plan) {
  DenseMap<Operation *, Groups> repeated;
  for (Operation &op : llvm::reverse(plan.getBlock())) {
    if (op.use_empty() || !mayRepeat(plan, op))
      continue;
    Groups groups = groupsOfReaders(plan, repeated, &op);
    if (!groups.empty() && plan.repeat(groups.getArrayRef(), &op))
      repeated[&op] = groups;
  }
}
