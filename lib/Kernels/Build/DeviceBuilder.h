// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names for building kernel code: 32-bit tile arithmetic, offset arithmetic in the kernel's
// index type, typed accesses to global and shared memory, inline PTX.

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

  Value zero(Type type) { return arith::ConstantOp::create(b, b.getZeroAttr(type)); }

  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, constant(x.getType(), y)); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
  Value mul(Value x, int64_t y) { return mul(x, constant(x.getType(), y)); }
  Value div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(x, y); }
  Value div(Value x, int64_t y) { return div(x, constant(x.getType(), y)); }
  Value rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(x, y); }
  Value rem(Value x, int64_t y) { return rem(x, constant(x.getType(), y)); }
  Value min(Value x, Value y) { return b.createOrFold<arith::MinUIOp>(x, y); }
  Value exclusiveOr(Value x, int64_t y) {
    return y == 0 ? x : b.createOrFold<arith::XOrIOp>(x, constant(x.getType(), y));
  }
  Value logicalAnd(Value x, Value y) {
    return !x ? y : !y ? x : b.createOrFold<arith::AndIOp>(x, y);
  }
  Value logicalOr(Value x, Value y) { return !x ? y : !y ? x : b.createOrFold<arith::OrIOp>(x, y); }
  Value less(Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, x, y);
  }
  Value equal(Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return b.createOrFold<arith::SelectOp>(condition, x, y);
  }
  /// An i32 as an offset.
  Value widen(Value x) {
    return x.getType() == indexType ? x : arith::ExtUIOp::create(b, indexType, x).getResult();
  }

  /// An offset that certainly fits as an i32.
  Value narrow(Value x) {
    return x.getType().isInteger(32) ? x
                                     : arith::TruncIOp::create(b, b.getI32Type(), x).getResult();
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

  /// The register type of an access of `bytes` bytes: 1, 2, 4, 8 or 16.
  Type accessType(unsigned bytes) {
    if (bytes <= 4)
      return b.getIntegerType(8 * bytes);
    return VectorType::get({bytes / 4}, b.getI32Type());
  }

  /// The exclusive or of the images of the bits of `number` that are set: a layout that is linear
  /// over bits, at run time.
  Value applyLinear(Value number, ArrayRef<uint32_t> images) {
    Value sum = i32(0);
    for (auto [bit, image] : llvm::enumerate(images)) {
      if (image == 0)
        continue;
      Value shifted = b.createOrFold<arith::ShRUIOp>(number, i32(bit));
      Value set = b.createOrFold<arith::AndIOp>(shifted, i32(1));
      sum = b.createOrFold<arith::XOrIOp>(sum, mul(set, int64_t(image)));
    }
    return sum;
  }

  /// A 32-bit address of shared memory as a pointer.
  Value sharedPointer(Value address) {
    return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
  }

  /// Inline PTX with side effects; `result` may be null. Conditions of a main loop are predicates
  /// inside it, constraint "b", since a branch would part products from what runs beside them.
  Value ptx(Type result, StringRef text, StringRef constraints, ValueRange operands) {
    auto op = LLVM::InlineAsmOp::create(
        b, result ? TypeRange(result) : TypeRange(), operands, text, constraints,
        /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
    return result ? op.getResult(0) : Value();
  }

  static bool isGlobal(Value pointer) {
    return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() == 1;
  }
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_DEVICEBUILDER_H
