// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-call-libm: functions that upstream would expand into differences that cancel.

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CALLLIBM
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct CallLibm : mlir::mp::impl::CallLibmBase<CallLibm> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addIllegalOp<math::ExpM1Op, math::Log1pOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
