// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The seed of the backward pass, and the gradients: where the optimizer takes over.

#include "mp/Analysis/TrainingRoles.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

const TrainingState *TrainingRoles::ofArgument(unsigned argument) const {
  auto it = llvm::find_if(state, [&](auto &s) { return s.argument == argument; });
  return it == state.end() ? nullptr : &*it;
}

FailureOr<func::FuncOp> mlir::mp::findTrainStep(ModuleOp module, StringRef name, StringRef who) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && function.isPublic() &&
        !function->hasAttr(kInitOfAttrName))
      candidates.push_back(function);
  std::string names;
  for (func::FuncOp function : candidates) {
    if (function.getName() == name || (name.empty() && function.getName() == "main"))
      return function;
    names += (names.empty() ? "@" : ", @") + function.getName().str();
  }
  if (name.empty() && candidates.size() == 1)
    return candidates.front();
  if (names.empty())
    names = "none";
  if (name.empty())
    return module.emitError() << who << ": which public function is the train step? Say "
                              << "'function=NAME'; there are " << names;
  return module.emitError() << who << ": option 'function' is '" << name
                            << "', expected a public function; there are " << names;
}

void mlir::mp::annotateState(func::FuncOp function, ArrayRef<TrainingState> state) {
  Builder builder(function.getContext());
  for (const TrainingState &s : state) {
    function.setArgAttr(s.argument, kRoleAttrName, builder.getStringAttr(s.role));
    function.setArgAttr(s.argument, kStateAttrName, builder.getI64IntegerAttr(s.result));
  }
}

FailureOr<TrainStep> mlir::mp::annotateTrainStep(ModuleOp module, StringRef name, StringRef who) {
  FailureOr<func::FuncOp> function = findTrainStep(module, name, who);
  if (failed(function))
    return failure();
  FailureOr<TrainingRoles> roles = findTrainingRoles(*function);
  if (failed(roles))
    return failure();
  annotateState(*function, roles->state);
  return TrainStep{*function, std::move(*roles)};
}

/// The result of the op that says it is the seed.
static FailureOr<Value> findPinnedSeed(func::FuncOp function) {
  Value pinned;
  for (Operation &op : function.getBody().front()) {
    auto role = op.getAttrOfType<StringAttr>(kRoleAttrName);
    if (!role || role.getValue() != kRoleSeed)
      continue;
    if (op.getNumResults() != 1 || !getFloatFormat(op.getResult(0).getType()))
      return op.emitError("is called the seed, but has ")
             << op.getNumResults() << " results, expected one of floats";
    if (pinned) {
      InFlightDiagnostic diag = op.emitError("is called the seed, but there is one already");
      diag.attachNote(pinned.getLoc()) << "this";
      return diag;
    }
    pinned = op.getResult(0);
  }
  return pinned;
}

namespace {
/// Divides what the seed scales into backward pass and optimizer. A scaled value belongs
/// to the optimizer ("after the gradient") if only the optimizer uses it and it is none
/// of the sums the backward pass ends in; gradients are what the optimizer takes from
/// elsewhere.
class GradientFinder {
public:
  GradientFinder(func::FuncOp function, Value seed, const HomogeneityGraph::Degrees &degrees)
      : block(function.getBody().front()), seed(seed), degrees(degrees) {}

  FailureOr<SmallVector<Gradient>> find() {
    for (Operation &op : llvm::reverse(block))
      for (Value result : op.getResults())
        if (degrees.of(result).isScaled() && !endsBackward(result) && onlyOptimizerUses(result))
          afterGradient.insert(result);
    SmallVector<Gradient> gradients;
    for (Operation &op : block)
      for (Value result : op.getResults()) {
        if (!degrees.of(result).isScaled() || afterGradient.contains(result))
          continue;
        Gradient gradient{result, {}};
        for (OpOperand &use : result.getUses())
          if (takes(block.findAncestorOpInBlock(*use.getOwner())) == Takes::Optimizer)
            gradient.uses.push_back(&use);
        if (gradient.uses.empty())
          continue;
        if (!degrees.of(result).is(1))
          return gradient.uses.front()->getOwner()->emitError(
                     "takes a value of degree ")
                 << degrees.of(result).str()
                 << " in the gradient from the backward pass, expected a gradient (degree 1): "
                    "write 'mp.role = \"seed\"' on the op that begins the backward pass";
        gradients.push_back(std::move(gradient));
      }
    return gradients;
  }

private:
  enum class Takes { Optimizer, Backward, Either };

  /// Which side an op is on that uses a scaled value.
  Takes takes(Operation *op) const {
    if (op->hasTrait<OpTrait::IsTerminator>() || degrees.loses(op))
      return Takes::Optimizer;
    bool anyScaled = false;
    for (Value result : op->getResults()) {
      if (!degrees.of(result).isScaled())
        continue;
      anyScaled = true;
      if (!afterGradient.contains(result))
        return Takes::Backward;
    }
    // A comparison with zero does not care for the scale.
    return anyScaled ? Takes::Optimizer : Takes::Either;
  }

  bool onlyOptimizerUses(Value value) const {
    bool any = false;
    for (Operation *user : value.getUsers()) {
      Takes side = takes(block.findAncestorOpInBlock(*user));
      if (side == Takes::Backward)
        return false;
      any |= side == Takes::Optimizer;
    }
    return any;
  }

  /// A contraction, a reduction, an accumulation of gradients, or the seed itself.
  bool endsBackward(Value value) const {
    if (!degrees.of(value).is(1))
      return false;
    Operation *op = value.getDefiningOp();
    OpClass opClass = getOpClass(op);
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (value == seed || opClass == OpClass::TensorCore || opClass == OpClass::Accumulate ||
        (op->getNumRegions() && !structured) ||
        (structured && structured.getNumReductionLoops() > 0))
      return true;
    return llvm::count_if(op->getOperands(),
                          [&](Value v) { return degrees.of(v).is(1); }) > 1;
  }

  Block &block;
  Value seed;
  const HomogeneityGraph::Degrees &degrees;
  llvm::DenseSet<Value> afterGradient;
};
} // namespace

/// Floats that the forward pass reads and that are replaced must move with the gradient, unless
/// somebody says they are a statistic; keys of random numbers and counters need not.
static LogicalResult checkReached(func::FuncOp function, ArrayRef<TrainingState> state, Value seed) {
  for (const TrainingState &s : state) {
    if (!s.aboveSeed || s.role != kRoleStatistic ||
        function.getArgAttr(s.argument, kRoleAttrName) ||
        !getFloatFormat(function.getArgument(s.argument).getType()))
      continue;
    InFlightDiagnostic diag =
        function.emitError("argument #")
        << s.argument << " is read by the forward pass and replaced by result #" << s.result
        << ", but the gradient seed that was found does not reach it: write 'mp.role = \"seed\"' "
           "on the op that begins the backward pass, or 'mp.role = \"statistic\"' on the argument "
           "if it is none that is trained";
    diag.attachNote(seed.getLoc()) << "the seed found";
    return diag;
  }
  return success();
}

FailureOr<TrainingRoles> mlir::mp::findTrainingRoles(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("has ") << function.getBody().getBlocks().size()
                                      << " blocks, expected one: train steps with branches "
                                         "(cf) are not read; use scf";
  HomogeneityGraph graph(function);
  FailureOr<Value> seed = findPinnedSeed(function);
  if (failed(seed))
    return failure();
  if (!*seed)
    seed = graph.findSeed();
  if (!*seed)
    return function.emitError("has no gradient seed: no value scales any of its ")
           << graph.numContractions()
           << " contractions without a contraction beyond the gradients; write 'mp.role = "
              "\"seed\"' on the op that begins the backward pass";
  HomogeneityGraph::Degrees degrees = graph.propagate(*seed);
  if (Operation *lost = degrees.lostContraction()) {
    InFlightDiagnostic diag = lost->emitError("does not scale with the seed: the backward pass "
                                              "must be linear in it up to here");
    diag.attachNote(seed->getLoc()) << "called the seed here";
    return diag;
  }
  TrainingRoles roles;
  roles.seed = *seed;
  roles.contractions = graph.numContractions();
  roles.scaledContractions = degrees.scaledContractions();
  FailureOr<SmallVector<Gradient>> gradients = GradientFinder(function, *seed, degrees).find();
  if (failed(gradients))
    return failure();
  roles.gradients = std::move(*gradients);
  FailureOr<SmallVector<TrainingState>> state = findTrainingState(function, degrees, *seed);
  if (failed(state) || failed(checkReached(function, *state, *seed)))
    return failure();
  roles.state = std::move(*state);
  return roles;
}
