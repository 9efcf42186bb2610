// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Execution/BufferEntry.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Execution/Executable.h"

using namespace mlir;
using namespace mlir::mp;

/// The contiguous buffer of the same shape.
static MemRefType contiguous(MemRefType type) { return MemRefType::get(type.getShape(), type.getElementType()); }

/// The tensor with a buffer's contents; null for buffers whose layout a contiguous one has not.
static RankedTensorType tensorOf(MemRefType type) {
  if (type.getMemorySpace() ||
      (contiguous(type) != type && !memref::CastOp::areCastCompatible(contiguous(type), type)))
    return {};
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

/// Replaces buffers in `types` by tensors; false if one cannot be.
static bool toTensors(SmallVectorImpl<Type> &types, bool &anyBuffer) {
  for (Type &type : types) {
    if (isa<UnrankedMemRefType>(type))
      return false;
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer)
      continue;
    anyBuffer = true;
    type = tensorOf(buffer);
    if (!type)
      return false;
  }
  return true;
}

/// Whether every user says that it only reads.
static bool isOnlyRead(Value buffer) {
  return llvm::all_of(buffer.getUses(), [](OpOperand &use) {
    auto op = dyn_cast<MemoryEffectOpInterface>(use.getOwner());
    SmallVector<MemoryEffects::EffectInstance> effects;
    if (op)
      op.getEffectsOnValue(use.get(), effects);
    return !effects.empty() &&
           llvm::all_of(effects, [](auto &effect) { return isa<MemoryEffects::Read>(effect.getEffect()); });
  });
}

static Value copyToBuffer(ImplicitLocOpBuilder &b, Value tensor, MemRefType type) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(tensor::DimOp::create(b, tensor, dim));
  Value buffer = memref::AllocOp::create(b, contiguous(type), sizes);
  auto copy = bufferization::MaterializeInDestinationOp::create(b, b.getLoc(), tensor, buffer);
  copy.setWritable(true);
  return buffer.getType() == type ? buffer : memref::CastOp::create(b, type, buffer);
}

llvm::Error mlir::mp::exposeBuffers(ModuleOp module, StringRef entry) {
  auto found = findEntry(module, entry);
  if (!found)
    return found.takeError();
  func::FuncOp function = *found;
  SmallVector<Type> arguments(function.getArgumentTypes()), results(function.getResultTypes());
  bool anyBuffer = false;
  if (!toTensors(arguments, anyBuffer) || !toTensors(results, anyBuffer) || !anyBuffer)
    return llvm::Error::success();
  SmallVector<unsigned> written;
  for (auto [i, argument] : llvm::enumerate(function.getArguments()))
    if (isa<MemRefType>(argument.getType()) && !isOnlyRead(argument)) {
      written.push_back(i);
      results.push_back(arguments[i]);
    }

  module.getContext()->loadDialect<bufferization::BufferizationDialect, memref::MemRefDialect, tensor::TensorDialect>();
  SmallVector<DictionaryAttr> argumentAttributes;
  function.getAllArgAttrs(argumentAttributes);
  SymbolTable symbols(module);
  std::string name = function.getName().str();
  ImplicitLocOpBuilder b(function.getLoc(), function);
  auto outer = func::FuncOp::create(b, name, b.getFunctionType(arguments, results));
  function.setPrivate();
  if (failed(symbols.rename(function, name + "_on_buffers")))
    return llvm::createStringError("@" + name + "_on_buffers exists already: @" + name +
                                   ", a function on buffers, cannot be called");
  symbols.insert(outer, module.getBody()->begin());
  outer.setAllArgAttrs(ArrayRef<DictionaryAttr>(argumentAttributes));
  b.setInsertionPointToStart(outer.addEntryBlock());
  SmallVector<Value> operands;
  for (auto [argument, inner] : llvm::zip_equal(outer.getArguments(), function.getArguments())) {
    argument.setLoc(inner.getLoc());
    auto type = dyn_cast<MemRefType>(inner.getType());
    operands.push_back(type ? copyToBuffer(b, argument, type) : argument);
  }
  SmallVector<Value> returned(func::CallOp::create(b, function, operands).getResults());
  for (unsigned i : written)
    returned.push_back(operands[i]);
  for (auto [value, type] : llvm::zip_equal(returned, results))
    if (isa<MemRefType>(value.getType()))
      value = bufferization::ToTensorOp::create(b, type, value, /*restrict=*/true);
  func::ReturnOp::create(b, returned);
  return llvm::Error::success();
}
