// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp.scaled_matmul: one contraction of codes, which has the form that runs on Tensor Cores, and
// what its sums are multiplied by.

#include "../Common/TensorCode.h"
#include "DecomposeScaling.h"
#include "ScaleCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// The loops of the contraction: those of the op, and behind each loop summed over in several
/// blocks one more, over the places within a block.
struct BlockLoops {
  ScaledMatmulOp op;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> blocks; ///< along each loop of the op
  SmallVector<unsigned> first; ///< the loop that stands for it, or for its blocks
  unsigned count = 0;

  explicit BlockLoops(ScaledMatmulOp op)
      : op(op), maps(llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>())) {
    for (unsigned loop = 0; loop != maps[0].getNumDims(); ++loop) {
      blocks.push_back(op.getBlocksAlong(loop));
      first.push_back(count);
      count += blocks.back() > 1 ? 2 : 1;
    }
  }
  bool isSplit(unsigned loop) const { return blocks[loop] > 1; }
};
} // namespace

/// `x` with the dimensions of split loops in two, and where its dimensions lie among the loops.
static std::pair<Value, AffineMap> split(OpBuilder &builder, Location loc, Value x, AffineMap map,
                                         const BlockLoops &loops) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  SmallVector<AffineExpr> places;
  SmallVector<OpFoldResult> sizes, old = sizesOf(builder, loc, x);
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    unsigned loop = map.getDimPosition(dim);
    ReassociationIndices &group = groups.emplace_back();
    SmallVector<int64_t> parts{size};
    if (loops.isSplit(loop))
      parts = {loops.blocks[loop], size / loops.blocks[loop]};
    for (auto [i, part] : llvm::enumerate(parts)) {
      group.push_back(shape.size());
      shape.push_back(part);
      places.push_back(builder.getAffineDimExpr(loops.first[loop] + i));
      sizes.push_back(ShapedType::isDynamic(part) ? old[dim]
                                                  : OpFoldResult(builder.getIndexAttr(part)));
    }
  }
  AffineMap splitMap = AffineMap::get(loops.count, 0, places, builder.getContext());
  if (shape.size() == size_t(type.getRank()))
    return {x, splitMap};
  return {tensor::ExpandShapeOp::create(
              builder, loc, RankedTensorType::get(shape, type.getElementType()), x, groups, sizes),
          splitMap};
}

/// Products of codes, summed within blocks: the dimensions of the result, then one for each split
/// loop.
static Value contract(OpBuilder &builder, Location loc, const BlockLoops &loops) {
  ScaledMatmulOp op = loops.op;
  auto [a, mapA] = split(builder, loc, op.getA(), loops.maps[0], loops);
  auto [b, mapB] = split(builder, loc, op.getB(), loops.maps[1], loops);
  SmallVector<OpFoldResult> sizes = sizesOf(builder, loc, op.getInit());
  SmallVector<AffineExpr> places;
  for (AffineExpr place : loops.maps[2].getResults())
    places.push_back(
        builder.getAffineDimExpr(loops.first[cast<AffineDimExpr>(place).getPosition()]));
  for (unsigned loop : op.getSummedLoops())
    if (loops.isSplit(loop)) {
      places.push_back(builder.getAffineDimExpr(loops.first[loop]));
      sizes.push_back(builder.getIndexAttr(loops.blocks[loop]));
    }
  AffineMap out = AffineMap::get(loops.count, 0, places, builder.getContext());
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop = 0; loop != loops.count; ++loop)
    iterators.push_back(out.isFunctionOfDim(loop) ? utils::IteratorType::parallel
                                                  : utils::IteratorType::reduction);
  bool integer = isa<IntegerType>(cast<RankedTensorType>(op.getA().getType()).getElementType());
  TypedAttr zero =
      integer ? TypedAttr(builder.getI32IntegerAttr(0)) : TypedAttr(builder.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, zero.getType());
  Value init = linalg::FillOp::create(builder, loc, scalar(builder, loc, zero), empty).getResult(0);
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), ValueRange{a, b}, init, ArrayRef<AffineMap>{mapA, mapB, out},
      iterators, [&](OpBuilder &inner, Location at, ValueRange x) {
        auto wide = [&](Value value) -> Value {
          if (integer)
            return arith::ExtSIOp::create(inner, at, inner.getI32Type(), value);
          return value.getType().isF32()
                     ? value
                     : arith::ExtFOp::create(inner, at, inner.getF32Type(), value);
        };
        Value left = wide(x[0]), right = wide(x[1]), sum;
        if (integer)
          sum =
              arith::AddIOp::create(inner, at, x[2], arith::MulIOp::create(inner, at, left, right));
        else
          sum =
              arith::AddFOp::create(inner, at, x[2], arith::MulFOp::create(inner, at, left, right));
        linalg::YieldOp::create(inner, at, sum);
      });
  return generic.getResult(0);
}

Value mlir::mp::expandScaledMatmul(OpBuilder &builder, ScaledMatmulOp op) {
  Location loc = op.getLoc();
  MLIRContext *context = builder.getContext();
  BlockLoops loops(op);
  Value sums = contract(builder, loc, loops);
  auto type = cast<RankedTensorType>(sums.getType());
  // Dimensions of the sums, by loop of the op.
  AffineMap result = loops.maps[2];
  SmallVector<AffineExpr> place(result.getNumDims());
  SmallVector<utils::IteratorType> iterators;
  for (unsigned dim = 0; dim != result.getNumResults(); ++dim) {
    place[result.getDimPosition(dim)] = builder.getAffineDimExpr(dim);
    iterators.push_back(utils::IteratorType::parallel);
  }
  for (unsigned loop : op.getSummedLoops())
    if (loops.isSplit(loop)) {
      place[loop] = builder.getAffineDimExpr(iterators.size());
      iterators.push_back(utils::IteratorType::reduction);
    }

  SmallVector<Value> operands{sums};
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(type.getRank())};
  OperandRange scalesOf[] = {op.getScalesA(), op.getScalesB()};
  for (auto [index, scales] : llvm::enumerate(scalesOf)) {
    auto data = cast<RankedTensorType>((index ? op.getB() : op.getA()).getType());
    for (Value scale : scales) {
      auto scaleType = cast<RankedTensorType>(scale.getType());
      SmallVector<AffineExpr> places;
      for (auto [dim, count] : llvm::enumerate(scaleType.getShape())) {
        unsigned loop = loops.maps[index].getDimPosition(dim);
        // A summed loop counts blocks already, another one elements.
        int64_t size =
            place[loop] && loops.isSplit(loop) ? loops.blocks[loop] : data.getDimSize(dim);
        if (count == 1)
          places.push_back(builder.getAffineConstantExpr(0));
        else if (count == size)
          places.push_back(place[loop]);
        else
          places.push_back(place[loop].floorDiv(size / count));
      }
      operands.push_back(scale);
      maps.push_back(AffineMap::get(type.getRank(), 0, places, context));
    }
  }
  SmallVector<AffineExpr> kept;
  for (unsigned dim = 0; dim != result.getNumResults(); ++dim)
    kept.push_back(builder.getAffineDimExpr(dim));
  maps.push_back(AffineMap::get(type.getRank(), 0, kept, context));
  auto scaled = linalg::GenericOp::create(
      builder, loc, op.getType(), operands, op.getInit(), maps, iterators,
      [&](OpBuilder &b, Location at, ValueRange x) {
        ScaleCode code{b, at};
        Value sum = x[0], factor;
        if (isa<IntegerType>(sum.getType()))
          sum = arith::SIToFPOp::create(b, at, b.getF32Type(), sum);
        for (Value scale : x.drop_front().drop_back()) {
          Value wide = code.toF32(scale);
          factor = factor ? arith::MulFOp::create(b, at, factor, wide) : wide;
        }
        Value product = arith::MulFOp::create(b, at, sum, factor);
        linalg::YieldOp::create(b, at, arith::AddFOp::create(b, at, x.back(), product).getResult());
      });
  return scaled.getResult(0);
}
