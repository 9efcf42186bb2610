// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cost model prices as one kernel is what dispatch formation makes one: on random graphs, an
// op is left as a kernel of its own when the groups say so, in 11 of 12 cases at least. Ops are followed by their
// locations: upstream's fusion gives the fused op that of the consumer.

#include "../Transforms/RandomGraph.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Analysis/FusionGroups.h"
#include "mp/Kernels/Passes.h"
#include "mp/Pipelines/Pipelines.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

void run(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.getContext());
  build(manager);
  ASSERT_TRUE(succeeded(manager.run(module)));
}

/// Structured ops other than contractions and fills, by location.
std::map<std::string, unsigned> countKernels(ModuleOp module) {
  std::map<std::string, unsigned> kernels;
  module.walk([&](linalg::LinalgOp op) {
    KernelKind kind = getKernelKind(op);
    if (kind == KernelKind::Elementwise || kind == KernelKind::Reduction)
      if (auto name = dyn_cast<NameLoc>(op.getLoc()))
        ++kernels[name.getName().str()];
  });
  return kernels;
}

TEST(FusionGroups, AreWhatDispatchFormationFuses) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  unsigned compared = 0, absorbed = 0, differing = 0;
  std::string differences;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    auto module = RandomGraph(&context, seed).build(4 + seed % 29);
    run(*module, [](OpPassManager &manager) {
      manager.addPass(createCanonicalizerPass());
      manager.addPass(createCSEPass());
    });
    unsigned number = 0;
    module->walk([&](Operation *op) {
      op->setLoc(NameLoc::get(StringAttr::get(&context, "op" + Twine(number++))));
    });
    std::map<std::string, bool> isKernel;
    std::map<std::string, std::string> kind;
    module->walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      FusionGroups groups(function);
      function->walk([&](Operation *op) {
        if (auto name = dyn_cast<NameLoc>(op->getLoc())) {
          isKernel[name.getName().str()] = !groups.isAbsorbed(op);
          std::string text = op->getName().getStringRef().str() + " ->";
          for (Operation *user : op->getUsers())
            text += " " + user->getName().getStringRef().str();
          kind[name.getName().str()] = text;
        }
      });
    });
    run(*module, [](OpPassManager &manager) {
      buildTosaToLinalgPipeline(manager);
      manager.addNestedPass<func::FuncOp>(createDecomposeAggregates());
      manager.addPass(createConvertElementwiseToLinalgPass());
      manager.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
      manager.addPass(createCanonicalizerPass());
    });
    module->walk([&](linalg::LinalgOp op) { // as Tensor Core kernels, which nothing fuses into
      if (getKernelKind(op) == KernelKind::Contraction)
        op->setAttr(kMmaAttrName, UnitAttr::get(&context));
    });
    std::map<std::string, unsigned> before = countKernels(*module);
    run(*module, [](OpPassManager &manager) {
      manager.addNestedPass<func::FuncOp>(createFuseElementwise());
    });
    std::map<std::string, unsigned> after = countKernels(*module);
    for (auto &[name, count] : before) {
      if (count != 1 || StringRef(kind[name]).starts_with("linalg.fill"))
        continue;
      ++compared;
      absorbed += !isKernel[name];
      if (isKernel[name] != (after.count(name) != 0)) {
        ++differing;
        differences += name + " " + kind[name] + ", seed " + std::to_string(seed) + "\n";
      }
    }
  }
  std::printf("%u of %u ops differ\n", differing, compared);
  // Dispatch formation simplifies what it fuses, and so loses or splits a kernel now and then.
  EXPECT_LE(differing * 12, compared) << differences;
  EXPECT_GE(compared, 1000u);
  EXPECT_GE(absorbed, 200u);
}

} // namespace
