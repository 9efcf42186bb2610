// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-outline-kernels: move launches into named kernels of one module, equal ones once
// (exact).

#include "SameKernels.h"
#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Clones constants that the body uses into the body.
static void sinkConstants(gpu::LaunchOp launch) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  OpBuilder b = OpBuilder::atBlockBegin(&launch.getBody().front());
  for (Value value : captured) {
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<OpTrait::ConstantLike>())
      replaceAllUsesInRegionWith(value, b.clone(*op)->getResult(0), launch.getBody());
  }
}

/// Static sizes, strides and offset: the buffer is one bare pointer.
static bool isStaticBuffer(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  return type.hasStaticShape() && succeeded(type.getStridesAndOffset(strides, offset)) &&
         !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

/// Passes a dynamic buffer as its base and its dynamic offset, sizes and strides.
static void splitBuffer(gpu::LaunchOp launch, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Location loc = launch.getLoc();
  OpBuilder host(launch);
  auto metadata = memref::ExtractStridedMetadataOp::create(host, loc, buffer);
  OpBuilder device = OpBuilder::atBlockBegin(&launch.getBody().front());
  int64_t offset;
  SmallVector<int64_t> strides;
  (void)type.getStridesAndOffset(strides, offset);
  auto mixed = [&](ArrayRef<int64_t> statics, ValueRange dynamics) {
    SmallVector<OpFoldResult> result;
    for (auto [known, value] : llvm::zip_equal(statics, dynamics))
      result.push_back(ShapedType::isDynamic(known) ? OpFoldResult(value)
                                                    : device.getIndexAttr(known));
    return result;
  };
  SmallVector<OpFoldResult> sizes = mixed(type.getShape(), metadata.getSizes());
  SmallVector<OpFoldResult> steps = mixed(strides, metadata.getStrides());
  OpFoldResult start = mixed(offset, metadata.getOffset())[0];
  auto view = memref::ReinterpretCastOp::create(device, loc, type, metadata.getBaseBuffer(), start,
                                                sizes, steps);
  replaceAllUsesInRegionWith(buffer, view, launch.getBody());
}

/// A kernel's parameters hold 4 KiB on every target.
static constexpr int64_t kMostVectorElements = 256;

/// Passes a vector that the host computed as its elements.
static LogicalResult splitVector(gpu::LaunchOp launch, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (type.isScalable() || type.getNumElements() > kMostVectorElements)
    return launch.emitOpError("takes a vector that the host computed: ")
           << type << "; at most " << kMostVectorElements << " elements can be passed";
  OpBuilder host(launch), device = OpBuilder::atBlockBegin(&launch.getBody().front());
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(
        vector::ExtractOp::create(host, launch.getLoc(), vector, delinearize(i, strides)));
  Value whole = vector::FromElementsOp::create(device, launch.getLoc(), type, elements);
  replaceAllUsesInRegionWith(vector, whole, launch.getBody());
  return success();
}

static LogicalResult splitBuffers(gpu::LaunchOp launch) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  for (Value value : captured) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (isa<UnrankedMemRefType>(value.getType()) || (type && !type.isStrided()))
      return launch.emitOpError("uses a buffer that is no strided memref: ") << value.getType();
    if (type && !isStaticBuffer(type))
      splitBuffer(launch, value);
    if (isa<VectorType>(value.getType()) && failed(splitVector(launch, value)))
      return failure();
  }
  return success();
}

static std::string cleanName(StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) || c == '_' ? c : '_';
  return result.empty() || llvm::isDigit(result[0]) ? "k" + result : result;
}

namespace {

struct OutlineKernels : mlir::mp::impl::OutlineKernelsBase<OutlineKernels> {
  using Base::Base;

  gpu::GPUModuleOp kernelModule() {
    if (auto existing = getOperation().lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName))
      return existing;
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    return gpu::GPUModuleOp::create(b, getOperation().getLoc(), kKernelModuleName);
  }

  LogicalResult outline(gpu::LaunchOp launch, unsigned &count) {
    sinkConstants(launch);
    if (failed(splitBuffers(launch)))
      return failure();
    sinkConstants(launch);
    auto function = launch->getParentOfType<func::FuncOp>();
    std::string name = cleanName(function.getName()) + "_" + std::to_string(count);
    SmallVector<Value> operands;
    gpu::GPUFuncOp kernel = outlineKernelFunc(launch, name, operands);
    kernel->removeAttr(kernel.getKnownGridSizeAttrName());
    gpu::GPUFuncOp known = kernels.firstEqual(kernel);
    if (known == kernel) {
      SymbolTable(kernelModule()).insert(kernel);
      ++count;
    } else {
      kernel.erase();
    }
    OpBuilder b(launch);
    gpu::LaunchFuncOp::create(b, launch.getLoc(), known, launch.getGridSizeOperandValues(),
                              launch.getBlockSizeOperandValues(),
                              launch.getDynamicSharedMemorySize(), operands);
    launch.erase();
    return success();
  }

  void runOnOperation() override {
    // Also where nothing is launched: the module is one of kernels from here on.
    getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                            UnitAttr::get(&getContext()));
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<gpu::LaunchOp> launches;
      function.walk([&](gpu::LaunchOp launch) { launches.push_back(launch); });
      unsigned count = 0;
      for (gpu::LaunchOp launch : launches)
        if (failed(outline(launch, count)))
          return signalPassFailure();
    }
    kernels.clear();
  }

  SameKernels kernels;
};

} // namespace
