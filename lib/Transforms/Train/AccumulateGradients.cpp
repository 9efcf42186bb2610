// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-accumulate-gradients: update after several micro-batches, by the mean of their
// gradients (changes rounding).

#include "../Common/AppendedState.h"
#include "../Common/RandomDraws.h"
#include "../Common/ScalarSelect.h"
#include "../Common/TensorCode.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Transforms/Train/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_ACCUMULATEGRADIENTS
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static Value zeroOf(OpBuilder &builder, Location loc, RankedTensorType type) {
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
}
static Value zeroLike(OpBuilder &builder, Value x) {
  return zeroOf(builder, x.getLoc(), cast<RankedTensorType>(x.getType()));
}

namespace {
/// A gradient that is summed up.
struct Summand {
  Value gradient;
  /// By the optimizer, or by the check before it.
  SmallVector<OpOperand *> uses;
  /// The sum after the check has unscaled it; null if no loss is scaled.
  Value unscaled;
};

/// The parts of the step that are summed, and those that move with the last micro-batch.
struct SummedStep {
  func::FuncOp function;
  SmallVector<Summand> summands;
  SmallVector<TrainingState> state;
};

struct AccumulateGradients : mlir::mp::impl::AccumulateGradientsBase<AccumulateGradients> {
  using AccumulateGradientsBase::AccumulateGradientsBase;

  /// A step whose loss is scaled sums what comes to its check, so that one check and one
  /// multiplication serve all micro-batches.
  static FailureOr<SummedStep> readScaled(func::FuncOp step, UnscaleOp unscale) {
    SummedStep result{step, {}, {}};
    for (auto [operand, unscaled] : llvm::zip(unscale.getGradientsMutable(), unscale.getUnscaled()))
      result.summands.push_back({operand.get(), {&operand}, unscaled});
    SmallVector<Value> seeds;
    step.walk([&](ScaleLossOp op) { seeds.push_back(op.getResult()); });
    if (seeds.empty())
      return unscale.emitError(
          "takes a scale out that nothing has put in, expected mp.scale_loss before it");
    HomogeneityGraph graph(step);
    auto state = findTrainingState(step, graph.propagate(seeds), seeds);
    if (failed(state))
      return failure();
    result.state = std::move(*state);
    return result;
  }

  FailureOr<SummedStep> read() {
    FailureOr<func::FuncOp> named =
        findTrainStep(getOperation(), function, "mp-accumulate-gradients");
    if (failed(named))
      return failure();
    for (unsigned i = 0, e = named->getNumArguments(); i != e; ++i)
      if (auto role = named->getArgAttrOfType<StringAttr>(i, kRoleAttrName);
          role && role.getValue() == kRoleGradientSum)
        return named->emitError("argument #")
               << i << " is a sum of gradients already, expected a step of one batch";
    SmallVector<UnscaleOp, 1> unscales;
    named->walk([&](UnscaleOp op) { unscales.push_back(op); });
    if (unscales.size() > 1)
      return unscales[1].emitError("is one of ")
             << unscales.size() << " optimizers', expected one to sum up gradients for";
    if (!unscales.empty())
      return readScaled(*named, unscales.front());
    FailureOr<TrainStep> found =
        annotateTrainStep(getOperation(), function, "mp-accumulate-gradients");
    if (failed(found) ||
        failed(expectOnePhase(found->function, found->roles, "sum up gradients for")))
      return failure();
    SummedStep result{found->function, {}, std::move(found->roles.state)};
    for (Gradient &gradient : found->roles.gradients)
      if (!found->roles.isSeed(gradient.value))
        result.summands.push_back({gradient.value, std::move(gradient.uses), Value()});
    if (result.summands.empty())
      return result.function.emitError("has a seed, but no gradient that the optimizer takes over");
    return result;
  }

  /// Adds the gradient, in f32, to what earlier micro-batches left; the optimizer sees the mean, in
  /// the gradient's format.
  FailureOr<Value> sum(Summand &summand, func::FuncOp step, AppendedState &appended) {
    auto type = dyn_cast<RankedTensorType>(summand.gradient.getType());
    FloatType format = type ? getFloatFormat(type) : FloatType();
    if (!format || !type.hasStaticShape() || format.getWidth() > 32)
      return step.emitError("has a gradient of ")
             << summand.gradient.getType()
             << ", expected f32 or narrower, of static shape, to sum up";
    OpBuilder initial = appended.initBuilder(), builder(&getContext());
    Location loc = summand.gradient.getLoc();
    auto wide = cast<RankedTensorType>(withFormat(type, cast<FloatType>(builder.getF32Type())));
    Value before = appended.add(zeroOf(initial, loc, wide), kRoleGradientSum);
    builder.setInsertionPointAfterValue(summand.gradient);
    Value gradient = summand.gradient;
    if (!format.isF32())
      gradient = CastOp::create(builder, loc, wide, gradient, Value(), RoundingAttr(),
                                OverflowAttr(), UnitAttr());
    Value total = arith::AddFOp::create(builder, loc, before, gradient);
    Value whole = summand.unscaled ? summand.unscaled : total;
    whole.setType(wide);
    builder.setInsertionPointAfterValue(whole);
    Value mean = buildElementwise(builder, loc, whole, builder.getF32Type(),
                                  [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                                    Value count = scalar(b, at, b.getF32FloatAttr(steps));
                                    return arith::DivFOp::create(b, at, x[0], count);
                                  });
    Value seen = format.isF32() ? mean : roundTo(builder, mean, format);
    if (summand.unscaled)
      whole.replaceAllUsesExcept(seen, mean.getDefiningOp());
    for (OpOperand *use : summand.uses)
      use->set(summand.unscaled ? total : seen);
    return total;
  }

  /// The new value of an argument; if a guard may keep it, the value given to the guard.
  struct Update {
    OpOperand *updated;
    Value old;
  };
  static Update updateOf(func::FuncOp step, const TrainingState &s) {
    OpOperand &returned = step.getBody().front().getTerminator()->getOpOperand(s.result);
    Value value = returned.get();
    if (auto number = value.getDefiningOp<tensor::ExtractOp>())
      value = number.getTensor();
    auto guard = value.getDefiningOp<GuardedUpdateOp>();
    if (!guard)
      return {&returned, step.getArgument(s.argument)};
    unsigned index = cast<OpResult>(value).getResultNumber();
    return {&guard.getUpdatedMutable()[index], guard.getOld()[index]};
  }

  /// State that the forward pass reads or makes moves with every micro-batch (running statistics,
  /// keys of random numbers); the rest with the last one.
  static bool movesAlways(Value next, const TrainingState &s) {
    return s.role == kRoleStatistic && (s.aboveSeed || dependsOnContraction(next));
  }

  LogicalResult insert() {
    if (steps < 2)
      return emitError(UnknownLoc::get(&getContext()))
             << "mp-accumulate-gradients: option 'steps' is " << steps.getValue()
             << ", expected at least 2";
    FailureOr<SummedStep> found = read();
    if (failed(found))
      return failure();
    func::FuncOp step = found->function;
    AppendedState appended(step);
    OpBuilder atStart = OpBuilder::atBlockBegin(&step.getBody().front());
    Location loc = step.getLoc();
    Value count = appended.add(atStart.getI32IntegerAttr(0), kRoleMicroSteps);
    Value next = arith::AddIOp::create(atStart, loc, count,
                                       scalarTensor(atStart, loc, atStart.getI32IntegerAttr(1)));
    Value isLast =
        arith::CmpIOp::create(atStart, loc, arith::CmpIPredicate::eq, next,
                              scalarTensor(atStart, loc, atStart.getI32IntegerAttr(steps)));
    SmallVector<Value> sums;
    for (Summand &summand : found->summands) {
      FailureOr<Value> total = sum(summand, step, appended);
      if (failed(total))
        return failure();
      sums.push_back(*total);
    }
    for (const TrainingState &s : found->state) {
      Update update = updateOf(step, s);
      if (movesAlways(update.updated->get(), s))
        continue;
      OpBuilder builder(update.updated->getOwner());
      update.updated->set(buildScalarSelect(builder, {isLast, update.updated->get(), update.old}));
    }
    OpBuilder builder(step.getBody().front().getTerminator());
    SmallVector<Value> nextValues{
        buildScalarSelect(builder, {isLast, zeroLike(builder, next), next})};
    for (Value total : sums)
      nextValues.push_back(buildScalarSelect(builder, {isLast, zeroLike(builder, total), total}));
    appended.finish(nextValues);
    sortTopologically(&step.getBody().front());
    return success();
  }

  void runOnOperation() override {
    if (failed(insert()))
      signalPassFailure();
  }
};
} // namespace
