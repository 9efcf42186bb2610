// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-hide-float-casts: keeps casts between floats from folding until mp-promote-to-f64 drops them.

#include "mlir/IR/PatternMatch.h"
#include "mp/Interfaces/FloatRangeOpInterface.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_HIDEFLOATCASTS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct HideFloatCasts : mlir::mp::impl::HideFloatCastsBase<HideFloatCasts> {
  void runOnOperation() override {
    SmallVector<Operation *> casts;
    getOperation()->walk([&](Operation *op) {
      if (getFloatMeaning(op).kind == FloatMeaning::Kind::Cast && op->getNumResults() == 1 &&
          getFloatFormat(op->getOperand(0).getType()) && getFloatFormat(op->getResult(0).getType()))
        casts.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : casts) {
      Value source = op->getOperand(0);
      Type type = op->getResult(0).getType();
      if (source.getType() == type) {
        rewriter.replaceOp(op, source);
        continue;
      }
      if (withFormat(source.getType(), getFloatFormat(type)) != type)
        continue; // reshapes as well
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<UnrealizedConversionCastOp>(op, type, source);
    }
  }
};

} // namespace
