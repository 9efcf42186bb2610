// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 functions as the GPU's approximate instructions. What the manual promises of each is in
// mp/Emulator/Approximate.h, what that makes of the functions in docs/reference/Math.md.

#include "ApproximateMath.h"
#include "ScalarMath.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::mp;

static Value call(ImplicitLocOpBuilder &b, StringRef intrinsic, Value x,
                  LLVM::FastmathFlags flags = LLVM::FastmathFlags::none) {
  auto attr = LLVM::FastmathFlagsAttr::get(b.getContext(), flags);
  return LLVM::CallIntrinsicOp::create(b, x.getType(), b.getStringAttr(intrinsic), x, attr)
      .getResult(0);
}

static Value power(ImplicitLocOpBuilder &b, Value x) { return call(b, "llvm.nvvm.ex2.approx", x); }
static Value logarithm(ImplicitLocOpBuilder &b, Value x) {
  return call(b, "llvm.nvvm.lg2.approx.f", x);
}

static Value scaled(ImplicitLocOpBuilder &b, Value x, double factor) {
  ScalarMath m(b, b.getF32Type());
  return m.mul(x, m.c(factor));
}

namespace {

/// f(x : f32)  ==>  instructions for it
template <typename OpTy> struct Approximate : OpRewritePattern<OpTy> {
  using Emit = Value (*)(ImplicitLocOpBuilder &, Value);

  /// Preferred to the polynomials.
  Approximate(MLIRContext *context, Emit emit)
      : OpRewritePattern<OpTy>(context, /*benefit=*/2), emit(emit) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "no f32 scalar");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, emit(b, op.getOperand()));
    return success();
  }

  Emit emit;
};

} // namespace

void mlir::mp::populateApproximateMath(RewritePatternSet &patterns) {
  constexpr double log2e = 1.4426950408889634, ln2 = 0.6931471805599453,
                   log10of2 = 0.3010299956639812;
  MLIRContext *context = patterns.getContext();
  patterns.add<Approximate<math::Exp2Op>>(context, power);
  patterns.add<Approximate<math::ExpOp>>(
      context, +[](ImplicitLocOpBuilder &b, Value x) { return power(b, scaled(b, x, log2e)); });
  patterns.add<Approximate<math::Log2Op>>(context, logarithm);
  patterns.add<Approximate<math::LogOp>>(
      context, +[](ImplicitLocOpBuilder &b, Value x) { return scaled(b, logarithm(b, x), ln2); });
  patterns.add<Approximate<math::Log10Op>>(
      context,
      +[](ImplicitLocOpBuilder &b, Value x) { return scaled(b, logarithm(b, x), log10of2); });
  patterns.add<Approximate<math::TanhOp>>(
      context, +[](ImplicitLocOpBuilder &b, Value x) {
        return call(b, "llvm.tanh", x, LLVM::FastmathFlags::afn);
      });
  patterns.add<Approximate<math::RsqrtOp>>(
      context,
      +[](ImplicitLocOpBuilder &b, Value x) { return call(b, "llvm.nvvm.rsqrt.approx.f", x); });
}
