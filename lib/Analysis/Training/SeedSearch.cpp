// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Restricts where the search for seeds looks, and which state needs no gradient.

#include "StateReach.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

SmallVector<TrainingState> mlir::mp::findUnreached(func::FuncOp function,
                                                   ArrayRef<TrainingState> state) {
  SmallVector<TrainingState> unreached;
  for (const TrainingState &s : state) {
    Type type = function.getArgument(s.argument).getType();
    if (s.aboveSeed && s.role == kRoleStatistic &&
        !function.getArgAttr(s.argument, kRoleAttrName) && getFloatFormat(type) &&
        isa<RankedTensorType>(type) && cast<RankedTensorType>(type).getRank() > 0)
      unreached.push_back(s);
  }
  return unreached;
}

/// True if something is added to `value` to make `updated`, as an optimizer does; a loss is
/// multiplied by its weight.
static bool isAddedTo(Value value, Value updated) {
  llvm::SetVector<Value> pending;
  pending.insert(updated);
  for (unsigned i = 0; i < pending.size(); ++i) {
    Operation *op = pending[i].getDefiningOp();
    if (!op)
      continue;
    bool multiplies = op->walk([](Operation *inner) {
                          return isa<arith::MulFOp, arith::DivFOp>(inner) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
                        }).wasInterrupted();
    for (Value operand : op->getOperands())
      if (!multiplies || llvm::none_of(op->getOperands(), [&](Value v) {
            return v != operand && dependsOnContraction(v);
          }))
        pending.insert(operand);
  }
  return pending.contains(value);
}

SmallVector<Value> mlir::mp::findTrainedScalars(func::FuncOp function,
                                                const HomogeneityGraph &graph) {
  StateReach reach(function);
  SmallVector<Value> scalars;
  for (Value returned : function.getBody().front().getTerminator()->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(returned.getType());
    bool isScalar = type ? type.getRank() == 0 : isa<FloatType>(returned.getType());
    if (isScalar && llvm::any_of(reach.inPlace(returned).set_bits(), [&](unsigned argument) {
          BlockArgument value = function.getArgument(argument);
          return graph.reachesContraction(value) && isAddedTo(value, returned);
        }))
      scalars.push_back(returned);
  }
  return scalars;
}

static bool isMove(Operation *op) {
  if (movesEveryElement(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.getNumDpsInputs() == 1 &&
         structured.getNumReductionLoops() == 0 &&
         structured.getBlock()->getTerminator()->getOperand(0) ==
             structured.getBlock()->getArgument(0);
}

/// `values` and what only moves their elements.
static llvm::SetVector<Value> withMoves(ArrayRef<Value> values) {
  llvm::SetVector<Value> all(values.begin(), values.end());
  for (unsigned i = 0; i < all.size(); ++i)
    for (Operation *user : all[i].getUsers())
      if (user->getNumResults() == 1 && user->getOperand(0) == all[i] && isMove(user))
        all.insert(user->getResult(0));
  return all;
}

SmallVector<Value> mlir::mp::findWeights(func::FuncOp function) {
  StateReach reach(function);
  llvm::BitVector replaced(function.getNumArguments());
  for (Value returned : function.getBody().front().getTerminator()->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(returned.getType()); type && type.getRank() > 0)
      replaced |= reach.inPlace(returned);
  SmallVector<Value> weights;
  for (unsigned argument : replaced.set_bits())
    weights.push_back(function.getArgument(argument));
  return withMoves(weights).takeVector();
}

bool mlir::mp::areOfForwardPass(func::FuncOp function, ArrayRef<Value> seeds,
                                ArrayRef<TrainingState> state, ArrayRef<TrainingState> unreached) {
  Block &block = function.getBody().front();
  SmallVector<Value> updated, trained;
  for (const TrainingState &s : unreached)
    updated.push_back(block.getTerminator()->getOperand(s.result));
  for (const TrainingState &s : state)
    if (s.role == kRoleParameter)
      trained.push_back(function.getArgument(s.argument));
  llvm::SetVector<Value> weights = withMoves(trained);
  llvm::DenseSet<Value> forward = backwardSlice(seeds, /*choices=*/true, updated),
                        movedBy = backwardSlice(updated);
  auto isIn = [](const llvm::DenseSet<Value> &values, Operation *op) {
    return llvm::any_of(op->getResults(), [&](Value v) { return values.contains(v); });
  };
  return !block
              .walk([&](Operation *op) {
                Operation *ancestor = block.findAncestorOpInBlock(*op);
                bool isOther =
                    isContraction(op) && isIn(movedBy, ancestor) && !isIn(forward, ancestor) &&
                    llvm::none_of(op->getOperands(), [&](Value v) { return weights.contains(v); });
                return isOther ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}
