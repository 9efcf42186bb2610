// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-to-cpu: any graph to the LLVM dialect for the host.

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Quant/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Host/Passes.h"
#include "mp/Kernels/Passes.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Transforms/Interop/Passes.h"
#include "mp/Transforms/Optimize/Passes.h"
#include "mp/Transforms/Scale/Passes.h"
#include "mp/Transforms/Train/Passes.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::buildTosaToLinalgPipeline(OpPassManager &manager) {
  manager.addPass(createFoldEmptyTensors()); // the conversions refuse some of them
  OpPassManager &function = manager.nest<func::FuncOp>();
  // First: the conversions of ops refuse tosa.yield.
  function.addPass(createTosaToSCFPass());
  function.addPass(createDecomposeTransposeConv());
  function.addPass(tosa::createTosaMakeBroadcastablePass());
  function.addPass(tosa::createTosaToLinalgNamed());
  function.addPass(createCanonicalizerPass());
  function.addPass(tosa::createTosaInferShapesPass());
  function.addPass(tosa::createTosaMakeBroadcastablePass());
  function.addPass(tosa::createTosaToLinalgNamed());
  function.addPass(tosa::createTosaToLinalg());
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  function.addPass(createTosaToArithPass(arith));
  function.addPass(createTosaToTensorPass());
  function.addPass(createCanonicalizerPass()); // shapes that nothing reads any more
  manager.addPass(createFoldEmptyTensors());
}

/// Tensors to buffers, with frees.
static void addBufferization(OpPassManager &manager) {
  manager.addPass(createBufferize());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createFreeBuffers());
  manager.addPass(createConvertBufferizationToMemRefPass());
}

/// Arithmetic in formats the host lacks: each op in f32, its result rounded.
static void addNarrowArithmetic(OpPassManager &manager, HostMath functions) {
  if (functions == HostMath::Exact)
    manager.addPass(createExpandMath());
  math::MathExpandOpsPassOptions expanded;
  expanded.opMnemonics = {"clampf"};
  manager.addPass(math::createMathExpandOpsPass(expanded));
  math::MathExtendToSupportedTypesOptions math;
  math.targetTypeStr = "f32";
  manager.addPass(math::createMathExtendToSupportedTypes(math));
  manager.addPass(createEmulateNarrowArithmetic());
  manager.addPass(createConvertMPToArith());
  manager.addPass(createCallLibm());
}

void mlir::mp::buildScalarsToLLVMPipeline(OpPassManager &manager, HostMath functions) {
  manager.addPass(createConvertComplexToStandardPass());
  addNarrowArithmetic(manager, functions);
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());

  manager.addPass(createSCFToControlFlowPass());
  if (functions == HostMath::Exact)
    manager.addPass( // or an error: nothing may reach the library
        createLowerDeviceMath({.refinesRoots = false}));
  manager.addPass(arith::createArithExpandOpsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToFuncs()); // integer powers
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true;
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createConvertComplexToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addNestedPass<LLVM::LLVMFuncOp>(createLoadNarrowAsBits());
  manager.addNestedPass<LLVM::LLVMFuncOp>(
      createCanonicalizerPass()); // of the words of buffers most are read where they are known
}

void mlir::mp::buildCPUPipeline(OpPassManager &manager, const CPUOptions &options) {
  manager.addPass(createPrepareVectors()); // before anything folds
  manager.addPass(createResolveCalls());
  manager.addPass(createDecomposeTraining());
  manager.addPass(createDecomposeScaling());
  manager.addPass(createDecomposeSplit());
  if (options.promoteToF64)
    manager.addPass(createHideConstants()); // before anything folds
  manager.addNestedPass<func::FuncOp>(quant::createLowerQuantOps());
  manager.addPass(quant::createStripFuncQuantTypes());
  buildTosaToLinalgPipeline(manager);
  manager.addNestedPass<func::FuncOp>(createDecomposeAggregates());
  manager.addNestedPass<func::FuncOp>(createLiftBlockLoops());
  manager.addPass(createLowerAffinePass()); // its loads and stores are checked like any
  manager.addPass(createCheckBounds());
  manager.addPass(createPrepareForCPU());
  manager.addPass(createProtectArguments());
  if (options.promoteToF64)
    manager.addPass(createPromoteToF64());
  manager.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  manager.addNestedPass<func::FuncOp>(createInlineSplats());
  if (options.fuse) {
    FuseElementwiseOptions fusion;
    fusion.reductions = false;
    manager.addNestedPass<func::FuncOp>(createFuseElementwise(fusion));
  }
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  // Behind all that merges or makes values, so that what is planned is what is allocated.
  if (options.maxMemory > 0) {
    RecomputeOptions memory;
    memory.maxMemory = options.maxMemory;
    memory.narrow = options.storeNarrow;
    memory.late = true;
    manager.addPass(createRecompute(memory));
    manager.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass()); // its casts
  }
  addBufferization(manager);
  manager.addPass(createKeepTypes());
  manager.addPass(createConvertCheckToRuntime());
  manager.addPass(createConvertCommToRuntime());
  if (options.runtimeContractions)
    manager.addPass(createConvertContractionsToRuntime());

  manager.addPass(createConvertCopiesToLinalg());
  manager.addNestedPass<func::FuncOp>(createForallToForLoopPass());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addNestedPass<func::FuncOp>(vector::createLowerVectorMultiReductionPass(
      vector::VectorMultiReductionLowering::InnerReduction));
  manager.addNestedPass<func::FuncOp>(
      createConvertVectorToSCFPass()); // prints and transfers of rank above 1
  manager.addPass(createExpandReshapes());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createOutlineLoops());
  buildScalarsToLLVMPipeline(manager, options.math);
}

void mlir::mp::registerCPUPipeline() {
  PassPipelineRegistration<CPUOptions>(
      "mp-to-cpu",
      "Lower any graph to the LLVM dialect for the host; contractions call libMPRuntime",
      [](OpPassManager &manager, const CPUOptions &options) {
        buildCPUPipeline(manager, options);
      });
}
