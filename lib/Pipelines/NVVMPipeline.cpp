// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the pipeline mp-to-nvvm.

#include "mp/Pipelines/NVVMPipeline.h"

#include "SpillLadder.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Quant/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Host/Passes.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Transforms/Interop/Passes.h"
#include "mp/Transforms/Scale/Passes.h"
#include "mp/Transforms/Train/Passes.h"

using namespace mlir;
using namespace mlir::mp;

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::mp::buildFormPipeline(OpPassManager &pm, const NVVMPipelineOptions &options) {
  pm.addPass(createPrepareVectors()); // before anything folds
  pm.addPass(createResolveCalls());
  if (options.mma && options.sparse)
    pm.addPass(createFoldWeights());
  pm.addPass(createDecomposeTraining());
  pm.addPass(createDecomposeScaling());
  pm.addPass(createDecomposeSplit());
  pm.addNestedPass<func::FuncOp>(quant::createLowerQuantOps());
  pm.addPass(quant::createStripFuncQuantTypes());
  buildTosaToLinalgPipeline(pm);
  pm.addPass(createDropSigns());
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createDecomposeAggregates());
  pm.addNestedPass<func::FuncOp>(createSimplifySizes());
  if (options.mma)
    pm.addPass(createSelectContractions({options.target, options.sparse}));
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  if (options.dispatches) {
    pm.addNestedPass<func::FuncOp>(createSplitIndexReductions()); // while its loops are one
    pm.addNestedPass<func::FuncOp>(createFoldViews());
    pm.addNestedPass<func::FuncOp>(createSimplifySizes());
  }
  if (options.fuse)
    pm.addNestedPass<func::FuncOp>(createFuseElementwise());
  addCleanup(pm);
  if (options.dispatches) {
    pm.addNestedPass<func::FuncOp>(createFindEmptyRows());
    pm.addNestedPass<func::FuncOp>(createFormDispatches({options.target, options.attentionForm()}));
    addCleanup(pm);
    pm.addNestedPass<func::FuncOp>(createGroupDispatches());
    pm.addNestedPass<func::FuncOp>(createSelectSchedules({options.target}));
  }
  if (options.math == MathChoice::Auto)
    pm.addNestedPass<func::FuncOp>(
        createChooseFunctions({options.functionBudget, options.excessPrecision}));
}

static void buildBufferPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createRefuseDispatches());
  pm.addPass(createProtectArguments());
  pm.addPass(createBufferize());
  addCleanup(pm);
}

void mlir::mp::buildDispatchPipeline(OpPassManager &pm, const NVVMPipelineOptions &options) {
  buildFormPipeline(pm, options);
  buildBufferPipeline(pm);
}

void mlir::mp::buildKernelPipeline(OpPassManager &pm, const NVVMPipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createForallToForLoopPass());
  pm.addNestedPass<func::FuncOp>(createLowerAffinePass()); // loops that somebody wrote
  if (options.mma)
    pm.addPass(createEmitContractions({options.target, options.sums, options.sparse}));
  pm.addPass(createEmitDispatches({options.sums, options.accuracy(), options.target}));
  pm.addNestedPass<func::FuncOp>(createLinalgToLoops());
  addCleanup(pm);
  OpPassManager &function = pm.nest<func::FuncOp>(); // kernels that are outlined stay as they are
  function.addPass(createMapToLaunch());
  addCleanup(function);
  pm.addPass(createOutlineKernels());
  pm.addPass(createVerifyHost());
}

void mlir::mp::buildKernelLoweringPipeline(OpPassManager &pm, const NVVMPipelineOptions &options) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createScalarizeVectors());
  kernels.addPass(createConvertComplexToStandardPass());
  kernels.addPass(createLowerKernelCasts());
  kernels.addNestedPass<gpu::GPUFuncOp>(createLowerRareFormats());
  kernels.addPass(createExpandReshapes());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(memref::createExpandOpsPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createExpandMath({options.accuracy()}));
  addCleanup(kernels);
  VectorTransferToSCFOptions vectors; // those that somebody wrote
  kernels.addPass(createConvertVectorToSCFPass(vectors.enableFullUnroll()));
  kernels.addPass(createConvertVectorToLLVMPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createLowerDeviceMath());
  kernels.addPass(
      createConvertComplexToLLVMPass()); // pairs that are loaded, stored and taken apart
  if (options.excessPrecision)
    kernels.addPass(createKeepExcessPrecision());
  ConvertGpuOpsToNVVMOpsOptions convert;
  convert.indexBitwidth = 64;
  convert.useBarePtrCallConv = true;
  kernels.addPass(createConvertGpuOpsToNVVMOps(convert));
  addCleanup(kernels);
  kernels.addPass(createReconcileUnrealizedCastsPass());
  kernels.addPass(createVerifyKernels());
}

void mlir::mp::buildNVVMPipeline(OpPassManager &pm, const NVVMPipelineOptions &options) {
  if (options.format) {
    MixedPrecisionOptions precision;
    precision.format = options.format;
    precision.target = options.target;
    buildMixedPrecisionPipeline(pm, precision);
  }
  buildFormPipeline(pm, options);
  EmitKernelsOptions emit;
  emit.target = options.target;
  emit.emit = options.emit;
  emit.dir = options.dir;
  emit.allowSpills = options.allowSpills;
  auto lower = [&](OpPassManager &lowering) {
    buildBufferPipeline(lowering);
    buildKernelPipeline(lowering, options);
    buildKernelLoweringPipeline(lowering, options);
  };
  if (options.dispatches && options.emit != EmitFormat::PTX && !options.allowSpills) {
    OpPassManager lowering(ModuleOp::getOperationName());
    lower(lowering);
    pm.addPass(createSpillLadder(std::move(lowering), emit));
    return;
  }
  lower(pm);
  pm.addPass(createEmitKernels(emit));
}

namespace {

struct LoopPipelineOptions : PassPipelineOptions<LoopPipelineOptions> {
  Option<ThreadOrder> order{*this, "order",
                            llvm::cl::desc("Order in which the points of a kernel run"),
                            llvm::cl::init(ThreadOrder::Forward)};
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("Fuse elementwise ops"), llvm::cl::init(true)};
};

} // namespace

void mlir::mp::registerNVVMPipelines() {
  PassPipelineRegistration<NVVMPipelineOptions>(
      "mp-to-nvvm", "Lower a module to GPU kernels and serialise them", buildNVVMPipeline);
  PassPipelineRegistration<LoopPipelineOptions>(
      "mp-to-loops", "The loop nests that mp-to-nvvm would launch, for one CPU thread",
      [](OpPassManager &pm, const LoopPipelineOptions &options) {
        NVVMPipelineOptions shared;
        shared.mma = false;
        shared.fuse = options.fuse;
        shared.dispatches = false; // loops are what is looked for
        buildDispatchPipeline(pm, shared);
        pm.addNestedPass<func::FuncOp>(createForallToForLoopPass());
        pm.addNestedPass<func::FuncOp>(createLinalgToLoops());
        pm.addPass(createParallelToFor({options.order}));
        pm.addPass(createLowerKernelCasts());
        pm.addPass(createConvertMPToArith());
        pm.addPass(createExpandMath());
        addCleanup(pm);
      });
}
