// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-lower-launches: turn launches, read-backs and checks into calls of libMPRuntime
// (exact).

#include "Globals.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Kernels/Host/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_LOWERLAUNCHES
#include "mp/Kernels/Host/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// The type that a function had before mp-drop-signs.
static FunctionType typeForCallers(func::FuncOp function) {
  auto withSign = [](Type type, Attribute isUnsigned) -> Type {
    if (!isUnsigned)
      return type;
    Type element = getElementTypeOrSelf(type);
    auto unsignedType =
        IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth(), IntegerType::Unsigned);
    auto buffer = dyn_cast<MemRefType>(type);
    return buffer ? Type(MemRefType::Builder(buffer).setElementType(unsignedType)) : unsignedType;
  };
  SmallVector<Type> arguments, results;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    arguments.push_back(withSign(type, function.getArgAttr(index, kUnsignedAttrName)));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    results.push_back(withSign(type, function.getResultAttr(index, kUnsignedAttrName)));
  return FunctionType::get(function.getContext(), arguments, results);
}

namespace {

class HostLowering {
public:
  explicit HostLowering(ModuleOp module)
      : module(module), globals(module), b(module.getContext()), loc(module.getLoc()),
        pointer(globals.pointer()), word(globals.word()),
        nothing(LLVM::LLVMVoidType::get(module.getContext())) {}

  LogicalResult run() {
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(lower(function)))
        return failure();
    for (auto binary : llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>()))
      binary.erase();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
    return success();
  }

private:
  LogicalResult lower(func::FuncOp function) {
    if (function.isPublic())
      function->setAttr(kHostTypeAttrName, TypeAttr::get(typeForCallers(function)));
    arguments = shape = nullptr;
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      loc = op->getLoc();
      LogicalResult result = success();
      bool isComplex = isa<memref::LoadOp>(op)
                           ? isa<ComplexType>(op->getResult(0).getType())
                           : llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ComplexType>);
      if (isComplex && isa<memref::LoadOp, gpu::LaunchFuncOp>(op))
        result = op->emitOpError("passes a complex number between host and device, which compiled "
                                 "host code cannot; pass its parts");
      else if (auto kernel = dyn_cast<gpu::LaunchFuncOp>(op))
        result = launch(kernel, function);
      else if (auto fill = dyn_cast<gpu::MemsetOp>(op))
        result = clear(fill);
      else if (auto load = dyn_cast<memref::LoadOp>(op))
        read(load);
      else if (auto assertion = dyn_cast<cf::AssertOp>(op))
        check(assertion);
      else if (isa_and_nonnull<vector::VectorDialect>(op->getDialect()) &&
               llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>))
        result = op->emitOpError(
            "reads device memory as vectors on the host, which compiled host code cannot");
      if (failed(result))
        return failure();
    }
    return success();
  }

  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, word, b.getI64IntegerAttr(value));
  }
  Value addressOf(LLVM::GlobalOp global) { return LLVM::AddressOfOp::create(b, loc, global); }

  /// Memory of the host that a function's launches share; made in its entry block, where it is made
  /// once.
  Value scratch(Value &cache, func::FuncOp function, int64_t words) {
    if (!cache) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&function.front());
      cache = LLVM::AllocaOp::create(b, loc, pointer, word, constant(words));
    }
    return cache;
  }

  int64_t mostArguments(func::FuncOp function) {
    int64_t most = 1;
    function.walk(
        [&](gpu::LaunchFuncOp op) { most = std::max<int64_t>(most, op.getNumKernelOperands()); });
    return most;
  }

  void store(Value memory, int64_t index, Value value) {
    Value at =
        LLVM::GEPOp::create(b, loc, pointer, word, memory, ArrayRef<LLVM::GEPArg>{int32_t(index)});
    LLVM::StoreOp::create(b, loc, value, at);
  }

  /// The value as one word, its own bits low.
  Value asWord(Value value) {
    Type type = value.getType();
    if (isa<BaseMemRefType>(type)) {
      value = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, value);
      type = value.getType();
    }
    if (type.isIndex())
      return arith::IndexCastOp::create(b, loc, word, value);
    unsigned width = type.getIntOrFloatBitWidth();
    if (isa<FloatType>(type))
      value = arith::BitcastOp::create(b, loc, b.getIntegerType(width), value);
    return width == 64 ? value : arith::ExtUIOp::create(b, loc, word, value).getResult();
  }

  LLVM::GlobalOp moduleRecord(gpu::BinaryOp binary) {
    LLVM::GlobalOp &known = modules[binary.getName()];
    if (known)
      return known;
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    StringRef data = object.getObject().getValue();
    LLVM::GlobalOp image = globals.string((binary.getName() + "_image").str(), data);
    auto type =
        LLVM::LLVMStructType::getLiteral(module.getContext(), {pointer, word, pointer, pointer});
    known = globals.record(
        (binary.getName() + kModuleRecordSuffix).str(), type, false, [&](OpBuilder &inner) {
          Value null = LLVM::ZeroOp::create(inner, loc, pointer);
          Value bytes =
              LLVM::ConstantOp::create(inner, loc, word, inner.getI64IntegerAttr(data.size() + 1));
          Value at = LLVM::AddressOfOp::create(inner, loc, image);
          return Globals::makeStruct(inner, loc, type, {at, bytes, null, null});
        });
    known.setLinkage(LLVM::Linkage::External); // whoever runs the code can unload it
    return known;
  }

  FailureOr<LLVM::GlobalOp> kernelRecord(gpu::LaunchFuncOp op) {
    StringRef name = op.getKernelName().getValue();
    LLVM::GlobalOp &known = kernels[(op.getKernelModuleName().getValue() + "." + name).str()];
    if (known)
      return known;
    auto binary = module.lookupSymbol<gpu::BinaryOp>(op.getKernelModuleName());
    if (!binary)
      return op.emitOpError("launches a kernel of '")
             << op.getKernelModuleName().getValue()
             << "', which is no gpu.binary; mp-emit-kernels makes one";
    LLVM::GlobalOp owner = moduleRecord(binary);
    LLVM::GlobalOp text = globals.string((name + "_name").str(), name);
    auto type =
        LLVM::LLVMStructType::getLiteral(module.getContext(), {pointer, pointer, pointer, word});
    known = globals.record((name + "_kernel").str(), type, false, [&](OpBuilder &inner) {
      Value null = LLVM::ZeroOp::create(inner, loc, pointer);
      Value zero = LLVM::ConstantOp::create(inner, loc, word, inner.getI64IntegerAttr(0));
      Value at = LLVM::AddressOfOp::create(inner, loc, owner);
      Value named = LLVM::AddressOfOp::create(inner, loc, text);
      return Globals::makeStruct(inner, loc, type, {at, named, null, zero});
    });
    return known;
  }

  LogicalResult launch(gpu::LaunchFuncOp op, func::FuncOp function) {
    FailureOr<LLVM::GlobalOp> kernel = kernelRecord(op);
    if (failed(kernel))
      return failure();
    Value words = scratch(arguments, function, mostArguments(function)),
          extents = scratch(shape, function, 7);
    gpu::KernelDim3 grid = op.getGridSizeOperandValues(), block = op.getBlockSizeOperandValues();
    Value sizes[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
    for (auto [i, extent] : llvm::enumerate(sizes))
      store(extents, int64_t(i), asWord(extent));
    Value shared = op.getDynamicSharedMemorySize();
    store(extents, 6, shared ? asWord(shared) : constant(0));
    for (auto [i, operand] : llvm::enumerate(op.getKernelOperands()))
      store(words, int64_t(i), asWord(operand));
    auto callee =
        globals.function("mp_rt_device_launch", nothing, {pointer, pointer, pointer, word});
    LLVM::CallOp::create(
        b, loc, callee,
        ValueRange{addressOf(*kernel), extents, words, constant(op.getNumKernelOperands())});
    op.erase();
    return success();
  }

  /// Counters of blocks are zero when kernels begin.
  LogicalResult clear(gpu::MemsetOp op) {
    auto type = dyn_cast<MemRefType>(op.getDst().getType());
    if (op.getAsyncToken() || !op.getAsyncDependencies().empty() || !type ||
        !type.hasStaticShape() || !type.getLayout().isIdentity() || !isZero(op.getValue()))
      return op.emitOpError("expected zeros for a whole buffer of known size, and no tokens");
    auto callee = globals.function("mp_rt_device_clear", nothing, {pointer, word});
    Value address = LLVM::IntToPtrOp::create(b, loc, pointer, asWord(op.getDst()));
    const int64_t bytes =
        type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    LLVM::CallOp::create(b, loc, callee, ValueRange{address, constant(bytes)});
    op.erase();
    return success();
  }
  static bool isZero(Value value) {
    return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
  }

  /// One element, copied when what was launched before is done.
  void read(memref::LoadOp op) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, op.getMemRef());
    Value at = metadata.getOffset();
    for (auto [index, stride] : llvm::zip_equal(op.getIndices(), metadata.getStrides()))
      at = arith::AddIOp::create(b, loc, at, arith::MulIOp::create(b, loc, index, stride));
    Type type = op.getType();
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    int64_t bytes = llvm::PowerOf2Ceil(llvm::divideCeil(width, 8));
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, op.getMemRef());
    Value scale = arith::ConstantIndexOp::create(b, loc, bytes);
    Value address = arith::AddIOp::create(b, loc, base, arith::MulIOp::create(b, loc, at, scale));
    auto callee = globals.function("mp_rt_device_read", word, {word, word});
    Value bits = LLVM::CallOp::create(b, loc, callee, ValueRange{asWord(address), constant(bytes)})
                     .getResult();
    Value value = bits;
    if (type.isIndex()) {
      value = arith::IndexCastOp::create(b, loc, type, bits);
    } else {
      Type integer = b.getIntegerType(width);
      if (width < 64)
        value = arith::TruncIOp::create(b, loc, integer, value);
      if (type != integer)
        value = arith::BitcastOp::create(b, loc, type, value);
    }
    op.replaceAllUsesWith(value);
    op.erase();
  }

  void check(cf::AssertOp op) {
    std::string text;
    llvm::raw_string_ostream(text) << "assertion failed: " << op.getMsg() << " at " << loc;
    LLVM::GlobalOp message = globals.string("mp_check_" + std::to_string(checks++), text);
    Value holds = op.getArg();
    Value no = arith::XOrIOp::create(b, loc, holds,
                                     arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1));
    auto branch = scf::IfOp::create(b, loc, no, /*withElseRegion=*/false);
    b.setInsertionPoint(branch.thenYield());
    auto callee = globals.function("mp_rt_check_failed", nothing, {pointer});
    LLVM::CallOp::create(b, loc, callee, addressOf(message));
    op.erase();
  }

  ModuleOp module;
  Globals globals;
  OpBuilder b;
  Location loc;
  Type pointer, word, nothing;
  Value arguments, shape; ///< scratch of the current function
  llvm::StringMap<LLVM::GlobalOp> modules, kernels;
  unsigned checks = 0;
};

struct LowerLaunches : mlir::mp::impl::LowerLaunchesBase<LowerLaunches> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(HostLowering(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
