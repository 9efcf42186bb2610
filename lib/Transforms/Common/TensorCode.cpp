// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds linalg.generic ops from callbacks that write their scalar code.

#include "TensorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

SmallVector<OpFoldResult> mlir::mp::sizesOf(OpBuilder &builder, Location loc, Value x) {
  return tensor::getMixedSizes(builder, loc, x);
}

Value mlir::mp::scalar(OpBuilder &builder, Location loc, TypedAttr value) {
  return arith::ConstantOp::create(builder, loc, value);
}

Value mlir::mp::scalarTensor(OpBuilder &builder, Location loc, TypedAttr value) {
  auto type = RankedTensorType::get({}, value.getType());
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, ArrayRef<Attribute>(value)));
}

Value mlir::mp::buildElementwise(OpBuilder &builder, Location loc, ValueRange operands,
                                 Type element, ScalarCode code) {
  int64_t rank = cast<RankedTensorType>(operands[0].getType()).getRank();
  SmallVector<AffineMap> maps;
  for (Value operand : operands)
    maps.push_back(cast<RankedTensorType>(operand.getType()).getRank() == rank
                       ? builder.getMultiDimIdentityMap(rank)
                       : AffineMap::get(rank, 0, builder.getContext()));
  return buildElementwise(builder, loc, operands, maps, operands[0], element, code);
}

Value mlir::mp::buildElementwise(OpBuilder &builder, Location loc, ValueRange operands,
                                 ArrayRef<AffineMap> maps, Value like, Type element,
                                 ScalarCode code) {
  auto shape = cast<RankedTensorType>(like.getType());
  Value out = tensor::EmptyOp::create(builder, loc, sizesOf(builder, loc, like), element,
                                      shape.getEncoding());
  SmallVector<AffineMap> all(maps);
  all.push_back(builder.getMultiDimIdentityMap(shape.getRank()));
  SmallVector<utils::IteratorType> iterators(shape.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, out.getType(), operands, out, all, iterators,
      [&](OpBuilder &inner, Location at, ValueRange elements) {
        linalg::YieldOp::create(inner, at, code(inner, at, elements.drop_back()));
      });
  return generic.getResult(0);
}

Value mlir::mp::buildReduction(OpBuilder &builder, Location loc, Value x, ArrayRef<int64_t> axes,
                               TypedAttr first, ScalarCode code) {
  auto type = cast<RankedTensorType>(x.getType());
  SmallVector<OpFoldResult> sizes = sizesOf(builder, loc, x), kept;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<AffineExpr> results;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    bool reduced = llvm::is_contained(axes, dim);
    iterators.push_back(reduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (reduced)
      continue;
    kept.push_back(sizes[dim]);
    results.push_back(builder.getAffineDimExpr(dim));
  }
  Value empty = tensor::EmptyOp::create(builder, loc, kept, first.getType());
  Value initial =
      linalg::FillOp::create(builder, loc, scalar(builder, loc, first), empty).getResult(0);
  SmallVector<AffineMap> maps{builder.getMultiDimIdentityMap(type.getRank()),
                              AffineMap::get(type.getRank(), 0, results, builder.getContext())};
  auto generic =
      linalg::GenericOp::create(builder, loc, initial.getType(), x, initial, maps, iterators,
                                [&](OpBuilder &inner, Location at, ValueRange elements) {
                                  linalg::YieldOp::create(inner, at, code(inner, at, elements));
                                });
  return generic.getResult(0);
}

Value mlir::mp::widen(OpBuilder &builder, Location loc, Value element, Type to) {
  if (element.getType() == to)
    return element;
  return CastOp::create(builder, loc, to, element, Value(), RoundingAttr(), OverflowAttr(),
                        UnitAttr());
}

Value mlir::mp::narrow(OpBuilder &builder, Location loc, Value element, Type to,
                       Overflow overflow) {
  if (element.getType() == to)
    return element;
  return CastOp::create(builder, loc, to, element, Value(), RoundingAttr(),
                        OverflowAttr::get(builder.getContext(), overflow), UnitAttr());
}
