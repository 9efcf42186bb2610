// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// True if computing `op`'s body again costs more than loading its result.
static bool isCostly(linalg::GenericOp op) {
  unsigned count = 0;
  for (Operation &inner : op.getBody()->without_terminator())
    if (isa_and_nonnull<math::MathDialect>(inner.getDialect()) || isa<arith::DivFOp>(inner) || ++count > 4)
      return true;
  return false;
}

/// True if `consumer` reads each element of the producer once.
static bool readsOnce(linalg::GenericOp consumer, OpOperand *operand) {
  return consumer.getMatchingIndexingMap(operand).isPermutation();
}

static bool shouldFuse(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!consumer || !producer || consumer->hasAttr(kMmaAttrName) ||
      producer->hasAttr(kMmaAttrName) || !producer->hasOneUse())
    return false;
  return readsOnce(consumer, operand) || !isCostly(producer);
}

namespace {

struct FuseElementwise : mlir::mp::impl::FuseElementwiseBase<FuseElementwise> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *operand) {
      auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
      return (reductions || (consumer && consumer.getNumReductionLoops() == 0)) && shouldFuse(operand);
    });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
