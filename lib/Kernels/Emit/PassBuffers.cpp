// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes buffers by their layouts.

#include "PassBuffers.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::hasKnownLayout(Type buffer) {
  auto type = dyn_cast<MemRefType>(buffer);
  int64_t offset;
  SmallVector<int64_t> strides;
  return !type || (type.hasStaticShape() && succeeded(type.getStridesAndOffset(strides, offset)) &&
                   !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic));
}

Type mlir::mp::atAnyPlace(Type buffer) {
  auto type = cast<MemRefType>(buffer);
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset))
    return type;
  MemRefType::Builder builder(type);
  return builder.setLayout(StridedLayoutAttr::get(type.getContext(), 0, strides));
}

Value mlir::mp::passBuffer(OpBuilder &builder, Value buffer, bool asBase) {
  if (hasKnownLayout(buffer.getType()) && !asBase)
    return buffer;
  return memref::ExtractStridedMetadataOp::create(builder, buffer.getLoc(), buffer).getBaseBuffer();
}
