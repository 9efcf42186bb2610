// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATES
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

namespace {

struct DecomposeAggregates : mlir::mp::impl::DecomposeAggregatesBase<DecomposeAggregates> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::AggregatedOpInterface> aggregates;
    getOperation()->walk([&](linalg::AggregatedOpInterface op) { aggregates.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::AggregatedOpInterface op : aggregates) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
      if (failed(values)) {
        op->emitOpError("has no decomposition for these operands");
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *values);
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
