// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the gradients: where the optimizer takes over.

#include "Gradients.h"
#include "StateReach.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Divides what the seeds scale into backward pass and optimizer. A scaled value belongs
/// to the optimizer ("after the gradient") if only the optimizer uses it and it is none
/// of the sums the backward pass ends in; gradients are what the optimizer takes from
/// elsewhere.
class GradientFinder {
public:
  GradientFinder(func::FuncOp function, ArrayRef<Value> seeds,
                 const HomogeneityGraph::Degrees &degrees,
                 ArrayRef<Operation *> contractionsOfGradients)
      : block(function.getBody().front()), seeds(seeds), degrees(degrees) {
    SmallVector<Value> contracted;
    for (Operation *op : contractionsOfGradients)
      llvm::append_range(contracted, op->getResults());
    ofOptimizer = forwardSlice(contracted);
  }

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
          return gradient.uses.front()->getOwner()->emitError("takes a value of degree ")
                 << degrees.of(result).str()
                 << " in the gradient from the backward pass, expected a gradient (degree 1): "
                    "write 'mp.role = \"seed\"' on the op that begins the backward pass";
        gradients.push_back(std::move(gradient));
      }
    return gradients;
  }

private:
  enum class Takes { Optimizer, Backward, Either };

  /// Returns the side of the step that an op which uses a scaled value is on.
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

  /// A contraction, a reduction, an accumulation of gradients, or a seed itself.
  bool endsBackward(Value value) const {
    if (!degrees.of(value).is(1) || ofOptimizer.contains(value))
      return false;
    Operation *op = value.getDefiningOp();
    OpClass opClass = getOpClass(op);
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (llvm::is_contained(seeds, value) || opClass == OpClass::TensorCore ||
        opClass == OpClass::Accumulate || (op->getNumRegions() && !structured) ||
        (structured && structured.getNumReductionLoops() > 0))
      return true;
    return llvm::count_if(op->getOperands(), [&](Value v) { return degrees.of(v).is(1); }) > 1;
  }

  Block &block;
  ArrayRef<Value> seeds;
  const HomogeneityGraph::Degrees &degrees;
  llvm::DenseSet<Value> ofOptimizer; ///< what it contracts gradients to, whatever their degree
  llvm::DenseSet<Value> afterGradient;
};
} // namespace

/// Contractions on what the optimizer makes of gradients, in bodies too.
static SmallVector<Operation *> contractionsBehind(func::FuncOp function,
                                                   ArrayRef<Gradient> gradients,
                                                   ArrayRef<Value> handedOver) {
  SmallVector<Value> taken;
  SmallVector<Operation *> contractions;
  for (const Gradient &gradient : gradients)
    for (OpOperand *use : gradient.uses)
      llvm::append_range(taken, use->getOwner()->getResults());
  llvm::DenseSet<Value> behind = forwardSlice(taken, handedOver);
  function.walk([&](Operation *op) {
    if (isContraction(op) &&
        llvm::any_of(op->getResults(), [&](Value v) { return behind.contains(v); }))
      contractions.push_back(op);
  });
  return contractions;
}

/// Assigns to each state the phases whose gradients move it, and to each gradient its phase; an
/// error where a gradient belongs to several.
static LogicalResult assignPhases(func::FuncOp function, TrainingRoles &roles) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<llvm::DenseSet<Value>> reached;
  for (ArrayRef<Value> seeds : roles.phases)
    reached.push_back(forwardSlice(seeds, roles.handedOver));
  for (TrainingState &s : roles.state)
    for (auto [phase, values] : llvm::enumerate(reached))
      if (values.contains(terminator->getOperand(s.result)))
        s.phases.push_back(phase);
  for (Gradient &gradient : roles.gradients) {
    SmallVector<unsigned> phases;
    for (auto [phase, values] : llvm::enumerate(reached))
      if (values.contains(gradient.value))
        phases.push_back(phase);
    if (phases.size() != 1)
      return gradient.value.getDefiningOp()->emitError("computes a gradient of ")
             << phases.size() << " optimizers, expected one";
    gradient.phase = phases.front();
  }
  return success();
}

LogicalResult mlir::mp::findGradients(func::FuncOp function, const HomogeneityGraph &graph,
                                      TrainingRoles &roles) {
  HomogeneityGraph::Degrees degrees = graph.propagate(
      roles.seeds, /*stopWhenLost=*/false, HomogeneityGraph::Beyond::None, roles.handedOver);
  SmallVector<Value> updated;
  for (const TrainingState &s : roles.state)
    updated.push_back(function.getBody().front().getTerminator()->getOperand(s.result));
  auto ofGradients = findContractionsOfGradients(function, degrees, updated);
  FailureOr<SmallVector<Gradient>> gradients =
      GradientFinder(function, roles.seeds, degrees, ofGradients.getArrayRef()).find();
  if (failed(gradients))
    return failure();
  roles.gradients = std::move(*gradients);
  for (Operation *op : contractionsBehind(function, roles.gradients, roles.handedOver))
    ofGradients.insert(op);
  roles.optimizerContractions.assign(ofGradients.begin(), ofGradients.end());
  if (failed(assignPhases(function, roles)))
    return failure();
  assignParameters(function, roles);
  return success();
}
