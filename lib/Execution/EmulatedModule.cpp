// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Execution/EmulatedModule.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mp;
using namespace ::mp::emulator;

namespace {

/// A view of device memory; offset, sizes and strides in elements.
struct Buffer {
  DevicePtr base = 0;
  int64_t offset = 0;
  SmallVector<int64_t> sizes, strides;
};

/// A value of the host: a scalar as an attribute, or a buffer.
struct Cell {
  Attribute scalar;
  Buffer buffer;
};

SmallVector<int64_t> rowMajor(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(sizes[i], 1);
  return strides;
}

unsigned elementBytes(Type type) { return ElementType::of(type)->bytes(); }

llvm::Error unsupported(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << op->getName() << " at " << op->getLoc();
  return llvm::createStringError("the host interpreter does not know " + text);
}

/// The bits of a scalar, low ones first.
APInt scalarBits(Attribute scalar) {
  if (auto real = dyn_cast<FloatAttr>(scalar))
    return real.getValue().bitcastToAPInt();
  return cast<IntegerAttr>(scalar).getValue();
}

Attribute scalarFrom(Type type, uint64_t bits) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(real.getFloatSemantics(), APInt(real.getWidth(), bits, false, true)));
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, APInt(width, bits, false, true));
}

} // namespace

struct EmulatedModule::State {
  ModuleOp module;
  LaunchOptions options;
  Device device;
  llvm::StringMap<std::unique_ptr<::mp::emulator::Module>> binaries;
  llvm::StringMap<Buffer> globals;
  DenseMap<Value, Cell> values;
  LaunchStats stats;

  int64_t integer(Value value) { return scalarBits(values[value].scalar).getSExtValue(); }
  SmallVector<int64_t> integers(ValueRange range) {
    SmallVector<int64_t> result;
    for (Value value : range)
      result.push_back(integer(value));
    return result;
  }
  int64_t integer(OpFoldResult size) {
    if (auto attribute = dyn_cast<Attribute>(size))
      return cast<IntegerAttr>(attribute).getInt();
    return integer(cast<Value>(size));
  }
  void set(Value value, int64_t number) {
    values[value].scalar = scalarFrom(value.getType(), uint64_t(number));
  }

  llvm::Expected<Buffer> allocate(ArrayRef<int64_t> sizes, Type element) {
    int64_t bytes = elementBytes(element);
    for (int64_t size : sizes)
      bytes *= size;
    auto pointer = device.alloc(bytes);
    if (!pointer)
      return pointer.takeError();
    return Buffer{*pointer, 0, SmallVector<int64_t>(sizes), rowMajor(sizes)};
  }

  llvm::Expected<Buffer> upload(const Array &array) {
    auto pointer = device.alloc(array.data.size());
    if (!pointer)
      return pointer.takeError();
    ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(array.data.data()), array.data.size());
    if (!bytes.empty())
      if (llvm::Error error = device.write(*pointer, bytes))
        return std::move(error);
    return Buffer{*pointer, 0, array.shape, rowMajor(array.shape)};
  }

  llvm::Expected<Array> download(const Buffer &buffer, Type element) {
    Array array(*ElementType::of(element), buffer.sizes);
    unsigned bytes = elementBytes(element);
    SmallVector<int64_t> position(buffer.sizes.size(), 0);
    if (buffer.strides == rowMajor(buffer.sizes)) {
      if (array.data.empty())
        return array;
      MutableArrayRef<uint8_t> all(reinterpret_cast<uint8_t *>(array.data.data()), array.data.size());
      if (llvm::Error error = device.read(buffer.base + buffer.offset * bytes, all))
        return std::move(error);
      return array;
    }
    for (int64_t i = 0, e = array.size(); i < e; ++i) {
      int64_t at = buffer.offset;
      for (auto [index, stride] : llvm::zip_equal(position, buffer.strides))
        at += index * stride;
      MutableArrayRef<uint8_t> one(reinterpret_cast<uint8_t *>(array.data.data()) + i * bytes, bytes);
      if (llvm::Error error = device.read(buffer.base + at * bytes, one))
        return std::move(error);
      for (size_t dim = position.size(); dim-- > 0;) {
        if (++position[dim] < buffer.sizes[dim])
          break;
        position[dim] = 0;
      }
    }
    return array;
  }

  llvm::Error global(memref::GetGlobalOp op);
  llvm::Error launch(gpu::LaunchFuncOp op);
  llvm::Error view(Operation *op);
  llvm::Error hostRead(memref::LoadOp op);
  llvm::Error loop(scf::ForOp op);
  llvm::Error whileLoop(scf::WhileOp op);
  llvm::Error step(Operation *op);
  llvm::Expected<SmallVector<Cell>> region(Region &region, ArrayRef<Cell> arguments);
  SmallVector<Cell> cells(ValueRange range) {
    SmallVector<Cell> result;
    for (Value value : range)
      result.push_back(values[value]);
    return result;
  }
  void bind(ValueRange targets, ArrayRef<Cell> sources) {
    for (auto [target, source] : llvm::zip_equal(targets, sources))
      values[target] = source;
  }
};

llvm::Error EmulatedModule::State::global(memref::GetGlobalOp op) {
  auto [entry, fresh] = globals.try_emplace(op.getName());
  if (fresh) {
    auto symbol = module.lookupSymbol<memref::GlobalOp>(op.getName());
    Array array(*ElementType::of(symbol.getType().getElementType()), symbol.getType().getShape());
    if (auto dense = dyn_cast_or_null<DenseElementsAttr>(symbol.getInitialValueAttr())) {
      bool isFloat = isa<FloatType>(dense.getElementType());
      int64_t i = 0;
      if (isFloat)
        for (const APFloat &value : dense.getValues<APFloat>())
          array.setPattern(i++, value.bitcastToAPInt().getZExtValue());
      else
        for (const APInt &value : dense.getValues<APInt>())
          array.setPattern(i++, value.getZExtValue());
    } else if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(symbol.getInitialValueAttr());
               resource && resource.getData().size() == array.data.size()) {
      llvm::copy(resource.getData(), array.data.begin());
    } else {
      return llvm::createStringError("constant '" + op.getName() + "' has no readable value");
    }
    auto buffer = upload(array);
    if (!buffer)
      return buffer.takeError();
    entry->second = *buffer;
  }
  values[op.getResult()].buffer = entry->second;
  return llvm::Error::success();
}

llvm::Error EmulatedModule::State::launch(gpu::LaunchFuncOp op) {
  auto binary = binaries.find(op.getKernelModuleName());
  if (binary == binaries.end())
    return llvm::createStringError("no PTX for kernel module '" + op.getKernelModuleName().getValue() + "'");
  SmallVector<KernelArg> arguments;
  for (Value operand : op.getKernelOperands()) {
    const Cell &cell = values[operand];
    if (isa<MemRefType>(operand.getType())) {
      arguments.push_back(KernelArg::value(cell.buffer.base));
      continue;
    }
    uint64_t bits = scalarBits(cell.scalar).getZExtValue();
    ArrayRef<uint8_t> bytes(reinterpret_cast<uint8_t *>(&bits), elementBytes(operand.getType()));
    arguments.push_back(KernelArg::bytes(bytes));
  }
  gpu::KernelDim3 grid = op.getGridSizeOperandValues(), block = op.getBlockSizeOperandValues();
  auto dim = [&](gpu::KernelDim3 size) {
    return Dim3{uint32_t(integer(size.x)), uint32_t(integer(size.y)), uint32_t(integer(size.z))};
  };
  uint32_t shared = op.getDynamicSharedMemorySize() ? integer(op.getDynamicSharedMemorySize()) : 0;
  auto result = device.launch(*binary->second, op.getKernelName().getValue(), dim(grid), dim(block),
                              shared, arguments, options);
  if (!result)
    return result.takeError();
  stats.add(*result);
  return llvm::Error::success();
}

/// Ops that make one buffer from another.
llvm::Error EmulatedModule::State::view(Operation *op) {
  Buffer source = values[op->getOperand(0)].buffer;
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    values[metadata.getBaseBuffer()].buffer = Buffer{source.base, 0, {}, {}};
    set(metadata.getOffset(), source.offset);
    for (auto [result, size] : llvm::zip_equal(metadata.getSizes(), source.sizes))
      set(result, size);
    for (auto [result, stride] : llvm::zip_equal(metadata.getStrides(), source.strides))
      set(result, stride);
    return llvm::Error::success();
  }
  auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
  if (!type)
    return unsupported(op);
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    Buffer result{source.base, source.offset, {}, {}};
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    for (size_t i = 0; i < source.sizes.size(); ++i) {
      result.offset += integer(subview.getMixedOffsets()[i]) * source.strides[i];
      if (dropped[i])
        continue;
      result.sizes.push_back(integer(subview.getMixedSizes()[i]));
      result.strides.push_back(integer(subview.getMixedStrides()[i]) * source.strides[i]);
    }
    values[op->getResult(0)].buffer = result;
    return llvm::Error::success();
  }
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    Buffer result{source.base, 0, {}, {}};
    result.offset = integer(cast.getMixedOffsets()[0]);
    for (OpFoldResult size : cast.getMixedSizes())
      result.sizes.push_back(integer(size));
    for (OpFoldResult stride : cast.getMixedStrides())
      result.strides.push_back(integer(stride));
    values[op->getResult(0)].buffer = result;
    return llvm::Error::success();
  }
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    Buffer result{source.base, source.offset, {}, {}};
    for (OpFoldResult size : expand.getMixedOutputShape())
      result.sizes.push_back(integer(size));
    result.strides.resize(result.sizes.size(), 1);
    for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices())) {
      int64_t stride = source.strides[dim];
      for (int64_t inner : llvm::reverse(group)) {
        result.strides[inner] = stride;
        stride *= result.sizes[inner];
      }
    }
    values[op->getResult(0)].buffer = result;
    return llvm::Error::success();
  }
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    Buffer result{source.base, source.offset, {}, {}};
    for (const auto &group : collapse.getReassociationIndices()) {
      int64_t size = 1, stride = 1;
      for (int64_t dim : group) {
        size *= source.sizes[dim];
        if (source.sizes[dim] != 1)
          stride = source.strides[dim];
      }
      result.sizes.push_back(size);
      result.strides.push_back(stride);
    }
    values[op->getResult(0)].buffer = result;
    return llvm::Error::success();
  }
  if (isa<memref::CastOp, memref::MemorySpaceCastOp>(op)) {
    values[op->getResult(0)].buffer = source;
    return llvm::Error::success();
  }
  return unsupported(op);
}

llvm::Error EmulatedModule::State::hostRead(memref::LoadOp op) {
  const Buffer &buffer = values[op.getMemRef()].buffer;
  int64_t at = buffer.offset;
  for (auto [index, stride] : llvm::zip_equal(integers(op.getIndices()), buffer.strides))
    at += index * stride;
  unsigned bytes = elementBytes(op.getType());
  uint64_t bits = 0;
  MutableArrayRef<uint8_t> data(reinterpret_cast<uint8_t *>(&bits), bytes);
  if (llvm::Error error = device.read(buffer.base + at * bytes, data))
    return error;
  values[op.getResult()].scalar = scalarFrom(op.getType(), bits);
  return llvm::Error::success();
}

llvm::Error EmulatedModule::State::loop(scf::ForOp op) {
  SmallVector<Cell> carried = cells(op.getInitArgs());
  int64_t upper = integer(op.getUpperBound()), by = integer(op.getStep());
  for (int64_t i = integer(op.getLowerBound()); i < upper; i += by) {
    SmallVector<Cell> arguments(1);
    arguments[0].scalar = scalarFrom(op.getInductionVar().getType(), i);
    arguments.append(carried);
    auto next = region(op.getRegion(), arguments);
    if (!next)
      return next.takeError();
    carried = std::move(*next);
  }
  bind(op.getResults(), carried);
  return llvm::Error::success();
}

llvm::Error EmulatedModule::State::whileLoop(scf::WhileOp op) {
  SmallVector<Cell> carried = cells(op.getInits());
  while (true) {
    auto condition = region(op.getBefore(), carried);
    if (!condition)
      return condition.takeError();
    bool more = !scalarBits(condition->front().scalar).isZero();
    carried.assign(condition->begin() + 1, condition->end());
    if (!more)
      break;
    auto next = region(op.getAfter(), carried);
    if (!next)
      return next.takeError();
    carried = std::move(*next);
  }
  bind(op.getResults(), carried);
  return llvm::Error::success();
}

llvm::Error EmulatedModule::State::step(Operation *op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    SmallVector<int64_t> sizes(alloc.getType().getShape());
    auto dynamic = alloc.getDynamicSizes().begin();
    for (int64_t &size : sizes)
      if (ShapedType::isDynamic(size))
        size = integer(*dynamic++);
    auto buffer = allocate(sizes, alloc.getType().getElementType());
    if (!buffer)
      return buffer.takeError();
    values[alloc.getResult()].buffer = *buffer;
    return llvm::Error::success();
  }
  if (auto get = dyn_cast<memref::GetGlobalOp>(op))
    return global(get);
  if (auto kernel = dyn_cast<gpu::LaunchFuncOp>(op))
    return launch(kernel);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return hostRead(load);
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    set(dim, values[dim.getSource()].buffer.sizes[integer(dim.getIndex())]);
    return llvm::Error::success();
  }
  if (auto forOp = dyn_cast<scf::ForOp>(op))
    return loop(forOp);
  if (auto whileOp = dyn_cast<scf::WhileOp>(op))
    return whileLoop(whileOp);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Region &chosen = integer(branch.getCondition()) != 0 ? branch.getThenRegion() : branch.getElseRegion();
    if (chosen.empty())
      return llvm::Error::success();
    auto results = region(chosen, {});
    if (!results)
      return results.takeError();
    bind(branch.getResults(), *results);
    return llvm::Error::success();
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return unsupported(op);
    auto results = region(callee.getBody(), cells(call.getOperands()));
    if (!results)
      return results.takeError();
    bind(call.getResults(), *results);
    return llvm::Error::success();
  }
  if (op->getNumOperands() > 0 && isa<MemRefType>(op->getOperand(0).getType()))
    return view(op);
  if (isa<memref::DeallocOp, cf::AssertOp>(op))
    return llvm::Error::success();
  // Scalar arithmetic: what the folders know of constants.
  if (op->getNumResults() == 0)
    return unsupported(op);
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(values[operand].scalar);
  SmallVector<OpFoldResult> folded;
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant))) {
    values[op->getResult(0)].scalar = constant;
    return llvm::Error::success();
  }
  if (failed(op->fold(operands, folded)) || folded.size() != op->getNumResults())
    return unsupported(op);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), folded))
    values[result] = isa<Attribute>(value) ? Cell{cast<Attribute>(value), {}} : values[cast<Value>(value)];
  return llvm::Error::success();
}

/// Runs a region; returns the operands of the terminator that leaves it.
llvm::Expected<SmallVector<Cell>> EmulatedModule::State::region(Region &region, ArrayRef<Cell> arguments) {
  Block *block = &region.front();
  SmallVector<Cell> incoming(arguments);
  while (true) {
    bind(block->getArguments(), incoming);
    for (Operation &op : block->without_terminator())
      if (llvm::Error error = step(&op))
        return std::move(error);
    Operation *last = block->getTerminator();
    if (auto branch = dyn_cast<cf::BranchOp>(last)) {
      incoming = cells(branch.getDestOperands());
      block = branch.getDest();
    } else if (auto branch = dyn_cast<cf::CondBranchOp>(last)) {
      bool taken = integer(branch.getCondition()) != 0;
      incoming = cells(taken ? branch.getTrueDestOperands() : branch.getFalseDestOperands());
      block = taken ? branch.getTrueDest() : branch.getFalseDest();
    } else {
      return cells(last->getOperands());
    }
  }
}

EmulatedModule::EmulatedModule() : state(std::make_unique<State>()) {}
EmulatedModule::~EmulatedModule() = default;
const LaunchStats &EmulatedModule::stats() const { return state->stats; }

llvm::Expected<std::unique_ptr<EmulatedModule>>
EmulatedModule::create(ModuleOp module, const LaunchOptions &options) {
  std::unique_ptr<EmulatedModule> result(new EmulatedModule());
  result->state->module = module;
  result->state->options = options;
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    auto object = dyn_cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    if (!object || object.getFormat() != gpu::CompilationTarget::Assembly)
      return llvm::createStringError("'" + binary.getName() + "' holds no PTX: lower with emit=ptx");
    auto loaded = loadModule(object.getObject().getValue(), binary.getName());
    if (!loaded)
      return loaded.takeError();
    result->state->binaries[binary.getName()] = std::move(*loaded);
  }
  return result;
}

llvm::Expected<std::vector<Array>> EmulatedModule::run(StringRef name, ArrayRef<Array> arguments) {
  auto function = state->module.lookupSymbol<func::FuncOp>(name);
  if (!function || function.isExternal())
    return llvm::createStringError("there is no function '" + name + "' to run");
  if (function.getNumArguments() != arguments.size())
    return llvm::createStringError("'" + name + "' takes " + llvm::Twine(function.getNumArguments()) +
                                   " arguments, found " + llvm::Twine(arguments.size()));
  SmallVector<Cell> cells;
  for (auto [type, array] : llvm::zip_equal(function.getArgumentTypes(), arguments)) {
    Cell cell;
    if (isa<MemRefType>(type)) {
      auto buffer = state->upload(array);
      if (!buffer)
        return buffer.takeError();
      cell.buffer = *buffer;
    } else {
      cell.scalar = scalarFrom(type, array.pattern(0));
    }
    cells.push_back(cell);
  }
  auto results = state->region(function.getBody(), cells);
  if (!results)
    return results.takeError();
  std::vector<Array> arrays;
  for (auto [type, cell] : llvm::zip_equal(function.getResultTypes(), *results)) {
    if (auto buffer = dyn_cast<MemRefType>(type)) {
      auto array = state->download(cell.buffer, buffer.getElementType());
      if (!array)
        return array.takeError();
      arrays.push_back(std::move(*array));
      continue;
    }
    Array array(*ElementType::of(type), {});
    array.setPattern(0, scalarBits(cell.scalar).getZExtValue());
    arrays.push_back(std::move(array));
  }
  return arrays;
}
