// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data of the runtime as LLVM globals.

#ifndef MP_LIB_KERNELS_HOST_GLOBALS_H
#define MP_LIB_KERNELS_HOST_GLOBALS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mp {

/// Returns the bytes that a value of `type`, or an element of it, takes in memory; a complex number
/// takes two of its parts.
int64_t elementBytes(Type type);

/// Makes globals at the end of a module. Names are made unique by the caller.
class Globals {
public:
  explicit Globals(ModuleOp module);

  /// A constant string with its terminating zero.
  LLVM::GlobalOp string(StringRef name, StringRef text);

  /// A struct whose fields `fill` makes; `constant` unless the runtime writes to it.
  LLVM::GlobalOp record(StringRef name, Type type, bool constant,
                        llvm::function_ref<Value(OpBuilder &)> fill);

  /// A struct value made of `fields`.
  static Value makeStruct(OpBuilder &b, Location loc, Type type, ValueRange fields);

  LLVM::LLVMPointerType pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }
  Type word() { return b.getI64Type(); }

  /// Declares a function of the runtime.
  LLVM::LLVMFuncOp function(StringRef name, Type result, ArrayRef<Type> arguments);

private:
  ModuleOp module;
  OpBuilder b;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_HOST_GLOBALS_H
