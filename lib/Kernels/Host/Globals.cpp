// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes LLVM globals of strings, tables and binaries for the runtime.

#include "Globals.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::mp;

int64_t mlir::mp::elementBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto number = dyn_cast<ComplexType>(element))
    return 2 * elementBytes(number.getElementType());
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return llvm::PowerOf2Ceil(llvm::divideCeil(width, 8));
}

Globals::Globals(ModuleOp module) : module(module), b(module.getContext()) {}

LLVM::GlobalOp Globals::string(StringRef name, StringRef text) {
  b.setInsertionPointToEnd(module.getBody());
  std::string data = (text + StringRef("\0", 1)).str();
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), data.size());
  return LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/true,
                                LLVM::Linkage::Internal, name, b.getStringAttr(data));
}

LLVM::GlobalOp Globals::record(StringRef name, Type type, bool constant,
                               llvm::function_ref<Value(OpBuilder &)> fill) {
  b.setInsertionPointToEnd(module.getBody());
  auto global = LLVM::GlobalOp::create(b, module.getLoc(), type, constant, LLVM::Linkage::Internal,
                                       name, Attribute());
  OpBuilder inner = OpBuilder::atBlockEnd(b.createBlock(&global.getInitializerRegion()));
  Value value = fill(inner);
  LLVM::ReturnOp::create(inner, module.getLoc(), value);
  return global;
}

Value Globals::makeStruct(OpBuilder &b, Location loc, Type type, ValueRange fields) {
  Value value = LLVM::UndefOp::create(b, loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(b, loc, value, field, int64_t(i));
  return value;
}

LLVM::LLVMFuncOp Globals::function(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  b.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, arguments));
}
