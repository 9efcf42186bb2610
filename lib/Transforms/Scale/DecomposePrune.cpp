// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp.prune: each value beside those of its group, counted.

#include "DecomposeFakeQuantize.h"
#include "ScaleCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

/// |x|, times its score if there are scores.
static Value scoreOf(OpBuilder &builder, PruneOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> operands{op.getSource()};
  SmallVector<AffineMap> maps{identity};
  if (op.getScores()) {
    operands.push_back(op.getScores());
    maps.push_back(AffineMap::get(type.getRank(), 0, builder.getAffineDimExpr(op.getAxis())));
  }
  return buildElementwise(builder, op.getLoc(), operands, maps, op.getSource(),
                          builder.getF32Type(),
                          [](OpBuilder &b, Location at, ValueRange x) -> Value {
                            Value magnitude = math::AbsFOp::create(b, at, x[0]);
                            if (x.size() == 1)
                              return magnitude;
                            return arith::MulFOp::create(b, at, magnitude, x[1]);
                          });
}

/// For each value, how many of its group go before it: those with a larger score, and those before
/// it with the same.
static Value countBefore(OpBuilder &builder, Location loc, Value scores, int64_t place) {
  auto type = cast<RankedTensorType>(scores.getType());
  int64_t rank = type.getRank();
  SmallVector<AffineExpr> other;
  for (int64_t dim = 0; dim != rank; ++dim)
    other.push_back(builder.getAffineDimExpr(dim == place ? rank : dim));
  MLIRContext *context = builder.getContext();
  AffineMap own = AffineMap::getMultiDimIdentityMap(rank + 1, context).dropResult(rank);
  AffineMap maps[] = {own, AffineMap::get(rank + 1, 0, other, context), own};
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  Type i32 = builder.getI32Type();
  Value empty = tensor::EmptyOp::create(builder, loc, sizesOf(builder, loc, scores), i32);
  Value zero = scalar(builder, loc, builder.getI32IntegerAttr(0));
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  auto count = linalg::GenericOp::create(
      builder, loc, init.getType(), ValueRange{scores, scores}, init, maps, iterators,
      [&](OpBuilder &b, Location at, ValueRange x) {
        Value larger = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OGT, x[1], x[0]);
        Value equal = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, x[1], x[0]);
        Value first = arith::CmpIOp::create(b, at, arith::CmpIPredicate::ult,
                                            linalg::IndexOp::create(b, at, rank),
                                            linalg::IndexOp::create(b, at, place));
        Value before =
            arith::OrIOp::create(b, at, larger, arith::AndIOp::create(b, at, equal, first));
        Value one = arith::ExtUIOp::create(b, at, i32, before);
        linalg::YieldOp::create(b, at, arith::AddIOp::create(b, at, x[2], one).getResult());
      });
  return count.getResult(0);
}

Value mlir::mp::expandPrune(OpBuilder &builder, PruneOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  auto axis = int64_t(op.getAxis()), group = int64_t(op.getOf());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes, old = sizesOf(builder, loc, op.getSource());
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    ReassociationIndices &parts = groups.emplace_back();
    SmallVector<int64_t> split{type.getDimSize(dim)};
    if (dim == axis)
      split = {type.getDimSize(dim) / group, group};
    for (int64_t part : split) {
      parts.push_back(shape.size());
      shape.push_back(part);
      sizes.push_back(ShapedType::isDynamic(part) ? old[dim]
                                                  : OpFoldResult(builder.getIndexAttr(part)));
    }
  }
  auto expand = [&](Value x) -> Value {
    return tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, builder.getF32Type()), x, groups, sizes);
  };
  Value counts = countBefore(builder, loc, expand(scoreOf(builder, op)), axis + 1);
  Value kept = buildElementwise(
      builder, loc, {expand(op.getSource()), counts}, builder.getF32Type(),
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value bound = scalar(b, at, b.getI32IntegerAttr(int32_t(op.getKeep())));
        Value stays = arith::CmpIOp::create(b, at, arith::CmpIPredicate::ult, x[1], bound);
        return arith::SelectOp::create(b, at, stays, x[0], ScaleCode{b, at}.f32(0));
      });
  return tensor::CollapseShapeOp::create(builder, loc, type, kept, groups);
}
