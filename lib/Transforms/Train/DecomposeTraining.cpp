// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of loss scaling, one definition for every device. Its rules are
// those of docs/guides/Training.md, its order of operations is exact.

#include "DecomposeTraining.h"
#include "../Common/TensorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Transforms/Train/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DECOMPOSETRAINING
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static FloatAttr infinity(Type type) {
  return FloatAttr::get(type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics()));
}

static Value expand(OpBuilder &builder, ScaleLossOp op) {
  return buildElementwise(builder, op.getLoc(), op.getOperands(), builder.getF32Type(),
                          [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                            return arith::MulFOp::create(b, loc, x[0], x[1]);
                          });
}

/// True in a rank-0 tensor if any element is infinite or NaN.
static Value anyNonFinite(OpBuilder &builder, Location loc, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  return buildReduction(
      builder, loc, x, llvm::to_vector(llvm::seq<int64_t>(type.getRank())),
      builder.getBoolAttr(false), [](OpBuilder &b, Location at, ValueRange element) -> Value {
        Value wide = widen(b, at, element[0], b.getF32Type());
        Value magnitude = math::AbsFOp::create(b, at, wide);
        Value limit = scalar(b, at, infinity(b.getF32Type()));
        // Unordered, or equal.
        Value bad = arith::CmpFOp::create(b, at, arith::CmpFPredicate::UEQ, magnitude, limit);
        return arith::OrIOp::create(b, at, bad, element[1]);
      });
}

static SmallVector<Value> expand(OpBuilder &builder, UnscaleOp op) {
  Location loc = op.getLoc();
  Type f32 = builder.getF32Type(), f64 = builder.getF64Type();
  Value inverse = buildElementwise(
      builder, loc, op.getScale(), f32, [&](OpBuilder &b, Location at, ValueRange s) -> Value {
        Value one = scalar(b, at, b.getF64FloatAttr(1)),
              wide = arith::ExtFOp::create(b, at, f64, s[0]);
        return arith::TruncFOp::create(b, at, f32, arith::DivFOp::create(b, at, one, wide));
      });
  SmallVector<Value> results;
  Value foundInf;
  for (Value gradient : op.getGradients()) {
    Type format = getFloatFormat(gradient.getType());
    results.push_back(buildElementwise(builder, loc, {gradient, inverse}, format,
                                       [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                                         Value product = arith::MulFOp::create(
                                             b, at, widen(b, at, x[0], f32), x[1]);
                                         return narrow(b, at, product, format, Overflow::IEEE);
                                       }));
    Value bad = anyNonFinite(builder, loc, gradient);
    foundInf = foundInf ? arith::OrIOp::create(builder, loc, foundInf, bad) : bad;
  }
  results.push_back(foundInf);
  return results;
}

static SmallVector<Value> expand(OpBuilder &builder, GuardedUpdateOp op) {
  SmallVector<Value> results;
  for (auto [old, updated] : llvm::zip_equal(op.getOld(), op.getUpdated()))
    results.push_back(buildElementwise(builder, op.getLoc(), {old, updated, op.getFoundInf()},
                                       getElementTypeOrSelf(old.getType()),
                                       [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                                         return arith::SelectOp::create(b, loc, x[2], x[0], x[1]);
                                       }));
  return results;
}

namespace {
/// Scalar code of `mp.update_loss_scale`.
struct ScaleUpdate {
  OpBuilder &b;
  Location loc;
  LossScaleAttr rule;

  Value integer(int64_t value) { return scalar(b, loc, b.getI32IntegerAttr(value)); }
  Value compare(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, predicate, x, integer(y));
  }
  Value plus(Value x, int64_t y) { return arith::AddIOp::create(b, loc, x, integer(y)); }
  Value choose(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value inverse(Value x) {
    return arith::XOrIOp::create(b, loc, x, scalar(b, loc, b.getBoolAttr(true)));
  }
  /// The product in f64, rounded once.
  Value times(Value scale, FloatAttr factor) {
    Value wide = arith::ExtFOp::create(b, loc, b.getF64Type(), scale);
    Value product = arith::MulFOp::create(
        b, loc, wide, scalar(b, loc, b.getF64FloatAttr(factor.getValueAsDouble())));
    return arith::TruncFOp::create(b, loc, b.getF32Type(), product);
  }
  Value bound(FloatAttr value) {
    return scalar(b, loc, b.getF32FloatAttr(value.getValueAsDouble()));
  }

  Value fallen(Value scale) {
    Value lower = times(scale, rule.getBackoff());
    return rule.getMin() ? arith::MaximumFOp::create(b, loc, lower, bound(rule.getMin())) : lower;
  }
  Value grown(Value scale) {
    Value higher = times(scale, rule.getGrowth());
    if (rule.getMax())
      higher = arith::MinimumFOp::create(b, loc, higher, bound(rule.getMax()));
    if (rule.getBeyond() == Beyond::Infinity)
      return higher;
    Value finite = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, higher,
                                         scalar(b, loc, infinity(b.getF32Type())));
    return choose(finite, higher, scale);
  }

  /// scale, clean steps, hysteresis count of the next step.
  std::array<Value, 3> next(Value scale, Value clean, Value tolerated, Value inf) {
    bool late = rule.getCounter() == GrowthCounter::Late;
    bool atLeast = rule.getCounter() == GrowthCounter::AtLeast;
    Value counted = plus(clean, 1);
    Value grows =
        both(inverse(inf), compare(atLeast ? arith::CmpIPredicate::sge : arith::CmpIPredicate::eq,
                                   late ? clean : counted, rule.getInterval()));
    Value left = tolerated ? plus(tolerated, -1) : Value();
    Value falls = tolerated ? both(inf, compare(arith::CmpIPredicate::sle, left, 0)) : inf;
    Value newScale = choose(falls, fallen(scale), choose(grows, grown(scale), scale));
    // The step that makes a late count grow is the first of the next interval.
    Value newClean = choose(inf, integer(0), choose(grows, integer(late ? 1 : 0), counted));
    Value newTolerated;
    if (tolerated) {
      if (late)
        left = arith::MaxSIOp::create(b, loc, left, integer(1));
      Value full = integer(rule.getHysteresis());
      Value afterClean =
          rule.getRefill() == Refill::OnClean ? full : choose(grows, full, tolerated);
      newTolerated = choose(inf, left, afterClean);
    }
    return {newScale, newClean, newTolerated};
  }
};
} // namespace

static SmallVector<Value> expand(OpBuilder &builder, UpdateLossScaleOp op) {
  SmallVector<Value> operands{op.getScale(), op.getClean()};
  if (op.getHysteresis())
    operands.push_back(op.getHysteresis());
  operands.push_back(op.getFoundInf());
  SmallVector<Value> results;
  // One small op per result: what they share is a handful of scalar instructions.
  for (unsigned i = 0; i != op.getNumResults(); ++i)
    results.push_back(buildElementwise(
        builder, op.getLoc(), operands, getElementTypeOrSelf(op.getResult(i).getType()),
        [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
          ScaleUpdate update{b, loc, op.getRule()};
          return update.next(x[0], x[1], op.getHysteresis() ? x[2] : Value(), x.back())[i];
        }));
  return results;
}

namespace {
struct DecomposeTraining : mlir::mp::impl::DecomposeTrainingBase<DecomposeTraining> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      OpBuilder builder(op);
      SmallVector<Value> results;
      if (auto scale = dyn_cast<ScaleLossOp>(op))
        results.push_back(expand(builder, scale));
      else if (auto unscale = dyn_cast<UnscaleOp>(op))
        results = expand(builder, unscale);
      else if (auto guard = dyn_cast<GuardedUpdateOp>(op))
        results = expand(builder, guard);
      else if (auto update = dyn_cast<UpdateLossScaleOp>(op))
        results = expand(builder, update);
      else if (auto split = dyn_cast<SplitMasterOp>(op))
        results = expand(builder, split);
      else if (auto join = dyn_cast<JoinMasterOp>(op))
        results.push_back(expand(builder, join));
      else if (auto probe = dyn_cast<ProbeOp>(op))
        results.push_back(expand(builder, probe));
      else if (auto select = dyn_cast<SelectVersionOp>(op))
        results.push_back(expand(builder, select));
      else
        return;
      op->replaceAllUsesWith(results);
      op->erase();
    });
  }
};
} // namespace
