// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the pipeline mp-host-to-llvm.

#include "mp/Pipelines/HostPipeline.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Kernels/Host/Passes.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Transforms/Interop/Passes.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::buildHostPipeline(OpPassManager &pm, const HostPipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createCheckViews());
  if (options.plan)
    pm.addNestedPass<func::FuncOp>(createPlanBuffers());
  pm.addPass(createLowerLaunches());
  pm.addNestedPass<func::FuncOp>(createConvertVectorToSCFPass()); // prints of rank above 1
  pm.addPass(createConvertCheckToRuntime({/*device=*/true}));
  pm.addPass(createExpandReshapes());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  buildScalarsToLLVMPipeline(pm);
  pm.addPass(createLinkRuntime());
}

void mlir::mp::registerHostPipeline() {
  PassPipelineRegistration<HostPipelineOptions>(
      "mp-host-to-llvm", "Lower the host side of a module of kernels to the LLVM dialect",
      buildHostPipeline);
}
