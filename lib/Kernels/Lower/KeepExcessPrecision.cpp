// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-keep-excess-precision: arithmetic in f16 and bf16 computes in f32, and what stays
// in registers is not rounded between two ops.

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_KEEPEXCESSPRECISION
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct KeepExcessPrecision : mlir::mp::impl::KeepExcessPrecisionBase<KeepExcessPrecision> {
  void runOnOperation() override {
    if (failed(computeWide()))
      return signalPassFailure();
    dropRoundings();
  }

private:
  /// op(x : bf16)  ==>  truncf(op(extf x))
  LogicalResult computeWide() {
    MLIRContext *context = &getContext();
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(
        converter, {Float16Type::get(context), BFloat16Type::get(context)},
        Float32Type::get(context));
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  /// extf(truncf x)  ==>  x
  void dropRoundings() {
    getOperation()->walk([](arith::ExtFOp widened) {
      auto rounded = widened.getIn().getDefiningOp<arith::TruncFOp>();
      auto format = cast<FloatType>(getElementTypeOrSelf(widened.getIn().getType()));
      if (!rounded || format.getWidth() != 16 || rounded.getIn().getType() != widened.getType())
        return;
      widened.replaceAllUsesWith(rounded.getIn());
      widened.erase();
      if (rounded.use_empty())
        rounded.erase();
    });
  }
};

} // namespace
