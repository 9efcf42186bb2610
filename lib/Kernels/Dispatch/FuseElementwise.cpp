// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Analysis/FusionGroups.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// What the cost model prices as one kernel (FusionGroups.h), and contractions without Tensor Cores:
/// plain loops here, which may compute cheap producers as they go.
static bool shouldFuse(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!consumer || !producer || consumer->hasAttr(kMmaAttrName) || producer->hasAttr(kMmaAttrName))
    return false;
  bool isOnlyReader = llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; });
  if (!isOnlyReader && !isCast(producer))
    return false;
  return getKernelKind(consumer) == KernelKind::Contraction ? !isCostlyToRepeat(producer)
                                                            : mayFuse(*operand);
}

namespace {

struct FuseElementwise : mlir::mp::impl::FuseElementwiseBase<FuseElementwise> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
