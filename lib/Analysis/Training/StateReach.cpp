// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows a result of a train step backwards, place by place or through data movement, to the
// arguments of its type.

#include "StateReach.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

StateReach::StateReach(func::FuncOp function) : function(function) {
  function.walk([&](RegionBranchOpInterface op) {
    RegionBranchSuccessorMapping forwarded;
    op.getSuccessorOperandInputMapping(forwarded);
    for (auto &[operand, inputs] : forwarded)
      for (Value input : inputs)
        handedOn[input].push_back(operand->get());
  });
}

/// Dimensions other than 1, of a number none; nullopt for what is neither tensor nor number.
static std::optional<SmallVector<int64_t>> squeezed(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  SmallVector<int64_t> sizes;
  if (!shaped)
    return type.isIntOrFloat() ? std::optional(sizes) : std::nullopt;
  llvm::copy_if(shaped.getShape(), std::back_inserter(sizes), [](int64_t s) { return s != 1; });
  return sizes;
}

/// True for ops that compute each element from elements in its place, or moved to it.
static bool combinesPlaces(Operation *op) {
  OpClass opClass = getOpClass(op);
  if (opClass == OpClass::TensorCore || opClass == OpClass::Accumulate)
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.getNumReductionLoops() > 0;
}

llvm::BitVector StateReach::follow(Value result, bool moves,
                                   llvm::function_ref<void(Value)> visit) {
  llvm::BitVector reached(function.getNumArguments());
  auto shape = squeezed(result.getType());
  if (!shape)
    return reached;
  llvm::SetVector<Value> pending;
  auto add = [&](Value value) {
    auto sizes = squeezed(value.getType());
    if (sizes && (moves || sizes == shape))
      pending.insert(value);
  };
  pending.insert(result);
  for (unsigned i = 0; i < pending.size(); ++i) {
    Value value = pending[i];
    visit(value);
    if (auto from = handedOn.find(value); from != handedOn.end()) {
      llvm::for_each(from->second, add);
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == &function.getBody().front() &&
          argument.getType() == result.getType())
        reached.set(argument.getArgNumber());
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto guard = dyn_cast<GuardedUpdateOp>(op)) {
      unsigned index = cast<OpResult>(value).getResultNumber();
      pending.insert(guard.getOld()[index]);
      pending.insert(guard.getUpdated()[index]);
      continue;
    }
    if (!isa<UnscaleOp>(op) && !combinesPlaces(op))
      llvm::for_each(op->getOperands(), add);
  }
  return reached;
}

bool StateReach::movesWith(Value result, llvm::function_ref<bool(Value)> is) {
  bool found = false;
  follow(result, /*moves=*/false, [&](Value value) { found |= is(value); });
  return found;
}

bool StateReach::servesOnly(unsigned argument, unsigned result) {
  Block &block = function.getFunctionBody().front();
  llvm::SetVector<Value> pending;
  pending.insert(function.getArgument(argument));
  for (unsigned i = 0; i < pending.size(); ++i)
    for (OpOperand &use : pending[i].getUses()) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      if (!user->hasTrait<OpTrait::IsTerminator>())
        pending.insert(user->result_begin(), user->result_end());
      else if (use.getOperandNumber() != result)
        return false;
    }
  return true;
}

llvm::DenseSet<Value> mlir::mp::backwardSlice(ArrayRef<Value> values, bool choices,
                                              ArrayRef<Value> ends) {
  llvm::SetVector<Value> pending(values.begin(), values.end());
  for (unsigned i = 0; i < pending.size(); ++i)
    if (Operation *op = pending[i].getDefiningOp(); op && !llvm::is_contained(ends, pending[i])) {
      for (Value operand : op->getOperands())
        if (choices || !getElementTypeOrSelf(operand.getType()).isInteger(1))
          pending.insert(operand);
      getUsedValuesDefinedAbove(op->getRegions(), pending);
    }
  return {pending.begin(), pending.end()};
}

/// True for a condition that one number decides.
static bool isOneChoice(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return getElementTypeOrSelf(type).isInteger(1) &&
         (!tensor || (tensor.hasStaticShape() && tensor.getNumElements() == 1));
}

llvm::DenseSet<Value> mlir::mp::forwardSlice(ArrayRef<Value> values, ArrayRef<Value> ends) {
  llvm::SetVector<Value> pending(values.begin(), values.end());
  for (unsigned i = 0; i < pending.size(); ++i) {
    if (llvm::is_contained(ends, pending[i]))
      continue;
    for (Operation *user : pending[i].getUsers())
      for (Operation *op = user; op && !isa<func::FuncOp>(op); op = op->getParentOp())
        for (Value result : op->getResults())
          if (!isOneChoice(result.getType()))
            pending.insert(result);
  }
  return {pending.begin(), pending.end()};
}

/// True for tensors that a contraction or a broadcast number is no update of.
static bool isLarge(Value value) {
  auto sizes = squeezed(value.getType());
  return sizes && !sizes->empty();
}

llvm::SetVector<Operation *> mlir::mp::findContractionsOfGradients(
    func::FuncOp function, const HomogeneityGraph::Degrees &degrees, ArrayRef<Value> updated) {
  StateReach reach(function);
  llvm::DenseSet<Value> inPlace;
  for (Value value : updated)
    if (isLarge(value))
      reach.movesWith(value,
                      [&](Value v) { return degrees.of(v).is(1) && inPlace.insert(v).second; });
  // Collects where the backward pass hands a gradient over: made of something scaled that does not
  // lie in its place, or the first that is scaled.
  SmallVector<Value> gradients;
  for (Value value : inPlace) {
    Operation *op = value.getDefiningOp();
    auto isScaled = [&](Value v) { return degrees.of(v).is(1); };
    if (!op || llvm::none_of(op->getOperands(), isScaled) ||
        llvm::any_of(op->getOperands(),
                     [&](Value v) { return isScaled(v) && !inPlace.contains(v); }))
      gradients.push_back(value);
  }
  llvm::DenseSet<Value> behind = forwardSlice(gradients), before = backwardSlice(gradients);
  llvm::SetVector<Operation *> contractions;
  function.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && isContraction(op) && degrees.of(op->getResult(0)).is(1) &&
        behind.contains(op->getResult(0)) && !before.contains(op->getResult(0)))
      contractions.insert(op);
  });
  return contractions;
}

llvm::DenseSet<Value> mlir::mp::sourcesOfBackwardPass(func::FuncOp function,
                                                      const HomogeneityGraph::Degrees &degrees,
                                                      ArrayRef<Value> seeds,
                                                      const llvm::SetVector<Operation *> &excepted,
                                                      ArrayRef<Value> ends) {
  SmallVector<Value> backward(seeds);
  for (Operation &op : function.getBody().front()) {
    WalkResult scaled = op.walk([&](Operation *inner) {
      bool is = inner->getNumResults() == 1 && isContraction(inner) &&
                degrees.of(inner->getResult(0)).is(1) && !excepted.contains(inner);
      return is ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (scaled.wasInterrupted())
      llvm::append_range(backward, op.getResults());
  }
  return backwardSlice(backward, /*choices=*/true, ends);
}

void mlir::mp::assignParameters(func::FuncOp function, TrainingRoles &roles) {
  llvm::DenseMap<Value, Gradient *> gradients;
  for (Gradient &gradient : roles.gradients)
    gradients[gradient.value] = &gradient;
  StateReach reach(function);
  for (const TrainingState &s : roles.state)
    if (s.role == kRoleParameter)
      reach.movesWith(
          function.getBody().front().getTerminator()->getOperand(s.result), [&](Value v) {
            if (Gradient *gradient = gradients.lookup(v); gradient && !gradient->argument)
              gradient->argument = s.argument;
            return false;
          });
}
