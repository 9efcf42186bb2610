// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairs each result with the argument that it replaces in the next step. A result can be the next
// value of an argument of its type that it reaches place by place; where none is, of one that it
// reaches through moves. Steps keep the order of their state, so pairs are chosen in order where
// that pairs most.

#include "StateReach.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/Comm/CommDialect.h"
#include "mp/Dialect/MP/Probes.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mp;

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
    auto size = [](ArrayRef<int> pairs) {
      return llvm::count_if(pairs, [](int p) { return p >= 0; });
    };
    return size(any) > size(ordered) ? any : ordered;
  }

private:
  /// Longest common subsequence of arguments and results.
  SmallVector<int> inOrder() {
    unsigned results = candidates.size();
    std::vector<std::vector<unsigned>> best(results + 1, std::vector<unsigned>(arguments + 1));
    for (unsigned r = results; r-- > 0;)
      for (unsigned a = arguments; a-- > 0;)
        best[r][a] =
            candidates[r][a] ? best[r + 1][a + 1] + 1 : std::max(best[r + 1][a], best[r][a + 1]);
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

static bool holdsContraction(const llvm::DenseSet<Value> &values) {
  return llvm::any_of(values, [](Value v) {
    Operation *op = v.getDefiningOp();
    return op && isContraction(op);
  });
}

bool mlir::mp::dependsOnContraction(Value value) { return holdsContraction(backwardSlice(value)); }

/// A scalar that is computed from a contraction, but is not the sum of something and a gradient, as
/// what is updated by one is: a loss or another measure. What a check only chooses, a loss scale of
/// the step's own, is none.
static bool isMeasure(Value returned, const HomogeneityGraph::Degrees &degrees) {
  auto type = dyn_cast<RankedTensorType>(returned.getType());
  bool isOne = type ? type.hasStaticShape() && type.getNumElements() == 1
                    : returned.getType().isIntOrFloat();
  return isOne && !degrees.of(returned).isTop() &&
         holdsContraction(backwardSlice(returned, /*choices=*/false));
}

/// Roles that people, and the passes that append state, may give to arguments.
static constexpr StringLiteral kWritten[] = {kRoleParameter, kRoleOptimizer, kRoleStatistic,
                                             kRoleInput};
static constexpr StringLiteral kAppended[] = {kRoleMaster,
                                              kRoleRemainder,
                                              kRoleRandomSeed,
                                              kRoleRandomOffset,
                                              kRoleGradientNorm,
                                              kRoleGradientSum,
                                              kRoleMomentScale,
                                              kRoleMicroSteps,
                                              kRoleLossScale,
                                              kRoleCleanSteps,
                                              kRoleHysteresis,
                                              kRoleSkippedSteps,
                                              kRoleOverflowed,
                                              kRoleAmaxHistory,
                                              kRoleEncodeScale,
                                              kRoleDecodeScale,
                                              kRoleProbe,
                                              kRoleProbeCalls,
                                              comm::kRoleGradientResidual};

/// A slip of the pen must not be a role of its own.
static LogicalResult checkRoles(func::FuncOp function) {
  for (unsigned argument = 0, e = function.getNumArguments(); argument != e; ++argument) {
    auto role = function.getArgAttrOfType<StringAttr>(argument, kRoleAttrName);
    if (!role)
      continue;
    if (!llvm::is_contained(kWritten, role.getValue()) &&
        !llvm::is_contained(kAppended, role.getValue()))
      return function.emitError() << "argument #" << argument << " has 'mp.role' " << role
                                  << ", expected "
                                  << llvm::join(ArrayRef<StringLiteral>(kWritten), ", ")
                                  << " or what mp appends";
    if (auto next = function.getArgAttrOfType<IntegerAttr>(argument, kStateAttrName);
        next && role.getValue() == kRoleInput)
      return function.emitError()
             << "argument #" << argument
             << " is called \"input\", but says that its next value is result #" << next.getInt()
             << "; take away its 'mp.role' or its 'mp.state'";
  }
  return success();
}

FailureOr<SmallVector<TrainingState>>
mlir::mp::findTrainingState(func::FuncOp function, const HomogeneityGraph::Degrees &degrees,
                            ArrayRef<Value> seeds, ArrayRef<Value> handedOver) {
  Operation *terminator = function.getBody().front().getTerminator();
  unsigned results = function.getNumResults(), arguments = function.getNumArguments();
  auto roleOf = [&](unsigned argument) {
    return function.getArgAttrOfType<StringAttr>(argument, kRoleAttrName);
  };
  if (failed(checkRoles(function)))
    return failure();
  SmallVector<int> pairs(results, -1);
  for (unsigned argument = 0; argument != arguments; ++argument) {
    auto pinned = function.getArgAttrOfType<IntegerAttr>(argument, kStateAttrName);
    if (!pinned)
      continue;
    int64_t result = pinned.getInt();
    if (result < 0 || result >= results ||
        function.getResultTypes()[result] != function.getArgumentTypes()[argument])
      return function.emitError() << "argument #" << argument << " says its next value is result #"
                                  << result << ", expected a result of its type "
                                  << function.getArgumentTypes()[argument]
                                  << "; correct its 'mp.state'";
    if (pairs[result] >= 0)
      return function.emitError() << "arguments #" << pairs[result] << " and #" << argument
                                  << " both name result #" << result << " in 'mp.state'";
    pairs[result] = argument;
  }
  StateReach reach(function);
  // Parameters and all that is updated in place first; what is left may be packed.
  for (bool moves : {false, true}) {
    SmallVector<llvm::BitVector> candidates(results, llvm::BitVector(arguments));
    for (unsigned result = 0; result != results; ++result) {
      if (pairs[result] >= 0)
        continue;
      Value returned = terminator->getOperand(result);
      candidates[result] = moves ? reach.moved(returned) : reach.inPlace(returned);
      bool measure = isMeasure(returned, degrees);
      for (unsigned argument : candidates[result].set_bits())
        if (llvm::is_contained(pairs, int(argument)) ||
            (roleOf(argument) && roleOf(argument).getValue() == kRoleInput) ||
            // A running average of a loss serves nothing else; what the loss is weighted with does.
            (measure && !reach.servesOnly(argument, result)))
          candidates[result].reset(argument);
    }
    for (auto [result, argument] : llvm::enumerate(Pairing(candidates, arguments).choose())) {
      if (argument >= 0)
        pairs[result] = argument;
      else if (candidates[result].any() && !degrees.of(terminator->getOperand(result)).isConstant())
        return function.emitError()
               << "result #" << result << " is updated by the gradient, but which argument of type "
               << function.getResultTypes()[result]
               << " it replaces is not clear: write 'mp.state = " << result
               << "' on that argument, or 'mp.role = \"input\"' on those that are no state";
    }
  }

  SmallVector<Value> updated;
  for (auto [result, argument] : llvm::enumerate(pairs))
    if (argument >= 0)
      updated.push_back(terminator->getOperand(result));
  auto ofOptimizer = findContractionsOfGradients(function, degrees, updated);
  llvm::DenseSet<Value> sources = sourcesOfBackwardPass(function, degrees, seeds, ofOptimizer,
                                                        handedOver),
                        moved = forwardSlice(seeds, handedOver);
  SmallVector<TrainingState> state;
  for (auto [result, argument] : llvm::enumerate(pairs)) {
    // An argument that is handed through is an input, whatever it is called.
    if (argument < 0 || terminator->getOperand(result) == function.getArgument(argument))
      continue;
    // The sign of a gradient moves what is trained, whatever the scale.
    Value returned = terminator->getOperand(result);
    bool moves = !degrees.of(returned).isConstant() || moved.contains(returned);
    bool used = sources.contains(function.getArgument(argument));
    StringRef role = !moves ? kRoleStatistic : used ? kRoleParameter : kRoleOptimizer;
    if (auto pinned = roleOf(argument))
      role = pinned.getValue();
    state.push_back({unsigned(argument), unsigned(result), role, used});
  }
  llvm::sort(state, [](auto &a, auto &b) { return a.argument < b.argument; });
  return state;
}
