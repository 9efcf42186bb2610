// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Begins kernels, takes their operands apart, and launches them.

#include "KernelFunction.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mp/Kernels/Dispatches.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

/// Bytes that the addresses of buffers are multiples of.
static constexpr int64_t kBufferAlignment = 16;

int64_t KernelOperand::alignment(int64_t most, function_ref<bool(unsigned)> along) const {
  int64_t width = llvm::bit_floor(uint64_t(std::max<int64_t>(most, 1)));
  width = std::min(width, std::max<int64_t>(kBufferAlignment / bytes(), 1));
  auto suits = [&](const Size &size) {
    while (width > 1 && !size.divides(width))
      width /= 2;
  };
  suits(offset);
  for (auto [i, stride] : llvm::enumerate(strides))
    if (!along(i) && !sizes[i].is(1))
      suits(stride);
  return width;
}

/// A buffer whose shape, offset and strides are in its type is one pointer.
static bool isStatic(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  return type.hasStaticShape() && !ShapedType::isDynamic(offset) &&
         llvm::none_of(strides, ShapedType::isDynamic);
}

/// True if every offset into the buffer fits 31 bits for certain.
static bool isSmall(Type operand) {
  auto type = dyn_cast<MemRefType>(operand);
  if (!type)
    return true;
  if (!isStatic(type))
    return false;
  auto [strides, offset] = type.getStridesAndOffset();
  double last = double(offset);
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
    last += double(size) * double(std::abs(stride));
  return last < double(int64_t(1) << 30);
}

KernelFunction::KernelFunction(gpu::GPUModuleOp module, Location loc, StringRef name,
                               TypeRange operandTypes, unsigned threads)
    : d{ImplicitLocOpBuilder(loc, module.getContext()), Type()} {
  ImplicitLocOpBuilder &b = d.b;
  d.indexType = llvm::all_of(operandTypes, isSmall) ? b.getI32Type() : b.getI64Type();
  SmallVector<Type> arguments;
  for (Type operand : operandTypes) {
    auto type = dyn_cast<MemRefType>(operand);
    if (!type || isStatic(type)) {
      arguments.push_back(operand);
      continue;
    }
    arguments.push_back(
        MemRefType::get({}, type.getElementType(), AffineMap(), type.getMemorySpace()));
    auto [strides, offset] = type.getStridesAndOffset();
    int64_t dynamic = ShapedType::isDynamic(offset) +
                      llvm::count_if(strides, ShapedType::isDynamic) + type.getNumDynamicDims();
    arguments.append(dynamic, b.getIndexType());
  }
  b.setInsertionPointToEnd(module.getBody());
  function = gpu::GPUFuncOp::create(b, name, b.getFunctionType(arguments, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  Block &entry = function.getBody().front();
  b.setInsertionPointToStart(&entry);
  gpu::ReturnOp::create(b);
  b.setInsertionPointToStart(&entry);

  auto next = entry.args_begin();
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext(), 1);
  auto size = [&](int64_t known) {
    if (!ShapedType::isDynamic(known))
      return Size::known(known);
    return Size{0, arith::IndexCastOp::create(b, d.indexType, *next++)};
  };
  for (Type operand : operandTypes) {
    KernelOperand made;
    made.type = operand;
    auto type = dyn_cast<MemRefType>(operand);
    if (!type) {
      made.scalar = *next++;
      operands.push_back(std::move(made));
      continue;
    }
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, *next++);
    address = arith::IndexCastOp::create(b, b.getI64Type(), address);
    made.pointer = LLVM::IntToPtrOp::create(b, pointerType, address);
    auto [strides, offset] = type.getStridesAndOffset();
    made.offset = size(offset);
    for (int64_t known : type.getShape())
      made.sizes.push_back(size(known));
    for (int64_t known : strides)
      made.strides.push_back(size(known));
    operands.push_back(std::move(made));
  }
}

Value KernelFunction::extent(const LoopPlan &plan, ArrayRef<unsigned> loops) {
  Value product = d.ix(1);
  for (unsigned loop : loops) {
    const StreamLoop &l = plan.loops[loop];
    product =
        d.mul(product, ShapedType::isDynamic(l.size) ? d.ix(operands[l.argument].sizes[l.dimension])
                                                     : d.ix(l.size));
  }
  return product;
}

SmallVector<Value> KernelFunction::where(Value inside, TypeRange types,
                                         function_ref<SmallVector<Value>()> make) {
  if (!inside)
    return make();
  ImplicitLocOpBuilder &b = d.b;
  auto branch = scf::IfOp::create(b, types, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, make());
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> zeros;
  for (Type type : types)
    zeros.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
  scf::YieldOp::create(b, zeros);
  return llvm::to_vector_of<Value>(branch.getResults());
}

Value KernelFunction::sharedRoom(int64_t bytes) {
  // Kernels that need as much share the variable, not the memory, so that equal ones are equal.
  std::string name = "shared_" + std::to_string(bytes);
  auto module = function->getParentOfType<gpu::GPUModuleOp>();
  auto room = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!room) {
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(module.getBody());
    room = LLVM::GlobalOp::create(d.b, LLVM::LLVMArrayType::get(d.b.getI8Type(), bytes),
                                  /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(),
                                  /*alignment=*/128, /*addrSpace=*/3);
  }
  return LLVM::AddressOfOp::create(d.b, room);
}

Value KernelFunction::dynamicShared() {
  auto module = function->getParentOfType<gpu::GPUModuleOp>();
  LLVM::GlobalOp shared = dynamicSharedMemory(module, d.b.getLoc());
  return LLVM::PtrToIntOp::create(d.b, d.b.getI32Type(), LLVM::AddressOfOp::create(d.b, shared));
}

Value KernelFunction::thread() { return NVVM::ThreadIdXOp::create(d.b, d.b.getI32Type()); }
Value KernelFunction::block() { return NVVM::BlockIdXOp::create(d.b, d.b.getI32Type()); }
void KernelFunction::barrier() { gpu::BarrierOp::create(d.b); }

Value mlir::mp::anyThread(DeviceBuilder &device, Value condition) {
  Type word = device.b.getI32Type();
  auto any = NVVM::BarrierReductionAttr::get(device.b.getContext(), NVVM::BarrierReduction::OR);
  auto made = NVVM::BarrierOp::create(device.b, word, Value(), Value(), any,
                                      arith::ExtUIOp::create(device.b, word, condition));
  return arith::CmpIOp::create(device.b, arith::CmpIPredicate::ne, made.getResult(0),
                               device.i32(0));
}

SmallVector<Value> mlir::mp::kernelArguments(OpBuilder &host, Location loc, ValueRange operands) {
  SmallVector<Value> arguments;
  for (Value operand : operands) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type || isStatic(type)) {
      arguments.push_back(operand);
      continue;
    }
    auto metadata = memref::ExtractStridedMetadataOp::create(host, loc, operand);
    arguments.push_back(metadata.getBaseBuffer());
    auto [strides, offset] = type.getStridesAndOffset();
    if (ShapedType::isDynamic(offset))
      arguments.push_back(metadata.getOffset());
    for (auto [known, size] : llvm::zip_equal(type.getShape(), metadata.getSizes()))
      if (ShapedType::isDynamic(known))
        arguments.push_back(size);
    for (auto [known, stride] : llvm::zip_equal(strides, metadata.getStrides()))
      if (ShapedType::isDynamic(known))
        arguments.push_back(stride);
  }
  return arguments;
}

Value mlir::mp::hostExtent(OpBuilder &host, Location loc, const LoopPlan &plan,
                           ArrayRef<unsigned> loops, ValueRange operands) {
  Value product = arith::ConstantIndexOp::create(host, loc, 1);
  for (unsigned loop : loops) {
    const StreamLoop &l = plan.loops[loop];
    Value size =
        ShapedType::isDynamic(l.size)
            ? memref::DimOp::create(host, loc, operands[l.argument], l.dimension).getResult()
            : arith::ConstantIndexOp::create(host, loc, l.size).getResult();
    product = host.createOrFold<arith::MulIOp>(loc, product, size);
  }
  return product;
}

void mlir::mp::launchKernel(OpBuilder &host, Location loc, gpu::GPUFuncOp kernel, Value blocks,
                            unsigned threads, ValueRange arguments, int64_t sharedBytes) {
  OpBuilder::InsertionGuard guard(host);
  std::optional<int64_t> known = getConstantIntValue(blocks);
  if (known == 0)
    return;
  if (!known) { // a grid of zero blocks is an error of the driver
    Value zero = arith::ConstantIndexOp::create(host, loc, 0);
    Value any = arith::CmpIOp::create(host, loc, arith::CmpIPredicate::sgt, blocks, zero);
    auto branch = scf::IfOp::create(host, loc, any, /*withElseRegion=*/false);
    host.setInsertionPointToStart(branch.thenBlock());
  }
  Value one = arith::ConstantIndexOp::create(host, loc, 1);
  Value size = arith::ConstantIndexOp::create(host, loc, threads);
  Value shared;
  if (sharedBytes != 0)
    shared = arith::ConstantIntOp::create(host, loc, sharedBytes, 32);
  gpu::LaunchFuncOp::create(host, loc, kernel, gpu::KernelDim3{blocks, one, one},
                            gpu::KernelDim3{size, one, one}, shared, arguments);
}

NumberLaunches::NumberLaunches(mpk::DispatchOp dispatch)
    : number(dispatch->getAttr(kDispatchNumberAttrName)), block(dispatch->getBlock()),
      before(dispatch->getPrevNode()), after(dispatch->getNextNode()) {}

NumberLaunches::~NumberLaunches() {
  if (!number)
    return;
  for (Operation *op = before ? before->getNextNode() : &block->front(); op != after;
       op = op->getNextNode())
    op->walk([&](gpu::LaunchFuncOp launch) { launch->setAttr(kDispatchNumberAttrName, number); });
}

LLVM::GlobalOp mlir::mp::dynamicSharedMemory(gpu::GPUModuleOp module, Location loc) {
  constexpr StringRef name = "mp_shared";
  if (auto existing = module.lookupSymbol<LLVM::GlobalOp>(name))
    return existing;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                                /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
                                /*alignment=*/1024, /*addrSpace=*/3);
}

void mlir::mp::keepWhole(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll =
      LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  // The name of the attribute of the branch that the loop becomes.
  loop->setAttr("loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}));
}

gpu::GPUModuleOp mlir::mp::kernelModuleOf(ModuleOp module) {
  if (auto existing = module.lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName))
    return existing;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), b.getUnitAttr());
  return gpu::GPUModuleOp::create(b, module.getLoc(), kKernelModuleName);
}
