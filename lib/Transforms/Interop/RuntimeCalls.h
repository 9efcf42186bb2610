// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds calls of functions that libMPRuntime has.

#ifndef MP_LIB_TRANSFORMS_INTEROP_RUNTIMECALLS_H
#define MP_LIB_TRANSFORMS_INTEROP_RUNTIMECALLS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

/// The number by which the runtime knows a type of elements; nothing for formats without one.
std::optional<int64_t> runtimeElement(Type type);

/// A lowering to calls, in the module and at the place where `b` is.
class RuntimeCalls {
public:
  explicit RuntimeCalls(ModuleOp module)
      : module(module), b(module.getLoc(), module.getContext()) {}

protected:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value integer(int64_t value) { return arith::ConstantIntOp::create(b, b.getI64Type(), value); }
  /// Calls `name`, which is declared where it is not yet.
  Value call(StringRef name, ArrayRef<Value> arguments, Type result = {});

  ModuleOp module;
  ImplicitLocOpBuilder b;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_INTEROP_RUNTIMECALLS_H
