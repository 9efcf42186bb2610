// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Analysis/SliceBounds.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

Value mlir::mp::buildSliceFits(ImplicitLocOpBuilder &b, OffsetSizeAndStrideOpInterface slice, Value whole, int64_t dim) {
  auto type = cast<ShapedType>(whole.getType());
  OpFoldResult offset = slice.getMixedOffsets()[dim], size = slice.getMixedSizes()[dim], stride = slice.getMixedStrides()[dim];
  if (!type.isDynamicDim(dim) && isa<Attribute>(offset) && isa<Attribute>(size) && isa<Attribute>(stride))
    return {};
  auto value = [&](OpFoldResult part) { return getValueOrCreateConstantIndexOp(b, b.getLoc(), part); };
  Value first = value(offset);
  Value steps = arith::SubIOp::create(b, value(size), arith::ConstantIndexOp::create(b, 1));
  Value last = arith::AddIOp::create(b, first, arith::MulIOp::create(b, steps, value(stride)));
  Value length = isa<TensorType>(type) ? Value(tensor::DimOp::create(b, whole, dim)) : memref::DimOp::create(b, whole, dim);
  Value begins = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first, arith::ConstantIndexOp::create(b, 0));
  Value ends = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, last, length);
  return arith::AndIOp::create(b, begins, ends);
}
