// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares functions of the runtime and calls them.

#include "RuntimeCalls.h"
#include "mp/Numerics/Format.h"

using namespace mlir;
using namespace mlir::mp;

/// MP_RT_INTEGER of the runtime's header, which compiled code knows by number.
static constexpr int64_t kInteger = 256;

std::optional<int64_t> mlir::mp::runtimeElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return kInteger + integer.getWidth();
  auto format = numerics::formatOf(cast<FloatType>(type).getFloatSemantics());
  return format ? std::optional(int64_t(*format)) : std::nullopt;
}

Value RuntimeCalls::call(StringRef name, ArrayRef<Value> arguments, Type result) {
  auto type =
      b.getFunctionType(ValueRange(arguments).getTypes(), result ? TypeRange(result) : TypeRange());
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    func::FuncOp::create(b, name, type).setPrivate();
  }
  auto made = func::CallOp::create(b, name, type.getResults(), arguments);
  return result ? made.getResult(0) : Value();
}
