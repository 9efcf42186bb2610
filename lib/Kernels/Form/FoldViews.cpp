// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-fold-views: read and write through reshapes instead of beside them, and read
// windows element by element (exact).

#include "Windows.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Kernels/Form/Passes.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FOLDVIEWS
#include "mp/Kernels/Form/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Contractions keep their loops: equal ones are one kernel, and more loops are slower ones.
static bool keepsLoops(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return !generic || op->hasAttr(kMmaAttrName) || looksLikeContraction(generic);
}

namespace {

struct FoldViews : mlir::mp::impl::FoldViewsBase<FoldViews> {
  using Base::Base;

  void runOnOperation() override {
    unrollWindows(getOperation());
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
      Operation *producer = operand->get().getDefiningOp(), *consumer = operand->getOwner();
      if (isa_and_nonnull<tensor::CollapseShapeOp>(producer))
        return !keepsLoops(consumer);
      return isa<tensor::ExpandShapeOp>(consumer) && producer->hasOneUse() && !keepsLoops(producer);
    });
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
