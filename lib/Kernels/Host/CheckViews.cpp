// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mp/Analysis/SliceBounds.h"
#include "mp/Kernels/Host/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CHECKVIEWS
#include "mp/Kernels/Host/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct CheckViews : mlir::mp::impl::CheckViewsBase<CheckViews> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](memref::SubViewOp view) {
      ImplicitLocOpBuilder b(view.getLoc(), view);
      for (int64_t dim = 0; dim < view.getSourceType().getRank(); ++dim)
        if (Value fits = buildSliceFits(b, view, view.getSource(), dim))
          cf::AssertOp::create(b, fits, ("slice out of bounds in dimension " + Twine(dim) + " of " + Twine(view.getSourceType().getRank())).str());
    });
  }
};

} // namespace
