// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-load-narrow-as-bits: loads of bf16 as loads of 16 bits, for the host.
//
// For x86, LLVM 22 takes the sign bit of a number that was loaded as bf16 for zero, where it is all
// that is read of its bits: copysign loses the sign, at every level of optimisation.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_LOADNARROWASBITS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct LoadNarrowAsBits : mlir::mp::impl::LoadNarrowAsBitsBase<LoadNarrowAsBits> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](LLVM::LoadOp op) {
      if (!op.getType().isBF16())
        return;
      Type number = op.getType();
      rewriter.modifyOpInPlace(op, [&] { op.getResult().setType(rewriter.getI16Type()); });
      rewriter.setInsertionPointAfter(op);
      auto cast = LLVM::BitcastOp::create(rewriter, op.getLoc(), number, op.getResult());
      rewriter.replaceAllUsesExcept(op.getResult(), cast, cast);
    });
  }
};

} // namespace
