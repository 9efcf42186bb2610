// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements between memory and registers: what LLVM has no type for lies in memory as bytes.

#ifndef MP_LIB_KERNELS_BUILD_ELEMENTS_H
#define MP_LIB_KERNELS_BUILD_ELEMENTS_H

#include "DeviceBuilder.h"

namespace mlir::mp {

/// The type that is loaded and stored for an element.
inline Type memoryType(OpBuilder &b, Type element) {
  const bool isRare = isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  return element.isInteger(1) || isRare ? b.getI8Type() : element;
}

inline Value fromMemory(DeviceBuilder &d, Value value, Type element) {
  if (value.getType() == element)
    return value;
  if (element.isInteger(1))
    return arith::TruncIOp::create(d.b, element, value);
  return arith::BitcastOp::create(d.b, element, value);
}

inline Value toMemory(DeviceBuilder &d, Value value) {
  Type type = memoryType(d.b, value.getType());
  if (value.getType() == type)
    return value;
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(d.b, type, value);
  return arith::BitcastOp::create(d.b, type, value);
}

/// Two f32 as a register of two numbers of 16 bits.
inline Value packNarrowed(DeviceBuilder &d, Value low, Value high, Type format) {
  Value pair = LLVM::UndefOp::create(d.b, VectorType::get({2}, d.b.getF32Type()));
  pair = LLVM::InsertElementOp::create(d.b, pair, low, d.i32(0));
  pair = LLVM::InsertElementOp::create(d.b, pair, high, d.i32(1));
  pair = LLVM::FPTruncOp::create(d.b, VectorType::get({2}, format), pair);
  return LLVM::BitcastOp::create(d.b, d.b.getI32Type(), pair);
}

/// Elements of one type as one register vector; a single one as it is.
inline Value packVector(DeviceBuilder &d, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements.front();
  auto type = VectorType::get({int64_t(elements.size())}, elements.front().getType());
  Value vector = LLVM::PoisonOp::create(d.b, type);
  for (auto [i, element] : llvm::enumerate(elements))
    vector = LLVM::InsertElementOp::create(d.b, vector, element, d.i32(i));
  return vector;
}

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_ELEMENTS_H
