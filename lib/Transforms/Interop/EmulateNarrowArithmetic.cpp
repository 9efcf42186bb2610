// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-emulate-narrow-arithmetic: upstream's emulation for all formats of at most 16
// bits (its own pass cannot name them all), and integers converted with one rounding.

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EMULATENARROWARITHMETIC
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static SmallVector<Type> narrowFormats(MLIRContext *context) {
  return {BFloat16Type::get(context),       Float16Type::get(context),
          Float8E5M2Type::get(context),     Float8E4M3Type::get(context),
          Float8E4M3FNType::get(context),   Float8E5M2FNUZType::get(context),
          Float8E4M3FNUZType::get(context), Float8E4M3B11FNUZType::get(context),
          Float8E3M4Type::get(context),     Float8E8M0FNUType::get(context),
          Float6E3M2FNType::get(context),   Float6E2M3FNType::get(context),
          Float4E2M1FNType::get(context)};
}

/// int -> narrow  ==>  int -> f64 -> narrow. Through f32 an integer of more than 24
/// bits would round twice; f64 holds 53.
template <typename OpTy> static void convertThroughF64(IRRewriter &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  Type narrow = op->getResult(0).getType();
  Type wide = withFormat(narrow, cast<FloatType>(rewriter.getF64Type()));
  Value exact = OpTy::create(rewriter, op->getLoc(), wide, op->getOperand(0));
  rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, narrow, exact);
}

namespace {

struct EmulateNarrowArithmetic
    : mlir::mp::impl::EmulateNarrowArithmeticBase<EmulateNarrowArithmetic> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    SmallVector<Operation *> fromIntegers;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
          !isa<TensorType>(op->getResult(0).getType()) &&
          getFloatFormat(op->getResult(0).getType()).getWidth() <= 16)
        fromIntegers.push_back(op);
    });
    IRRewriter rewriter(context);
    for (Operation *op : fromIntegers) {
      if (isa<arith::SIToFPOp>(op))
        convertThroughF64<arith::SIToFPOp>(rewriter, op);
      else
        convertThroughF64<arith::UIToFPOp>(rewriter, op);
    }

    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(converter, narrowFormats(context),
                                                       Float32Type::get(context));
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
