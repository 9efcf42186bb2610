// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 functions as the GPU's approximate instructions. What the manual promises of each is in
// mp/Emulator/Approximate.h, what that makes of the functions in docs/reference/Math.md.

#include "ApproximateMath.h"
#include "ScalarMath.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mp/Kernels/Select/Passes.h"

using namespace mlir;
using namespace mlir::mp;

static Value call(ImplicitLocOpBuilder &b, StringRef intrinsic, ValueRange x,
                  LLVM::FastmathFlags flags = LLVM::FastmathFlags::none) {
  auto attr = LLVM::FastmathFlagsAttr::get(b.getContext(), flags);
  return LLVM::CallIntrinsicOp::create(b, x[0].getType(), b.getStringAttr(intrinsic), x, attr)
      .getResult(0);
}

static Value accuratePower(ImplicitLocOpBuilder &b, Value x) {
  return call(b, "llvm.nvvm.ex2.approx", x);
}
static Value flushedPower(ImplicitLocOpBuilder &b, Value x) {
  return call(b, "llvm.nvvm.ex2.approx.ftz.f", x);
}
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

  /// Preferred to the polynomials; of all ops, or of those marked `how`.
  Approximate(MLIRContext *context, Emit emit, StringLiteral how = "")
      : OpRewritePattern<OpTy>(context, /*benefit=*/2), emit(emit), how(how) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "no f32 scalar");
    auto mark = op->template getAttrOfType<StringAttr>(kApproximateAttrName);
    if (!how.empty() && (!mark || mark.getValue() != how))
      return rewriter.notifyMatchFailure(op, "nothing hides its error");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, emit(b, op.getOperand()));
    return success();
  }

  Emit emit;
  StringLiteral how;
};

/// x / y  ==>  div.full, or x * rcp.approx(y) where y is at least 1
struct ApproximateQuotient : OpRewritePattern<arith::DivFOp> {
  ApproximateQuotient(MLIRContext *context)
      : OpRewritePattern<arith::DivFOp>(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    auto how = op->getAttrOfType<StringAttr>(kApproximateAttrName);
    if (!how || !op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "nothing hides its error");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ScalarMath m(b, b.getF32Type());
    rewriter.replaceOp(op,
                       how == "reciprocal"
                           ? m.mul(op.getLhs(), call(b, "llvm.nvvm.rcp.approx.ftz.f", op.getRhs()))
                           : call(b, "llvm.nvvm.div.full", op.getOperands()));
    return success();
  }
};

constexpr double log2e = 1.4426950408889634, ln2 = 0.6931471805599453,
                 log10of2 = 0.3010299956639812;

Value exponential(ImplicitLocOpBuilder &b, Value x) {
  return accuratePower(b, scaled(b, x, log2e));
}
Value hyperbolicTangent(ImplicitLocOpBuilder &b, Value x) {
  return call(b, "llvm.tanh", x, LLVM::FastmathFlags::afn);
}
Value reciprocalRoot(ImplicitLocOpBuilder &b, Value x) {
  return call(b, "llvm.nvvm.rsqrt.approx.f", x);
}

} // namespace

void mlir::mp::populateMarkedMath(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  constexpr StringLiteral instruction = "instruction";
  patterns.add<Approximate<math::Exp2Op>>(context, accuratePower, instruction);
  patterns.add<Approximate<math::Exp2Op>>(context, flushedPower, StringLiteral("flushed"));
  patterns.add<Approximate<math::ExpOp>>(context, exponential, instruction);
  patterns.add<Approximate<math::TanhOp>>(context, hyperbolicTangent, instruction);
  patterns.add<Approximate<math::RsqrtOp>>(context, reciprocalRoot, instruction);
  patterns.add<ApproximateQuotient>(context);
}

void mlir::mp::populateApproximateMath(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<Approximate<math::Exp2Op>>(context, accuratePower);
  patterns.add<Approximate<math::ExpOp>>(context, exponential);
  patterns.add<Approximate<math::Log2Op>>(context, logarithm);
  patterns.add<Approximate<math::LogOp>>(
      context, +[](ImplicitLocOpBuilder &b, Value x) { return scaled(b, logarithm(b, x), ln2); });
  patterns.add<Approximate<math::Log10Op>>(
      context,
      +[](ImplicitLocOpBuilder &b, Value x) { return scaled(b, logarithm(b, x), log10of2); });
  patterns.add<Approximate<math::TanhOp>>(context, hyperbolicTangent);
  patterns.add<Approximate<math::RsqrtOp>>(context, reciprocalRoot);
}
