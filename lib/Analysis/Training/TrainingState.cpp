// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which result replaces which argument in the next step. A result can be the next value
// of an argument of its type that it reaches through ops of its own shape (no
// contraction, no reduction): parameters, moments, averages and counters all are. Steps
// keep the order of their state, so pairs are chosen in order where that pairs most.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/TrainingRoles.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::mp;

/// Dimensions other than 1; nullopt for what has no shape.
static std::optional<SmallVector<int64_t>> squeezed(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped)
    return std::nullopt;
  SmallVector<int64_t> sizes;
  llvm::copy_if(shaped.getShape(), std::back_inserter(sizes), [](int64_t s) { return s != 1; });
  return sizes;
}

/// True for ops that compute each element from elements in its place.
static bool keepsPlace(Operation *op) {
  OpClass opClass = getOpClass(op);
  if (opClass == OpClass::TensorCore || opClass == OpClass::Accumulate)
    return false;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return !structured || structured.getNumReductionLoops() == 0;
}

/// Arguments of the function that `result` reaches through ops of its shape.
static llvm::BitVector reachedArguments(func::FuncOp function, Value result) {
  llvm::BitVector reached(function.getNumArguments());
  auto shape = squeezed(result.getType());
  if (!shape)
    return reached;
  llvm::SetVector<Value> pending;
  pending.insert(result);
  for (unsigned i = 0; i < pending.size(); ++i) {
    Value value = pending[i];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getType() == result.getType())
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
    if (isa<UnscaleOp>(op) || !keepsPlace(op))
      continue;
    for (Value operand : op->getOperands())
      if (squeezed(operand.getType()) == shape)
        pending.insert(operand);
  }
  return reached;
}

/// Everything in the function's block that `value` depends on.
static llvm::DenseSet<Value> backwardSlice(Value value) {
  llvm::SetVector<Value> pending;
  pending.insert(value);
  for (unsigned i = 0; i < pending.size(); ++i)
    if (Operation *op = pending[i].getDefiningOp()) {
      pending.insert(op->operand_begin(), op->operand_end());
      getUsedValuesDefinedAbove(op->getRegions(), pending);
    }
  return {pending.begin(), pending.end()};
}

namespace {
/// Pairs results with arguments, each at most once.
class Pairing {
public:
  explicit Pairing(ArrayRef<llvm::BitVector> candidates, unsigned arguments)
      : candidates(candidates), arguments(arguments) {}

  /// The argument of each result, -1 for none: most pairs in order, or most pairs at all
  /// where that is more.
  SmallVector<int> choose() {
    SmallVector<int> ordered = inOrder(), any = inAnyOrder();
    auto size = [](ArrayRef<int> pairs) { return llvm::count_if(pairs, [](int p) { return p >= 0; }); };
    return size(any) > size(ordered) ? any : ordered;
  }

private:
  /// Longest common subsequence of arguments and results.
  SmallVector<int> inOrder() {
    unsigned results = candidates.size();
    std::vector<std::vector<unsigned>> best(results + 1, std::vector<unsigned>(arguments + 1));
    for (unsigned r = results; r-- > 0;)
      for (unsigned a = arguments; a-- > 0;)
        best[r][a] = candidates[r][a] ? best[r + 1][a + 1] + 1
                                      : std::max(best[r + 1][a], best[r][a + 1]);
    SmallVector<int> pairs(results, -1);
    for (unsigned r = 0, a = 0; r < results && a < arguments;) {
      if (candidates[r][a])
        pairs[r++] = a++;
      else if (best[r][a + 1] >= best[r + 1][a])
        ++a;
      else
        ++r;
    }
    return pairs;
  }

  /// Maximum matching; the results with the fewest choices first.
  SmallVector<int> inAnyOrder() {
    SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(candidates.size()));
    llvm::stable_sort(order, [&](unsigned x, unsigned y) {
      return candidates[x].count() < candidates[y].count();
    });
    owner.assign(arguments, -1);
    for (unsigned result : order) {
      llvm::BitVector tried(arguments);
      claim(result, tried);
    }
    SmallVector<int> pairs(candidates.size(), -1);
    for (auto [argument, result] : llvm::enumerate(owner))
      if (result >= 0)
        pairs[result] = argument;
    return pairs;
  }
  bool claim(unsigned result, llvm::BitVector &tried) {
    for (unsigned argument : candidates[result].set_bits()) {
      if (tried[argument])
        continue;
      tried.set(argument);
      if (owner[argument] < 0 || claim(owner[argument], tried)) {
        owner[argument] = result;
        return true;
      }
    }
    return false;
  }

  ArrayRef<llvm::BitVector> candidates;
  unsigned arguments;
  SmallVector<int> owner;
};
} // namespace

bool mlir::mp::dependsOnContraction(Value value) {
  return llvm::any_of(backwardSlice(value), [](Value v) {
    Operation *op = v.getDefiningOp();
    return op && getOpClass(op) == OpClass::TensorCore;
  });
}

/// A scalar that depends on a contraction, but not on the gradient: a loss or another
/// measure, no state.
static bool isMeasure(Value returned, const HomogeneityGraph::Degrees &degrees) {
  auto type = dyn_cast<RankedTensorType>(returned.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
      !degrees.of(returned).isConstant())
    return false;
  return dependsOnContraction(returned);
}

FailureOr<SmallVector<TrainingState>>
mlir::mp::findTrainingState(func::FuncOp function, const HomogeneityGraph::Degrees &degrees,
                            Value seed) {
  Operation *terminator = function.getBody().front().getTerminator();
  unsigned results = function.getNumResults(), arguments = function.getNumArguments();
  auto roleOf = [&](unsigned argument) {
    return function.getArgAttrOfType<StringAttr>(argument, kRoleAttrName);
  };
  SmallVector<int> pairs(results, -1);
  for (unsigned argument = 0; argument != arguments; ++argument) {
    auto pinned = function.getArgAttrOfType<IntegerAttr>(argument, kStateAttrName);
    if (!pinned)
      continue;
    int64_t result = pinned.getInt();
    if (result < 0 || result >= results ||
        function.getResultTypes()[result] != function.getArgumentTypes()[argument])
      return function.emitError()
             << "argument #" << argument << " says its next value is result #" << result
             << ", expected a result of its type " << function.getArgumentTypes()[argument]
             << "; correct its 'mp.state'";
    if (pairs[result] >= 0)
      return function.emitError() << "arguments #" << pairs[result] << " and #" << argument
                                  << " both name result #" << result << " in 'mp.state'";
    pairs[result] = argument;
  }
  SmallVector<llvm::BitVector> candidates;
  for (unsigned result = 0; result != results; ++result) {
    Value returned = terminator->getOperand(result);
    llvm::BitVector reached(arguments);
    if (pairs[result] < 0 && !isMeasure(returned, degrees))
      reached = reachedArguments(function, returned);
    for (unsigned argument : reached.set_bits())
      if (llvm::is_contained(pairs, int(argument)) ||
          (roleOf(argument) && roleOf(argument).getValue() == kRoleInput))
        reached.reset(argument);
    candidates.push_back(std::move(reached));
  }
  for (auto [result, argument] : llvm::enumerate(Pairing(candidates, arguments).choose())) {
    if (argument >= 0)
      pairs[result] = argument;
    else if (candidates[result].any() && !degrees.of(terminator->getOperand(result)).isConstant())
      return function.emitError()
             << "result #" << result << " is updated by the gradient, but which argument of type "
             << function.getResultTypes()[result] << " it replaces is not clear: write 'mp.state = "
             << result << "' on that argument, or 'mp.role = \"input\"' on those that are no state";
  }

  llvm::DenseSet<Value> aboveSeed = backwardSlice(seed);
  SmallVector<TrainingState> state;
  for (auto [result, argument] : llvm::enumerate(pairs)) {
    // What is handed through is input, whatever it is called.
    if (argument < 0 || terminator->getOperand(result) == function.getArgument(argument))
      continue;
    bool moves = !degrees.of(terminator->getOperand(result)).isConstant();
    bool used = aboveSeed.contains(function.getArgument(argument));
    StringRef role = !moves ? kRoleStatistic : used ? kRoleParameter : kRoleOptimizer;
    if (auto pinned = roleOf(argument))
      role = pinned.getValue();
    state.push_back({unsigned(argument), unsigned(result), role, used});
  }
  llvm::sort(state, [](auto &a, auto &b) { return a.argument < b.argument; });
  return state;
}
