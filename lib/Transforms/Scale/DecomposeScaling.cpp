// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-decompose-scaling: every scaling op as what all devices run. The formulas are in
// ScaleCode.cpp, here is how they lie over tensors.

#include "DecomposeScaling.h"
#include "../Common/TensorCode.h"
#include "DecomposeFakeQuantize.h"
#include "ScaleCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Numerics/Scaling/Hadamard.h"
#include "mp/Transforms/Scale/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DECOMPOSESCALING
#include "mp/Transforms/Scale/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

AffineMap mlir::mp::scaleMap(RankedTensorType scale, RankedTensorType data) {
  MLIRContext *context = data.getContext();
  SmallVector<AffineExpr> results;
  for (unsigned i = 0, rank = scale.getRank(); i != rank; ++i) {
    AffineExpr place = getAffineDimExpr(i, context);
    int64_t scales = scale.getDimSize(i), size = data.getDimSize(i);
    if (scales == size)
      results.push_back(place);
    else if (scales == 1)
      results.push_back(getAffineConstantExpr(0, context));
    else
      results.push_back(place.floorDiv(size / scales));
  }
  return AffineMap::get(data.getRank(), 0, results, context);
}

/// Elementwise over `data`; `scales` follow it as operands, `others` have its shape.
static Value buildScaled(OpBuilder &builder, Location loc, Value data, ValueRange scales,
                         ValueRange others, Type element, ScalarCode code) {
  SmallVector<Value> operands{data};
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(tensorOf(data).getRank())};
  for (Value scale : scales) {
    operands.push_back(scale);
    maps.push_back(scaleMap(tensorOf(scale), tensorOf(data)));
  }
  for (Value other : others) {
    operands.push_back(other);
    maps.push_back(maps.front());
  }
  return buildElementwise(builder, loc, operands, maps, data, element, code);
}

/// Splits each dimension that holds several blocks in two; `axes` are then those within a block.
static Value splitBlocks(OpBuilder &builder, Location loc, Value x, RankedTensorType scale,
                         SmallVectorImpl<int64_t> &axes) {
  RankedTensorType type = tensorOf(x);
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i != type.getRank(); ++i) {
    int64_t size = type.getDimSize(i), scales = scale.getRank() ? scale.getDimSize(i) : 1;
    ReassociationIndices &group = groups.emplace_back();
    bool whole = scales == 1, each = scales == size && !whole;
    if (!whole) {
      group.push_back(shape.size());
      shape.push_back(scales);
    }
    if (!each) {
      group.push_back(shape.size());
      axes.push_back(shape.size());
      shape.push_back(whole ? size : size / scales);
    }
  }
  if (shape.size() == size_t(type.getRank()))
    return x;
  SmallVector<OpFoldResult> sizes;
  for (auto [i, group] : llvm::enumerate(groups))
    for (int64_t dim : group)
      sizes.push_back(ShapedType::isDynamic(shape[dim])
                          ? sizesOf(builder, loc, x)[i]
                          : OpFoldResult(builder.getIndexAttr(shape[dim])));
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), x, groups, sizes);
}

Value mlir::mp::reduceBlocks(OpBuilder &builder, Location loc, Value x, RankedTensorType result,
                             ScalarCode code) {
  SmallVector<int64_t> axes;
  Value blocks = splitBlocks(builder, loc, x, result, axes);
  Value reduced = buildReduction(builder, loc, blocks, axes, builder.getF32FloatAttr(0), code);
  if (reduced.getType() == result)
    return reduced;
  // Dimensions with one scale come back with size 1.
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
  ReassociationIndices leading;
  for (int64_t i = 0; i != result.getRank(); ++i) {
    bool present = result.getDimSize(i) != 1;
    if (!present && groups.empty())
      leading.push_back(i);
    else if (!present)
      groups.back().push_back(i);
    else {
      groups.push_back(leading);
      groups.back().push_back(i);
      leading.clear();
    }
    sizes.push_back(result.isDynamicDim(i)
                        ? sizesOf(builder, loc, x)[i]
                        : OpFoldResult(builder.getIndexAttr(result.getDimSize(i))));
  }
  return tensor::ExpandShapeOp::create(builder, loc, result, reduced, groups, sizes);
}

static Value expand(OpBuilder &builder, AmaxOp op) {
  return reduceBlocks(builder, op.getLoc(), op.getSource(), cast<RankedTensorType>(op.getType()),
                      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                        Value magnitude = math::AbsFOp::create(b, at, ScaleCode{b, at}.toF32(x[0]));
                        if (op.getPropagateNan())
                          return arith::MaximumFOp::create(b, at, magnitude, x[1]);
                        Value larger = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OGT,
                                                             magnitude, x[1]);
                        return arith::SelectOp::create(b, at, larger, magnitude, x[1]);
                      });
}

static SmallVector<Value> expand(OpBuilder &builder, ComputeScaleOp op) {
  SmallVector<Value> operands{op.getAmax()};
  if (op.getOld())
    operands.push_back(op.getOld());
  if (op.getParent())
    operands.push_back(op.getParent());
  auto format = cast<FloatType>(tensorOf(op.getScale()).getElementType());
  SmallVector<Value> results;
  // One small op per result: what they share is a handful of scalar instructions.
  for (bool second : {false, true})
    results.push_back(buildElementwise(
        builder, op.getLoc(), operands, second ? Type(format) : Type(builder.getF32Type()),
        [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
          auto [encode, scale] = ScaleCode{b, loc}.scale(op.getRule(), op.getFormat(), format, x[0],
                                                         op.getOld() ? x[1] : Value(),
                                                         op.getParent() ? x.back() : Value());
          return second ? scale : encode;
        }));
  return results;
}

static SmallVector<Value> expand(OpBuilder &builder, UpdateAmaxHistoryOp op) {
  Location loc = op.getLoc();
  Value history = op.getHistory();
  int64_t length = tensorOf(history).getDimSize(0);
  bool after = op.getOrder() == HistoryOrder::AfterCurrent;
  auto larger = [](OpBuilder &b, Location at, Value x, Value y) -> Value {
    return arith::MaxNumFOp::create(b, at, x, y);
  };
  auto index = [](OpBuilder &b, int64_t value) { return b.getIndexAttr(value); };
  auto slice = [&](int64_t from, int64_t count, bool keep) -> Value {
    auto type = RankedTensorType::get(keep ? ArrayRef<int64_t>(count) : ArrayRef<int64_t>(),
                                      builder.getF32Type());
    return tensor::ExtractSliceOp::create(
        builder, loc, type, history, ArrayRef<OpFoldResult>{index(builder, from)},
        ArrayRef<OpFoldResult>{index(builder, count)}, ArrayRef<OpFoldResult>{index(builder, 1)});
  };
  Value first = slice(0, 1, /*keep=*/false);
  Value entered = after
                      ? buildElementwise(builder, loc, {first, op.getAmax()}, builder.getF32Type(),
                                         [&](OpBuilder &b, Location at, ValueRange x) {
                                           return larger(b, at, x[0], x[1]);
                                         })
                      : first;
  Value effective = entered;
  if (op.getChoice() == HistoryChoice::Max) {
    Value all = buildReduction(
        builder, loc, history, {0}, builder.getF32FloatAttr(0),
        [&](OpBuilder &b, Location at, ValueRange x) { return larger(b, at, x[0], x[1]); });
    effective = buildElementwise(
        builder, loc, {entered, all}, builder.getF32Type(),
        [&](OpBuilder &b, Location at, ValueRange x) { return larger(b, at, x[0], x[1]); });
  }
  Value moved = history;
  if (length > 1)
    // Not into the history itself, which others may read; its last place is chosen from elsewhere.
    moved = tensor::InsertSliceOp::create(
        builder, loc, slice(1, length - 1, /*keep=*/true),
        tensor::EmptyOp::create(builder, loc, {length}, builder.getF32Type()),
        ArrayRef<OpFoldResult>{index(builder, 0)},
        ArrayRef<OpFoldResult>{index(builder, length - 1)},
        ArrayRef<OpFoldResult>{index(builder, 1)});
  Value next = buildElementwise(
      builder, loc, {moved, history, entered, op.getAmax()}, builder.getF32Type(),
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        ScaleCode code{b, at};
        Value place = linalg::IndexOp::create(b, at, 0);
        auto isAt = [&](int64_t i) -> Value {
          return arith::CmpIOp::create(b, at, arith::CmpIPredicate::eq, place,
                                       arith::ConstantIndexOp::create(b, at, i));
        };
        auto choose = [&](Value condition, Value yes, Value no) -> Value {
          return arith::SelectOp::create(b, at, condition, yes, no);
        };
        Value rolled =
            choose(isAt(0), after ? code.f32(0) : x[3], choose(isAt(length - 1), x[2], x[0]));
        if (!op.getKeepOnZero())
          return rolled;
        Value zero = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, x[3], code.f32(0));
        return choose(zero, choose(isAt(0), x[2], x[1]), rolled);
      });
  return {next, effective};
}

static Value expand(OpBuilder &builder, QuantizeOp op) {
  Type type = tensorOf(op.getResult()).getElementType();
  return buildScaled(builder, op.getLoc(), op.getSource(), op.getEnc(),
                     op.getBits() ? ValueRange(op.getBits()) : ValueRange(), type,
                     [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       ScaleCode code{b, loc};
                       Value scaled = arith::MulFOp::create(b, loc, code.toF32(x[0]), x[1]);
                       return code.encode(scaled, type, op.getRoundingAttr(), op.getOverflowAttr(),
                                          op.getBits() ? x[2] : Value());
                     });
}

static Value expand(OpBuilder &builder, DequantizeOp op) {
  Type type = tensorOf(op.getResult()).getElementType();
  return buildScaled(builder, op.getLoc(), op.getSource(), op.getScales(), {}, type,
                     [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       ScaleCode code{b, loc};
                       Value value = code.decode(x[0]);
                       for (Value scale : x.drop_front())
                         value = arith::MulFOp::create(b, loc, value, code.toF32(scale));
                       auto format = cast<FloatType>(type);
                       return format.getWidth() < 32 ? narrow(b, loc, value, type, Overflow::IEEE)
                                                     : widen(b, loc, value, type);
                     });
}

static SmallVector<Value> expand(OpBuilder &builder, BlockQuantizeOp op) {
  Location loc = op.getLoc();
  RankedTensorType scale = tensorOf(op.getScale());
  auto f32 = RankedTensorType::get(scale.getShape(), builder.getF32Type());
  auto amax = AmaxOp::create(builder, loc, f32, op.getSource());
  auto scales = ComputeScaleOp::create(builder, loc, f32, scale, amax, Value(), op.getParent(),
                                       tensorOf(op.getResult()).getElementType(), op.getRule());
  auto codes =
      QuantizeOp::create(builder, loc, op.getResult().getType(), op.getSource(), scales.getEnc(),
                         op.getBits(), op.getRoundingAttr(), Overflow::Saturate);
  return {codes, scales.getScale()};
}

/// `x` with dimension `axis` as three of sizes (rest, 2, half).
static Value splitPairs(OpBuilder &builder, Location loc, Value x, int64_t axis, int64_t half,
                        SmallVectorImpl<ReassociationIndices> &groups) {
  RankedTensorType type = tensorOf(x);
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes, old = sizesOf(builder, loc, x);
  for (int64_t i = 0; i != type.getRank(); ++i) {
    ReassociationIndices &group = groups.emplace_back();
    SmallVector<int64_t> parts{type.getDimSize(i)};
    if (i == axis)
      parts = {type.getDimSize(i) / (2 * half), 2, half};
    for (int64_t part : parts) {
      group.push_back(shape.size());
      shape.push_back(part);
      sizes.push_back(ShapedType::isDynamic(part) ? old[i]
                                                  : OpFoldResult(builder.getIndexAttr(part)));
    }
  }
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), x, groups, sizes);
}

/// Sums and differences of the values `half` apart.
static Value buildButterfly(OpBuilder &builder, Location loc, Value x, int64_t axis, int64_t half) {
  SmallVector<ReassociationIndices> groups;
  Value pairs = splitPairs(builder, loc, x, axis, half, groups);
  int64_t rank = tensorOf(pairs).getRank(), which = axis + 1;
  auto mapTo = [&](int64_t member) {
    SmallVector<AffineExpr> results;
    for (int64_t i = 0; i != rank; ++i)
      results.push_back(i == which ? builder.getAffineConstantExpr(member)
                                   : builder.getAffineDimExpr(i));
    return AffineMap::get(rank, 0, results, builder.getContext());
  };
  Value mixed = buildElementwise(
      builder, loc, {pairs, pairs}, {mapTo(0), mapTo(1)}, pairs, builder.getF32Type(),
      [&](OpBuilder &b, Location at, ValueRange v) -> Value {
        Value member = linalg::IndexOp::create(b, at, which);
        Value isFirst = arith::CmpIOp::create(b, at, arith::CmpIPredicate::eq, member,
                                              arith::ConstantIndexOp::create(b, at, 0));
        return arith::SelectOp::create(b, at, isFirst, arith::AddFOp::create(b, at, v[0], v[1]),
                                       arith::SubFOp::create(b, at, v[0], v[1]));
      });
  return tensor::CollapseShapeOp::create(builder, loc, x.getType(), mixed, groups);
}

static Value expand(OpBuilder &builder, HadamardOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = tensorOf(op.getSource());
  auto axis = int64_t(op.getAxis()), size = int64_t(op.getSigns().size());
  Type f32 = builder.getF32Type();
  SmallVector<float> signs;
  for (int64_t i = 0; i != type.getDimSize(axis); ++i)
    signs.push_back(op.getSigns()[i % size]);
  Value signTensor = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(RankedTensorType::get({type.getDimSize(axis)}, f32),
                             ArrayRef<float>(signs)));
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  AffineMap along = AffineMap::get(type.getRank(), 0, builder.getAffineDimExpr(axis));
  auto signedBy = [&](Value x, Type element, bool factor) {
    return buildElementwise(
        builder, loc, {x, signTensor}, {identity, along}, x, element,
        [&](OpBuilder &b, Location at, ValueRange v) -> Value {
          ScaleCode code{b, at};
          Value value = code.toF32(v[0]);
          if (factor)
            value = arith::MulFOp::create(b, at, value, code.f32(numerics::hadamardFactor(size)));
          if (op.getInverse() == factor)
            value = arith::MulFOp::create(b, at, value, v[1]);
          auto format = cast<FloatType>(element);
          return format.getWidth() < 32 ? narrow(b, at, value, element, Overflow::IEEE)
                                        : widen(b, at, value, element);
        });
  };
  Value x = signedBy(op.getSource(), f32, /*factor=*/false);
  for (int64_t half = 1; half < size; half *= 2)
    x = buildButterfly(builder, loc, x, axis, half);
  return signedBy(x, type.getElementType(), /*factor=*/true);
}

static Value expand(OpBuilder &builder, RandomBitsOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  Value like = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  AffineMap none = AffineMap::get(type.getRank(), 0, builder.getContext());
  return buildElementwise(
      builder, loc, {op.getSeed(), op.getOffset()}, {none, none}, like, type.getElementType(),
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value index = arith::ConstantIndexOp::create(b, at, 0);
        for (int64_t i = 0; i != type.getRank(); ++i) {
          Value scaled = arith::MulIOp::create(
              b, at, index, arith::ConstantIndexOp::create(b, at, type.getDimSize(i)));
          index = arith::AddIOp::create(b, at, scaled, linalg::IndexOp::create(b, at, i));
        }
        Value wide = arith::IndexCastOp::create(b, at, b.getI64Type(), index);
        return ScaleCode{b, at}.randomWord(x[0], x[1], wide);
      });
}

static Value expand(OpBuilder &builder, ScaledMatmulOp op) {
  return expandScaledMatmul(builder, op);
}
static Value expand(OpBuilder &builder, FakeQuantizeOp op) {
  return expandFakeQuantize(builder, op);
}
static Value expand(OpBuilder &builder, StraightThroughOp op) {
  return expandStraightThrough(builder, op);
}
static Value expand(OpBuilder &builder, StepGradientOp op) {
  return expandStepGradient(builder, op);
}
static Value expand(OpBuilder &builder, PruneOp op) { return expandPrune(builder, op); }

SmallVector<Value> mlir::mp::expandScalingOp(OpBuilder &builder, Operation *op) {
  return TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case<AmaxOp, QuantizeOp, DequantizeOp, HadamardOp, RandomBitsOp, ScaledMatmulOp,
            FakeQuantizeOp, StraightThroughOp, StepGradientOp, PruneOp>(
          [&](auto found) { return SmallVector<Value>{expand(builder, found)}; })
      .Case<ComputeScaleOp, UpdateAmaxHistoryOp, BlockQuantizeOp>(
          [&](auto found) { return expand(builder, found); })
      .Default(SmallVector<Value>());
}

namespace {
struct DecomposeScaling : mlir::mp::impl::DecomposeScalingBase<DecomposeScaling> {
  void runOnOperation() override {
    // First what becomes other scaling ops.
    getOperation()->walk([](BlockQuantizeOp op) { replace(op); });
    getOperation()->walk([](Operation *op) { replace(op); });
  }

  static void replace(Operation *op) {
    OpBuilder builder(op);
    SmallVector<Value> results = expandScalingOp(builder, op);
    if (results.empty())
      return;
    op->replaceAllUsesWith(results);
    op->erase();
  }
};
} // namespace
