// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-decompose-transpose-conv: transposed convolutions as convolutions, which lower to linalg.

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DECOMPOSETRANSPOSECONV
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

namespace {
struct DecomposeTransposeConv : mp::impl::DecomposeTransposeConvBase<DecomposeTransposeConv> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    tosa::populateTosaDecomposeTransposeConv(&getContext(), patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([&](tosa::TransposeConv2DOp op) {
      op.emitError() << "expected static sizes, but for the batch, to lower a transposed "
                        "convolution, found operands of type "
                     << op.getInput().getType() << " and " << op.getWeight().getType()
                     << "; export with fixed sizes";
      signalPassFailure();
    });
  }
};
} // namespace
