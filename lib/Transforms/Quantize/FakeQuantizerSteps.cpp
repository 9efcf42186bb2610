// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives tensors their steps and zero points: observed, learned, or arguments.

#include "../Common/TensorCode.h"
#include "FakeQuantizer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::mp;

/// The largest magnitude of a tensor for each step, with a sign only on that side of 0.
Value FakeQuantizer::largest(OpBuilder &builder, const Tensor &tensor, std::optional<double> sign) {
  Location loc = tensor.value.getLoc();
  Value values = tensor.value;
  if (sign)
    values = buildElementwise(builder, loc, values, builder.getF32Type(),
                              [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                                Value zero = scalar(b, at, b.getF32FloatAttr(0));
                                Value turned =
                                    *sign > 0 ? x[0] : arith::NegFOp::create(b, at, x[0]);
                                return arith::MaximumFOp::create(b, at, turned, zero);
                              });
  auto type = RankedTensorType::get(tensor.stepShape, builder.getF32Type());
  return AmaxOp::create(builder, loc, type, values, UnitAttr(), UnitAttr());
}

/// The step with which nothing is clamped now, and of a tensor with a zero point how far it reaches
/// below 0.
Value FakeQuantizer::observe(OpBuilder &builder, const Tensor &tensor, Value &below) {
  MLIRContext *context = builder.getContext();
  auto type = RankedTensorType::get(tensor.stepShape, builder.getF32Type());
  const CodeRange range = *getCodeRange(tensor.format, tensor.isAffine);
  Location loc = tensor.value.getLoc();
  Value extent;
  if (tensor.isAffine) {
    below = largest(builder, tensor, -1.0);
    extent = arith::AddFOp::create(builder, loc, below, largest(builder, tensor, 1.0));
  } else {
    extent = largest(builder, tensor);
  }
  numerics::ScaleRule rule{.form = numerics::ScaleForm::Decode,
                           .onZero = numerics::OnZero::One,
                           .onNonFinite = numerics::OnNonFinite::One,
                           .largest = float(tensor.isAffine ? range.hi - range.lo : range.hi)};
  return ComputeScaleOp::create(builder, loc, type, type, extent, Value(), Value(),
                                TypeAttr::get(builder.getI8Type()), scalingAttrOf(context, rule),
                                UnitAttr())
      .getScale();
}

/// Steps of weights follow from them; others are arguments, and in a train step state.
void FakeQuantizer::makeStep(Tensor &tensor) {
  OpBuilder builder(function.getContext());
  if (isa<BlockArgument>(tensor.value))
    builder.setInsertionPointToStart(&function.getBody().front());
  else
    builder.setInsertionPointAfterValue(tensor.value);
  Value none;
  if (tensor.isWeight && !settings.learned) {
    tensor.step = observe(builder, tensor, none);
    return;
  }
  if (roles) {
    makeStateStep(tensor, builder);
  } else {
    auto append = [&](StringRef name) {
      auto type = RankedTensorType::get(tensor.stepShape, builder.getF32Type());
      unsigned index = function.getNumArguments();
      (void)function.insertArgument(index, type, {}, NameLoc::get(builder.getStringAttr(name)));
      return function.getArgument(index);
    };
    tensor.step = append("step");
    if (tensor.isAffine)
      tensor.below = append("below");
  }
  if (tensor.isAffine)
    tensor.zero = makeZero(builder, tensor);
}

/// zero = lo + below / step, to the nearest integer within the range.
Value FakeQuantizer::makeZero(OpBuilder &builder, const Tensor &tensor) {
  const CodeRange range = *getCodeRange(tensor.format, /*affine=*/true);
  return buildElementwise(
      builder, tensor.value.getLoc(), {tensor.below, tensor.step}, builder.getF32Type(),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value lo = scalar(b, loc, b.getF32FloatAttr(float(range.lo)));
        Value hi = scalar(b, loc, b.getF32FloatAttr(float(range.hi)));
        Value steps = arith::DivFOp::create(b, loc, x[0], x[1]);
        Value zero = arith::AddFOp::create(b, loc, lo, math::RoundEvenOp::create(b, loc, steps));
        zero = arith::MaxNumFOp::create(b, loc, zero, lo); // an integer whatever was observed
        return arith::MinNumFOp::create(b, loc, zero, hi);
      });
}

/// step = what is observed, from a state of 0 on; else the state, or its moving average.
void FakeQuantizer::makeStateStep(Tensor &tensor, OpBuilder &builder) {
  auto type = RankedTensorType::get(tensor.stepShape, builder.getF32Type());
  tensor.state = appended.add(DenseElementsAttr::get(type, 0.0f),
                              tensor.isLearned ? kRoleParameter : kRoleStatistic);
  Value below, now = observe(builder, tensor, below);
  if (tensor.isWeight && !tensor.isLearned) { // its steps are an argument of the forward function
    tensor.step = now;
    return;
  }
  tensor.step = follow(builder, tensor, tensor.state, now, tensor.isLearned);
  if (tensor.isAffine) {
    Value before = appended.add(DenseElementsAttr::get(type, 0.0f), kRoleStatistic);
    tensor.below = follow(builder, tensor, before, below, /*isLearned=*/false);
  }
}

Value FakeQuantizer::follow(OpBuilder &builder, const Tensor &tensor, Value state, Value now,
                            bool isLearned) {
  return buildElementwise(
      builder, tensor.value.getLoc(), {state, now}, builder.getF32Type(),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value zero = scalar(b, loc, b.getF32FloatAttr(0));
        Value isFirst = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x[0], zero);
        Value kept = x[0];
        if (!isLearned) {
          Value rate = scalar(b, loc, b.getF32FloatAttr(float(settings.momentum)));
          Value difference = arith::SubFOp::create(b, loc, x[1], x[0]);
          kept =
              arith::AddFOp::create(b, loc, x[0], arith::MulFOp::create(b, loc, rate, difference));
        }
        return arith::SelectOp::create(b, loc, isFirst, x[1], kept);
      });
}
