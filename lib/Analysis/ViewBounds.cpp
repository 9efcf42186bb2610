// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds index arithmetic that compares offsets and sizes of a view with those of its source.

#include "mp/Analysis/ViewBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;
using arith::CmpIPredicate;

Value mlir::mp::buildSize(ImplicitLocOpBuilder &b, Value shaped, int64_t dim) {
  auto type = cast<ShapedType>(shaped.getType());
  if (!type.isDynamicDim(dim))
    return arith::ConstantIndexOp::create(b, type.getDimSize(dim));
  return isa<TensorType>(type) ? Value(tensor::DimOp::create(b, shaped, dim))
                               : memref::DimOp::create(b, shaped, dim);
}

Value mlir::mp::buildSliceFits(ImplicitLocOpBuilder &b, OffsetSizeAndStrideOpInterface slice,
                               Value whole, int64_t dim) {
  auto type = cast<ShapedType>(whole.getType());
  OpFoldResult offset = slice.getMixedOffsets()[dim], size = slice.getMixedSizes()[dim],
               stride = slice.getMixedStrides()[dim];
  bool ascends = getConstantIntValue(stride).value_or(-1) >= 0;
  if (!type.isDynamicDim(dim) && isa<Attribute>(offset) && isa<Attribute>(size) && ascends)
    return {}; // the verifier has looked
  auto value = [&](OpFoldResult part) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), part);
  };
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value first = value(offset), count = value(size);
  Value steps = arith::SubIOp::create(b, count, arith::ConstantIndexOp::create(b, 1));
  Value last = arith::AddIOp::create(b, first, arith::MulIOp::create(b, steps, value(stride)));
  // With a negative stride, which upstream's verifier lets pass, the last element lies lowest.
  Value lowest = ascends ? first : arith::MinSIOp::create(b, first, last);
  Value highest = ascends ? last : arith::MaxSIOp::create(b, first, last);
  Value begins = arith::CmpIOp::create(b, CmpIPredicate::sge, lowest, zero);
  Value ends = arith::CmpIOp::create(b, CmpIPredicate::slt, highest, buildSize(b, whole, dim));
  Value fits = arith::AndIOp::create(b, begins, ends);
  if (isa<Attribute>(size))
    return fits;
  if (!ascends)
    fits = arith::OrIOp::create(b, fits, arith::CmpIOp::create(b, CmpIPredicate::eq, count, zero));
  return arith::AndIOp::create(b, fits, arith::CmpIOp::create(b, CmpIPredicate::sge, count, zero));
}

Value mlir::mp::buildSizeFits(ImplicitLocOpBuilder &b, Value shaped, ShapedType type, int64_t dim) {
  if (!cast<ShapedType>(shaped.getType()).isDynamicDim(dim) || type.isDynamicDim(dim))
    return {};
  return arith::CmpIOp::create(b, CmpIPredicate::eq, buildSize(b, shaped, dim),
                               arith::ConstantIndexOp::create(b, type.getDimSize(dim)));
}

Value mlir::mp::buildSplitFits(ImplicitLocOpBuilder &b, Value whole, int64_t dim,
                               ArrayRef<OpFoldResult> parts) {
  if (!cast<ShapedType>(whole.getType()).isDynamicDim(dim) &&
      llvm::all_of(parts, llvm::IsaPred<Attribute>))
    return {};
  Value product = arith::ConstantIndexOp::create(b, 1), fits;
  for (OpFoldResult part : parts) {
    Value size = getValueOrCreateConstantIndexOp(b, b.getLoc(), part);
    product = arith::MulIOp::create(b, product, size);
    if (isa<Attribute>(part))
      continue;
    Value counts =
        arith::CmpIOp::create(b, CmpIPredicate::sge, size, arith::ConstantIndexOp::create(b, 0));
    fits = fits ? Value(arith::AndIOp::create(b, fits, counts)) : counts;
  }
  Value same = arith::CmpIOp::create(b, CmpIPredicate::eq, product, buildSize(b, whole, dim));
  return fits ? Value(arith::AndIOp::create(b, fits, same)) : same;
}
