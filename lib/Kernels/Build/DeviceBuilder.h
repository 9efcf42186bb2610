// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names for building kernel code: 32-bit tile arithmetic, offset arithmetic in the kernel's
// index type, typed accesses to global and shared memory.

#ifndef MP_LIB_KERNELS_BUILD_DEVICEBUILDER_H
#define MP_LIB_KERNELS_BUILD_DEVICEBUILDER_H

#include "../Plan/Size.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mp {

struct DeviceBuilder {
  ImplicitLocOpBuilder b;
  Type indexType; ///< i32 when every offset fits, else i64

  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
  Value i32(int64_t value) { return constant(b.getI32Type(), value); }
  Value ix(int64_t value) { return constant(indexType, value); }
  Value ix(const Size &size) { return size.isKnown() ? ix(size.value) : size.dynamic; }

  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
  Value div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(x, y); }
  Value rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(x, y); }
  Value logicalAnd(Value x, Value y) {
    return !x ? y : !y ? x : b.createOrFold<arith::AndIOp>(x, y);
  }
  Value less(Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, x, y);
  }
  /// An i32 as an offset.
  Value widen(Value x) {
    return x.getType() == indexType ? x : arith::ExtUIOp::create(b, indexType, x).getResult();
  }

  /// `base + offset` elements of `bytes` bytes each.
  Value advance(Value base, Value offset, int64_t bytes) {
    if (offset.getType().isInteger(32) && isGlobal(base))
      offset = arith::ExtSIOp::create(b, b.getI64Type(), offset);
    return LLVM::GEPOp::create(b, base.getType(), b.getIntegerType(8 * bytes), base,
                               ArrayRef<LLVM::GEPArg>{offset});
  }
  /// `base + offset` bytes.
  Value advanceBytes(Value base, int64_t offset) {
    return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  }
  /// With `isConstant` nobody writes there while the kernel runs.
  Value load(Type type, Value pointer, unsigned alignment, bool isConstant = false) {
    return LLVM::LoadOp::create(b, type, pointer, alignment, /*isVolatile=*/false,
                                /*isNonTemporal=*/false, isConstant);
  }
  void store(Value value, Value pointer, unsigned alignment) {
    LLVM::StoreOp::create(b, value, pointer, alignment);
  }

  /// The register type of an access of `bytes` bytes: 2, 4, 8 or 16.
  Type accessType(unsigned bytes) {
    if (bytes <= 4)
      return b.getIntegerType(8 * bytes);
    return VectorType::get({bytes / 4}, b.getI32Type());
  }

  /// sum over the bits of `lane` of the bit times its weight.
  Value weighBits(Value lane, ArrayRef<int> weights) {
    Value sum = i32(0);
    for (auto [bit, weight] : llvm::enumerate(weights)) {
      if (weight == 0)
        continue;
      Value shifted = b.createOrFold<arith::ShRUIOp>(lane, i32(bit));
      sum = add(sum, mul(b.createOrFold<arith::AndIOp>(shifted, i32(1)), i32(weight)));
    }
    return sum;
  }

  static bool isGlobal(Value pointer) {
    return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() == 1;
  }
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_DEVICEBUILDER_H
