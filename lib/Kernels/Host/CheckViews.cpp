// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-check-views: check views on the host whose place or sizes only the run knows
// (exact).

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mp/Analysis/ViewBounds.h"
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
    getOperation()->walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case<memref::SubViewOp, memref::CastOp, memref::ExpandShapeOp>(
              [](auto view) { check(view); });
    });
  }

  static void check(memref::SubViewOp view) {
    ImplicitLocOpBuilder b(view.getLoc(), view);
    int64_t rank = view.getSourceType().getRank();
    for (int64_t dim = 0; dim < rank; ++dim)
      if (Value fits = buildSliceFits(b, view, view.getSource(), dim))
        require(b, fits, "slice out of bounds in dimension " + Twine(dim) + " of " + Twine(rank));
  }

  static void check(memref::CastOp cast) {
    auto to = dyn_cast<MemRefType>(cast.getType());
    ImplicitLocOpBuilder b(cast.getLoc(), cast);
    for (int64_t dim = 0; to && isa<MemRefType>(cast.getSource().getType()) && dim < to.getRank();
         ++dim)
      if (Value fits = buildSizeFits(b, cast.getSource(), to, dim))
        require(b, fits,
                "dimension " + Twine(dim) + " is not of size " + Twine(to.getDimSize(dim)));
  }

  static void check(memref::ExpandShapeOp expand) {
    ImplicitLocOpBuilder b(expand.getLoc(), expand);
    SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
    for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices()))
      if (Value fits = buildSplitFits(b, expand.getSrc(), dim,
                                      ArrayRef(sizes).slice(group.front(), group.size())))
        require(b, fits, "sizes do not multiply to that of dimension " + Twine(dim));
  }

  static void require(ImplicitLocOpBuilder &b, Value fits, const Twine &message) {
    cf::AssertOp::create(b, fits, message.str());
  }
};

} // namespace
