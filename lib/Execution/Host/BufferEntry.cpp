// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wraps functions on buffers in functions on contiguous buffers that the caller allocates.

#include "mp/Execution/Host/BufferEntry.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Execution/Executable.h"

using namespace mlir;
using namespace mlir::mp;

/// Functions on tensors know one memory.
static void mergeMemorySpaces(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
    return type.getMemorySpace() ? MemRefType::Builder(type).setMemorySpace({}) : type;
  });
  replacer.addReplacement([](UnrankedMemRefType type) -> std::optional<Type> {
    return UnrankedMemRefType::get(type.getElementType(), Attribute());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  module.walk([](memref::MemorySpaceCastOp op) {
    op.replaceAllUsesWith(op.getSource());
    op.erase();
  });
}

/// The contiguous buffer of the same shape.
static MemRefType contiguous(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// The tensor with a buffer's contents; null for buffers whose layout a contiguous one has not.
static RankedTensorType tensorOf(MemRefType type) {
  if (type.getMemorySpace() ||
      (contiguous(type) != type && !memref::CastOp::areCastCompatible(contiguous(type), type)))
    return {};
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

/// Replaces buffers and vectors in `types` by tensors; false if one cannot be.
static bool toTensors(SmallVectorImpl<Type> &types, bool &any) {
  for (Type &type : types) {
    auto buffer = dyn_cast<MemRefType>(type);
    auto vector = dyn_cast<VectorType>(type);
    if (isa<UnrankedMemRefType>(type) || (vector && vector.isScalable()))
      return false;
    if (!buffer && !vector)
      continue;
    any = true;
    type = buffer ? tensorOf(buffer)
                  : RankedTensorType::get(vector.getShape(), vector.getElementType());
    if (!type)
      return false;
  }
  return true;
}

/// True if every user says that it only reads.
static bool isOnlyRead(Value buffer) {
  return llvm::all_of(buffer.getUses(), [](OpOperand &use) {
    auto op = dyn_cast<MemoryEffectOpInterface>(use.getOwner());
    SmallVector<MemoryEffects::EffectInstance> effects;
    if (op)
      op.getEffectsOnValue(use.get(), effects);
    return !effects.empty() && llvm::all_of(effects, [](auto &effect) {
      return isa<MemoryEffects::Read>(effect.getEffect());
    });
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

static Value zeroIndex(ImplicitLocOpBuilder &b) { return arith::ConstantIndexOp::create(b, 0); }

static Value readVector(ImplicitLocOpBuilder &b, Value tensor, VectorType type) {
  Value padding = arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  SmallVector<Value> indices(type.getRank(), zeroIndex(b));
  return vector::TransferReadOp::create(b, type, tensor, indices, padding,
                                        SmallVector<bool>(type.getRank(), true));
}

static Value writeVector(ImplicitLocOpBuilder &b, Value vector, RankedTensorType type) {
  Value empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  SmallVector<Value> indices(type.getRank(), zeroIndex(b));
  return vector::TransferWriteOp::create(b, vector, empty, indices,
                                         SmallVector<bool>(type.getRank(), true))
      .getResult();
}

llvm::Error mlir::mp::exposeBuffers(ModuleOp module, StringRef entry) {
  auto found = findEntry(module, entry);
  if (!found)
    return found.takeError();
  if (isLoweredForDevices(module))
    return llvm::Error::success();
  mergeMemorySpaces(module);
  func::FuncOp function = *found;
  SmallVector<Type> arguments(function.getArgumentTypes()), results(function.getResultTypes());
  bool any = false;
  if (!toTensors(arguments, any) || !toTensors(results, any) || !any)
    return llvm::Error::success();
  SmallVector<unsigned> written;
  for (auto [i, argument] : llvm::enumerate(function.getArguments()))
    if (isa<MemRefType>(argument.getType()) && !isOnlyRead(argument)) {
      written.push_back(i);
      results.push_back(arguments[i]);
    }

  module.getContext()
      ->loadDialect<arith::ArithDialect, bufferization::BufferizationDialect, memref::MemRefDialect,
                    tensor::TensorDialect, vector::VectorDialect>();
  SmallVector<DictionaryAttr> argumentAttributes;
  function.getAllArgAttrs(argumentAttributes);
  SymbolTable symbols(module);
  std::string name = function.getName().str();
  ImplicitLocOpBuilder b(function.getLoc(), function);
  auto outer = func::FuncOp::create(b, name, b.getFunctionType(arguments, results));
  function.setPrivate();
  if (failed(symbols.rename(function, name + "_on_buffers")))
    return llvm::createStringError("@" + name + "_on_buffers exists already: @" + name +
                                   ", a function on buffers or vectors, cannot be called");
  symbols.insert(outer, module.getBody()->begin());
  outer.setAllArgAttrs(ArrayRef<DictionaryAttr>(argumentAttributes));
  b.setInsertionPointToStart(outer.addEntryBlock());
  SmallVector<Value> operands;
  for (auto [argument, inner] : llvm::zip_equal(outer.getArguments(), function.getArguments())) {
    argument.setLoc(inner.getLoc());
    if (auto buffer = dyn_cast<MemRefType>(inner.getType()))
      operands.push_back(copyToBuffer(b, argument, buffer));
    else if (auto vector = dyn_cast<VectorType>(inner.getType()))
      operands.push_back(readVector(b, argument, vector));
    else
      operands.push_back(argument);
  }
  SmallVector<Value> returned(func::CallOp::create(b, function, operands).getResults());
  for (unsigned i : written)
    returned.push_back(operands[i]);
  for (auto [value, type] : llvm::zip_equal(returned, results))
    if (isa<MemRefType>(value.getType()))
      value = bufferization::ToTensorOp::create(b, type, value, /*restrict=*/true);
    else if (isa<VectorType>(value.getType()))
      value = writeVector(b, value, cast<RankedTensorType>(type));
  func::ReturnOp::create(b, returned);
  return llvm::Error::success();
}
