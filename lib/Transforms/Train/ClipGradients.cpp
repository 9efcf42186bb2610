// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-clip-gradients: limit the gradients of a train step, by value or by their norm
// (changes range).

#include "../Common/AppendedState.h"
#include "../Common/TensorCode.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Transforms/Train/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CLIPGRADIENTS
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Frameworks add this to the norm, so that a norm of zero divides.
static constexpr double kNormEpsilon = 1e-6;

static Value f32Constant(OpBuilder &b, Location loc, double value) {
  return scalar(b, loc, b.getF32FloatAttr(value));
}

/// min(max(x, -limit), limit); NaN stays NaN.
static Value clipValue(OpBuilder &builder, Value gradient, double limit) {
  return buildElementwise(
      builder, gradient.getLoc(), gradient, builder.getF32Type(),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value above = arith::MaximumFOp::create(b, loc, x[0], f32Constant(b, loc, -limit));
        return arith::MinimumFOp::create(b, loc, above, f32Constant(b, loc, limit));
      });
}

/// The Euclidean norm over all gradients.
static Value normOf(OpBuilder &builder, Location loc, ValueRange gradients) {
  Value sum;
  for (Value gradient : gradients) {
    int64_t rank = cast<RankedTensorType>(gradient.getType()).getRank();
    Value squares = buildReduction(
        builder, gradient.getLoc(), gradient, llvm::to_vector(llvm::seq<int64_t>(rank)),
        builder.getF32FloatAttr(0), [](OpBuilder &b, Location at, ValueRange x) -> Value {
          Value square = arith::MulFOp::create(b, at, x[0], x[0]);
          return arith::AddFOp::create(b, at, x[1], square);
        });
    sum = sum ? arith::AddFOp::create(builder, loc, sum, squares) : squares;
  }
  return math::SqrtOp::create(builder, loc, sum);
}

/// min(limit / (norm + epsilon), 1)
static Value coefficientOf(OpBuilder &builder, Value norm, double limit) {
  return buildElementwise(
      builder, norm.getLoc(), norm, builder.getF32Type(),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value length = arith::AddFOp::create(b, loc, x[0], f32Constant(b, loc, kNormEpsilon));
        Value ratio = arith::DivFOp::create(b, loc, f32Constant(b, loc, limit), length);
        return arith::MinimumFOp::create(b, loc, ratio, f32Constant(b, loc, 1));
      });
}

static Value times(OpBuilder &builder, Value gradient, Value coefficient) {
  return buildElementwise(builder, gradient.getLoc(), {gradient, coefficient}, builder.getF32Type(),
                          [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                            return arith::MulFOp::create(b, loc, x[0], x[1]);
                          });
}

namespace {
struct ClipGradients : mlir::mp::impl::ClipGradientsBase<ClipGradients> {
  using ClipGradientsBase::ClipGradientsBase;

  LogicalResult clip() {
    for (auto [name, limit] : {std::pair("norm", norm.getValue()), {"value", value.getValue()}})
      if (!(limit >= 0))
        return emitError(UnknownLoc::get(&getContext()))
               << "mp-clip-gradients: option '" << name << "' is " << limit
               << ", expected a positive limit, or 0 for none";
    FailureOr<TrainStep> found = annotateTrainStep(getOperation(), function, "mp-clip-gradients");
    if (failed(found))
      return failure();
    auto &[step, roles] = *found;
    if (failed(expectOnePhase(step, roles, "clip gradients of")))
      return failure();
    SmallVector<const Gradient *> gradients;
    SmallVector<Value> values;
    for (const Gradient &gradient : roles.gradients) {
      if (roles.isSeed(gradient.value))
        continue;
      FloatType format = getFloatFormat(gradient.value.getType());
      if (!format.isF32())
        return step.emitError("has a gradient of ")
               << gradient.value.getType() << ", expected f32: clip before precision is assigned";
      gradients.push_back(&gradient);
      values.push_back(gradient.value);
    }
    if (gradients.empty())
      return step.emitError("has a seed, but no gradient that the optimizer takes over");

    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(values.back());
    Value length = normOf(builder, step.getLoc(), values);
    if (value > 0)
      for (Value &gradient : values)
        gradient = clipValue(builder, gradient, value);
    if (norm > 0) {
      // If both are asked for, the norm is that of the clipped values.
      Value clippedLength = value > 0 ? normOf(builder, step.getLoc(), values) : length;
      Value coefficient = coefficientOf(builder, clippedLength, norm);
      for (Value &gradient : values)
        gradient = times(builder, gradient, coefficient);
    }
    for (auto [gradient, clipped] : llvm::zip_equal(gradients, values))
      for (OpOperand *use : gradient->uses)
        use->set(clipped);

    AppendedState appended(step);
    appended.add(builder.getF32FloatAttr(0), kRoleGradientNorm);
    appended.finish(length);
    sortTopologically(&step.getBody().front());
    return success();
  }

  void runOnOperation() override {
    if (failed(clip()))
      signalPassFailure();
  }
};
} // namespace
