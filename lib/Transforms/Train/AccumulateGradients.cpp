// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Common/AppendedState.h"
#include "../Common/TensorCode.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/TrainingRoles.h"
#include "mp/Transforms/Train/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_ACCUMULATEGRADIENTS
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static Value chosen(OpBuilder &builder, Value condition, Value yes, Value no) {
  if (!isa<ShapedType>(yes.getType())) {
    Value flag = tensor::ExtractOp::create(builder, yes.getLoc(), condition, ValueRange());
    return arith::SelectOp::create(builder, yes.getLoc(), flag, yes, no);
  }
  return buildElementwise(builder, yes.getLoc(), {yes, no, condition},
                          getElementTypeOrSelf(yes.getType()),
                          [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                            return arith::SelectOp::create(b, loc, x[2], x[0], x[1]);
                          });
}

static Value zeroLike(OpBuilder &builder, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  return arith::ConstantOp::create(
      builder, x.getLoc(), DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
}

namespace {
struct AccumulateGradients : mlir::mp::impl::AccumulateGradientsBase<AccumulateGradients> {
  using AccumulateGradientsBase::AccumulateGradientsBase;

  /// The gradients summed so far, this step's included, over the number of micro-batches.
  LogicalResult sum(func::FuncOp step, const TrainingRoles &roles, AppendedState &appended) {
    for (const Gradient &gradient : roles.gradients) {
      if (roles.isSeed(gradient.value))
        continue;
      auto type = dyn_cast<RankedTensorType>(gradient.value.getType());
      if (!type || !type.hasStaticShape() || !type.getElementType().isF32())
        return step.emitError("has a gradient of ")
               << gradient.value.getType() << ", expected f32 of static shape to sum up";
      OpBuilder initial = appended.initBuilder();
      Value before = appended.add(zeroLike(initial, gradient.value), kRoleGradientSum);
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfterValue(gradient.value);
      Value total =
          arith::AddFOp::create(builder, gradient.value.getLoc(), before, gradient.value);
      Value mean = buildElementwise(builder, total.getLoc(), total, builder.getF32Type(),
                                    [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                                      Value count = scalar(b, loc, b.getF32FloatAttr(steps));
                                      return arith::DivFOp::create(b, loc, x[0], count);
                                    });
      for (OpOperand *use : gradient.uses)
        use->set(mean);
      sums.push_back(total);
    }
    return success();
  }

  /// What the forward pass reads or makes moves with every micro-batch (running statistics, keys of
  /// random numbers); the rest with the last one.
  static bool movesAlways(func::FuncOp step, const TrainingState &s) {
    Operation *terminator = step.getBody().front().getTerminator();
    return s.role == kRoleStatistic &&
           (s.aboveSeed || dependsOnContraction(terminator->getOperand(s.result)));
  }

  LogicalResult insert() {
    if (steps < 2)
      return emitError(UnknownLoc::get(&getContext()))
             << "mp-accumulate-gradients: option 'steps' is " << steps.getValue() << ", expected at least 2";
    FailureOr<TrainStep> found = annotateTrainStep(getOperation(), function, "mp-accumulate-gradients");
    if (failed(found))
      return failure();
    auto &[step, roles] = *found;
    AppendedState appended(step);
    OpBuilder atStart = OpBuilder::atBlockBegin(&step.getBody().front());
    Location loc = step.getLoc();
    Value count = appended.add(atStart.getI32IntegerAttr(0), kRoleMicroSteps);
    Value next = arith::AddIOp::create(atStart, loc, count,
                                       scalarTensor(atStart, loc, atStart.getI32IntegerAttr(1)));
    Value isLast = arith::CmpIOp::create(
        atStart, loc, arith::CmpIPredicate::eq, next,
        scalarTensor(atStart, loc, atStart.getI32IntegerAttr(steps)));
    if (failed(sum(step, roles, appended)))
      return failure();
    if (sums.empty())
      return step.emitError("has a seed, but no gradient that the optimizer takes over");

    Operation *terminator = step.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    for (const TrainingState &s : roles.state)
      if (!movesAlways(step, s))
        terminator->setOperand(s.result, chosen(builder, isLast, terminator->getOperand(s.result),
                                                step.getArgument(s.argument)));
    SmallVector<Value> nextValues{chosen(builder, isLast, zeroLike(builder, next), next)};
    for (Value total : sums)
      nextValues.push_back(chosen(builder, isLast, zeroLike(builder, total), total));
    appended.finish(nextValues);
    sortTopologically(&step.getBody().front());
    return success();
  }

  void runOnOperation() override {
    if (failed(insert()))
      signalPassFailure();
  }

  SmallVector<Value> sums;
};
} // namespace
