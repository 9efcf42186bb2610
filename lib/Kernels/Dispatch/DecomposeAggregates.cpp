// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-decompose-aggregates: write softmax, packing and other aggregate tensor ops as
// loops (exact).

#include "GatherLoops.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATES
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// True if `op` is no aggregate, or is one no more.
static bool decompose(Operation *op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return succeeded(linalg::lowerPack(rewriter, pack));
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
    return succeeded(linalg::lowerUnPack(rewriter, unpack));
  if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
    return succeeded(linalg::decomposeWinogradFilterTransformOp(rewriter, filter));
  if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
    return succeeded(linalg::decomposeWinogradInputTransformOp(rewriter, input));
  if (auto output = dyn_cast<linalg::WinogradOutputTransformOp>(op))
    return succeeded(linalg::decomposeWinogradOutputTransformOp(rewriter, output));
  if (auto gather = dyn_cast<tensor::GatherOp>(op))
    return lowerGather(gather, rewriter), true;
  if (auto scatter = dyn_cast<tensor::ScatterOp>(op))
    return lowerScatter(scatter, rewriter), true;
  auto aggregate = dyn_cast<linalg::AggregatedOpInterface>(op);
  if (!aggregate)
    return true;
  FailureOr<SmallVector<Value>> values = aggregate.decomposeOperation(rewriter);
  if (failed(values))
    return false;
  rewriter.replaceOp(op, *values);
  return true;
}

namespace {

struct DecomposeAggregates : mlir::mp::impl::DecomposeAggregatesBase<DecomposeAggregates> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (Operation *op : ops)
      if (!decompose(op, rewriter)) {
        op->emitOpError("has no decomposition for these operands");
        return signalPassFailure();
      }

    // Whatever is still not a loop nest would be left behind silently later on.
    WalkResult result = getOperation()->walk([](Operation *op) {
      bool isLinalg = isa_and_nonnull<linalg::LinalgDialect>(op->getDialect());
      if (!isLinalg || isa<linalg::LinalgOp, linalg::YieldOp, linalg::IndexOp>(op))
        return WalkResult::advance();
      op->emitOpError("has no form as a loop nest: write it with linalg.generic");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
