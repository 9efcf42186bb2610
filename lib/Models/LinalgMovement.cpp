// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data movement and control flow in the linalg spelling.

#include "LinalgBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

Value LinalgBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis : permutation)
    sizes.push_back(dim(x, axis));
  return linalg::TransposeOp::create(builder, loc(), x, empty(sizes), permutation)->getResult(0);
}

/// One group per axis of the collapsed shape; group `axis` has `count` members.
static SmallVector<ReassociationIndices> groups(int64_t rank, int64_t axis, int64_t count) {
  SmallVector<ReassociationIndices> result;
  for (int64_t i = 0, next = 0; i != rank; ++i) {
    ReassociationIndices &group = result.emplace_back();
    for (int64_t member = 0; member != (i == axis ? count : 1); ++member)
      group.push_back(next++);
  }
  return result;
}

Value LinalgBuilder::expand(Value x, int64_t axis, ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> shape = dims(x);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, sizes.begin(), sizes.end());
  RankedTensorType type =
      tensor(llvm::map_to_vector(shape, staticSize), typeOf(x).getElementType());
  return create<tensor::ExpandShapeOp>(type, x, groups(rankOf(x), axis, sizes.size()), shape);
}

Value LinalgBuilder::collapse(Value x, int64_t axis, int64_t count) {
  return create<tensor::CollapseShapeOp>(x, groups(rankOf(x) - count + 1, axis, count));
}

Value LinalgBuilder::slice(Value x, int64_t axis, int64_t offset, OpFoldResult length) {
  SmallVector<OpFoldResult> offsets(rankOf(x), size(0)), strides(rankOf(x), size(1));
  SmallVector<OpFoldResult> sizes = dims(x);
  offsets[axis] = size(offset);
  sizes[axis] = length;
  return create<tensor::ExtractSliceOp>(x, offsets, sizes, strides);
}

Value LinalgBuilder::concat(Value a, Value b, int64_t axis) {
  int64_t first = typeOf(a).getDimSize(axis), second = typeOf(b).getDimSize(axis);
  SmallVector<OpFoldResult> sizes = dims(a), offsets(rankOf(a), size(0)),
                            strides(rankOf(a), size(1));
  SmallVector<OpFoldResult> whole = sizes;
  whole[axis] = size(first + second);
  Value joined = create<tensor::InsertSliceOp>(a, empty(whole), offsets, sizes, strides);
  sizes[axis] = size(second);
  offsets[axis] = size(first);
  return create<tensor::InsertSliceOp>(b, joined, offsets, sizes, strides);
}

Value LinalgBuilder::repeat(Value x, int64_t axis, int64_t times) {
  if (times == 1)
    return x;
  SmallVector<OpFoldResult> sizes = dims(x);
  sizes[axis] = size(times);
  int64_t rank = rankOf(x);
  SmallVector<AffineExpr> in;
  for (int64_t i = 0; i != rank; ++i)
    in.push_back(i == axis ? builder.getAffineConstantExpr(0) : builder.getAffineDimExpr(i));
  return generic(
      x, empty(sizes),
      {AffineMap::get(rank, 0, in, builder.getContext()), builder.getMultiDimIdentityMap(rank)}, 0,
      [](ArrayRef<Value> scalars) { return scalars[0]; });
}

Value LinalgBuilder::gather(Value table, Value ids) {
  int64_t rank = rankOf(ids), rows = typeOf(table).getDimSize(0);
  SmallVector<OpFoldResult> sizes = dims(ids);
  sizes.push_back(dim(table, 1));
  SmallVector<AffineExpr> in;
  for (int64_t i = 0; i != rank; ++i)
    in.push_back(builder.getAffineDimExpr(i));
  return generic(ids, empty(sizes),
                 {AffineMap::get(rank + 1, 0, in, builder.getContext()),
                  builder.getMultiDimIdentityMap(rank + 1)},
                 0, [&](ArrayRef<Value> scalars) -> Value {
                   Value row = create<arith::IndexCastOp>(builder.getIndexType(), scalars[0]);
                   row = create<arith::MaxSIOp>(row, index(0));
                   row = create<arith::MinSIOp>(row, index(rows - 1));
                   Value column = create<linalg::IndexOp>(rank);
                   return create<tensor::ExtractOp>(table, ValueRange{row, column});
                 });
}

Value LinalgBuilder::oneHot(Value ids, int64_t classes) {
  int64_t rank = rankOf(ids);
  SmallVector<OpFoldResult> sizes = dims(ids);
  sizes.push_back(size(classes));
  AffineMap identity = builder.getMultiDimIdentityMap(rank + 1);
  return generic(ids, empty(sizes), {identity.dropResult(rank), identity}, 0,
                 [&](ArrayRef<Value> scalars) -> Value {
                   Value id = create<arith::IndexCastOp>(builder.getIndexType(), scalars[0]);
                   Value column = create<linalg::IndexOp>(rank);
                   Value hit = create<arith::CmpIOp>(arith::CmpIPredicate::eq, id, column);
                   return create<arith::UIToFPOp>(f32(), hit);
                 });
}

Value LinalgBuilder::padAxis(Value x, int64_t axis, int64_t before, int64_t after) {
  SmallVector<OpFoldResult> low(rankOf(x), size(0)), high(rankOf(x), size(0));
  low[axis] = size(before);
  high[axis] = size(after);
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[axis] += before + after;
  return create<tensor::PadOp>(tensor(shape), x, low, high, scalar(0));
}

Value LinalgBuilder::scalarOf(Value x) {
  return create<tensor::CollapseShapeOp>(tensor({}), x, ArrayRef<ReassociationIndices>{});
}

Value LinalgBuilder::imageToTokens(Value x) { return transpose(collapse(x, 2, 2), {0, 2, 1}); }

//===--------------------------------------------------------------------------------===//
// Control flow
//===--------------------------------------------------------------------------------===//

Value LinalgBuilder::layerOf(Value stacked, Value layer) {
  RankedTensorType type = typeOf(stacked);
  SmallVector<OpFoldResult> offsets(type.getRank(), size(0)), strides(type.getRank(), size(1));
  SmallVector<OpFoldResult> sizes = dims(stacked);
  offsets[0] = layer;
  sizes[0] = size(1);
  return create<tensor::ExtractSliceOp>(tensor(type.getShape().drop_front()), stacked, offsets,
                                        sizes, strides);
}

Value LinalgBuilder::counter(int64_t value) { return index(value); }

Value LinalgBuilder::buildFor(int64_t count, Value x, LoopBody body) {
  auto loop = scf::ForOp::create(builder, loc(), index(0), index(count), index(1), x);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc(), body(loop.getInductionVar(), loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

Value LinalgBuilder::buildWhile(int64_t count, Value x, double tolerance, LoopBody body) {
  Value start = scalar(std::numeric_limits<double>::infinity());
  SmallVector<Value> inits = {index(0), x, start};
  SmallVector<Type> types = {inits[0].getType(), x.getType(), start.getType()};
  SmallVector<Location> locations(types.size(), loc());
  auto loop = scf::WhileOp::create(builder, loc(), types, inits);
  OpBuilder::InsertionGuard guard(builder);

  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locations);
  Value more =
      create<arith::CmpIOp>(arith::CmpIPredicate::slt, before->getArgument(0), index(count));
  Value moved =
      create<arith::CmpFOp>(arith::CmpFPredicate::OGT, before->getArgument(2), scalar(tolerance));
  Value again = create<arith::AndIOp>(more, moved);
  scf::ConditionOp::create(builder, loc(), again, before->getArguments());

  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locations);
  Value next = body(after->getArgument(0), after->getArgument(1));
  Value change = unary(Unary::Abs, binary(Binary::Subtract, next, after->getArgument(1)));
  Value largest = collapse(change, 0, rankOf(change));
  largest = create<tensor::ExtractOp>(reduce(Reduction::Max, largest, 0), index(0));
  Value step = create<arith::AddIOp>(after->getArgument(0), index(1));
  scf::YieldOp::create(builder, loc(), ValueRange{step, next, largest});
  return loop.getResult(1);
}

Value LinalgBuilder::buildGate(Value gates, Value layer, Value x,
                               llvm::function_ref<Value(Value)> then) {
  Value condition = create<tensor::ExtractOp>(gates, layer);
  auto branch = scf::IfOp::create(builder, loc(), TypeRange(x.getType()), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc(), then(x));
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc(), x);
  return branch.getResult(0);
}
