// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-expand-math: write math functions as polynomials in arith (changes rounding within
// stated bounds).

#include "ApproximateMath.h"
#include "MathFunctions.h"
#include "ScalarMath.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EXPANDMATH
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

/// Functions are expanded for f32 and f64; narrower types compute in f32 (ComputeWide).
bool isWideScalar(Type type) { return type.isF32() || type.isF64(); }

/// f(x)  ==>  its expansion
template <typename OpTy> struct ExpandUnary : OpRewritePattern<OpTy> {
  using Expansion = Value (*)(ImplicitLocOpBuilder &, Value);

  ExpandUnary(MLIRContext *context, Expansion expansion)
      : OpRewritePattern<OpTy>(context), expansion(expansion) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isWideScalar(op.getType()))
      return rewriter.notifyMatchFailure(op, "no f32 or f64 scalar");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expansion(b, op.getOperand()));
    return success();
  }

  Expansion expansion;
};

/// atan2(y, x)  ==>  its expansion
struct ExpandAtan2 : OpRewritePattern<math::Atan2Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Atan2Op op, PatternRewriter &rewriter) const override {
    if (!isWideScalar(op.getType()))
      return rewriter.notifyMatchFailure(op, "no f32 or f64 scalar");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expandAtan2(b, op.getLhs(), op.getRhs()));
    return success();
  }
};

/// f(x : f16)  ==>  truncf(f(extf x)); one rounding more than the ideal, at most.
struct ComputeWide : RewritePattern {
  explicit ComputeWide(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) || op->getNumResults() != 1)
      return failure();
    // Exact in the narrow type, or fused: a detour would add a rounding.
    if (isa<math::AbsFOp, math::CopySignOp, math::FmaOp, math::FloorOp, math::CeilOp, math::TruncOp,
            math::RoundOp, math::RoundEvenOp>(op))
      return failure();
    Type type = op->getResult(0).getType();
    if (!isa<Float16Type, BFloat16Type>(type))
      return failure();
    Type wide = rewriter.getF32Type();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          operand.getType() == type
              ? arith::ExtFOp::create(rewriter, op->getLoc(), wide, operand).getResult()
              : operand);
    Operation *made = rewriter.create(op->getLoc(), op->getName().getIdentifier(), operands, wide,
                                      op->getAttrs());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, made->getResult(0));
    return success();
  }
};

/// x^n by squaring.
Value powerBySquaring(ScalarMath &m, Value x, int64_t n) {
  Value result;
  uint64_t rest = std::abs(n);
  for (Value square = x; rest; rest >>= 1) {
    if (rest & 1)
      result = result ? m.mul(result, square) : square;
    if (rest > 1)
      square = m.mul(square, square);
  }
  return n < 0 ? m.div(m.c(1), result) : n == 0 ? m.c(1) : result;
}

/// pow(x, c)  ==>  products, for small integral c; else the general expansion.
struct ExpandPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    if (!isWideScalar(op.getType()))
      return rewriter.notifyMatchFailure(op, "no f32 or f64 scalar");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    APFloat exponent(0.0f);
    if (matchPattern(op.getRhs(), m_ConstantFloat(&exponent)) && exponent.isInteger() &&
        std::abs(exponent.convertToDouble()) <= 4 && !exponent.isZero()) {
      ScalarMath m(b, cast<FloatType>(op.getType()));
      rewriter.replaceOp(op, powerBySquaring(m, op.getLhs(), int64_t(exponent.convertToDouble())));
      return success();
    }
    rewriter.replaceOp(op, expandPow(b, op.getLhs(), op.getRhs()));
    return success();
  }
};

/// Result and remaining exponent of `while n != 0: if n & 1: r *= x; x *= x; n >>= 1`.
template <typename MultiplyOp>
Value powerLoop(ImplicitLocOpBuilder &b, Value x, Value n, Value one) {
  Type type = x.getType();
  auto loop = scf::WhileOp::create(
      b, TypeRange{type, type, n.getType()}, ValueRange{one, x, n},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        Value zero = arith::ConstantOp::create(nested, loc, nested.getIntegerAttr(n.getType(), 0));
        Value more = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::ne, args[2], zero);
        scf::ConditionOp::create(nested, loc, more, args);
      },
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        auto make = [&](int64_t value) {
          return arith::ConstantOp::create(nested, loc, nested.getIntegerAttr(n.getType(), value))
              .getResult();
        };
        Value odd =
            arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::ne,
                                  arith::AndIOp::create(nested, loc, args[2], make(1)), make(0));
        Value product = MultiplyOp::create(nested, loc, args[0], args[1]);
        Value result = arith::SelectOp::create(nested, loc, odd, product, args[0]);
        Value square = MultiplyOp::create(nested, loc, args[1], args[1]);
        Value rest = arith::ShRUIOp::create(nested, loc, args[2], make(1));
        scf::YieldOp::create(nested, loc, ValueRange{result, square, rest});
      });
  return loop.getResult(0);
}

/// fpowi(x, n)  ==>  products; 1 / products for negative n. Any integer width: upstream's call of
/// libdevice has the wrong signature for i64.
struct ExpandFPowI : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op, PatternRewriter &rewriter) const override {
    if (!isWideScalar(op.getType()))
      return rewriter.notifyMatchFailure(op, "no f32 or f64 scalar");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ScalarMath m(b, cast<FloatType>(op.getType()));
    APInt exponent;
    if (matchPattern(op.getRhs(), m_ConstantInt(&exponent)) && exponent.abs().ule(16)) {
      rewriter.replaceOp(op, powerBySquaring(m, op.getLhs(), exponent.getSExtValue()));
      return success();
    }
    Value n = op.getRhs();
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(n.getType(), 0));
    Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, n, zero);
    Value magnitude = m.select(negative, arith::SubIOp::create(b, zero, n), n);
    Value power = powerLoop<arith::MulFOp>(b, op.getLhs(), magnitude, m.c(1));
    rewriter.replaceOp(op, m.select(negative, m.div(m.c(1), power), power));
    return success();
  }
};

/// ipowi(x, n)  ==>  products; for negative n the integer part of the reciprocal.
struct ExpandIPowI : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op, PatternRewriter &rewriter) const override {
    if (!isa<IntegerType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "no integer scalar");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getLhs(), n = op.getRhs();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(op.getType(), value));
    };
    auto is = [&](Value v, int64_t value) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, v, constant(value));
    };
    Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, n, constant(0));
    // 1 / x^|n| is zero unless x is 1 or -1, for which the sign of n does not matter.
    Value magnitude =
        arith::SelectOp::create(b, negative, arith::SubIOp::create(b, constant(0), n), n);
    Value power = powerLoop<arith::MulIOp>(b, x, magnitude, constant(1));
    Value unit = arith::OrIOp::create(b, is(x, 1), is(x, -1));
    Value small = arith::SelectOp::create(b, unit, power, constant(0));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, negative, small, power);
    return success();
  }
};

/// remf(x, y)  ==>  exact remainder by division and fused subtraction
struct ExpandRemF : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type || type.getWidth() > 64)
      return rewriter.notifyMatchFailure(op, "no scalar of up to 64 bits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = op.getLhs(), y = op.getRhs();
    if (type.getWidth() < 32) { // the remainder of narrow values is a narrow value
      x = arith::ExtFOp::create(b, b.getF32Type(), x);
      y = arith::ExtFOp::create(b, b.getF32Type(), y);
    }
    Value result = expandRemainder(b, x, y);
    if (type.getWidth() < 32)
      result = arith::TruncFOp::create(b, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

Value expandLogE(ImplicitLocOpBuilder &b, Value x) { return expandLog(b, x, LogBase::E); }
Value expandLog2(ImplicitLocOpBuilder &b, Value x) { return expandLog(b, x, LogBase::Two); }
Value expandLog10(ImplicitLocOpBuilder &b, Value x) { return expandLog(b, x, LogBase::Ten); }

struct ExpandMath : mlir::mp::impl::ExpandMathBase<ExpandMath> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ExpandUnary<math::ExpOp>>(context, expandExp);
    patterns.add<ExpandUnary<math::Exp2Op>>(context, expandExp2);
    patterns.add<ExpandUnary<math::ExpM1Op>>(context, expandExpM1);
    patterns.add<ExpandUnary<math::LogOp>>(context, expandLogE);
    patterns.add<ExpandUnary<math::Log2Op>>(context, expandLog2);
    patterns.add<ExpandUnary<math::Log10Op>>(context, expandLog10);
    patterns.add<ExpandUnary<math::Log1pOp>>(context, expandLog1p);
    patterns.add<ExpandUnary<math::TanhOp>>(context, expandTanh);
    patterns.add<ExpandUnary<math::ErfOp>>(context, expandErf);
    patterns.add<ExpandUnary<math::SinhOp>>(context, expandSinh);
    patterns.add<ExpandUnary<math::AsinhOp>>(context, expandAsinh);
    patterns.add<ExpandUnary<math::AtanhOp>>(context, expandAtanh);
    patterns.add<ExpandUnary<math::AtanOp>>(context, expandAtan);
    patterns.add<ExpandUnary<math::SinOp>>(context, expandSin);
    patterns.add<ExpandUnary<math::CosOp>>(context, expandCos);
    patterns.add<ExpandUnary<math::RsqrtOp>>(context, expandRsqrt);
    patterns.add<ExpandUnary<math::AsinOp>>(context, expandAsin);
    patterns.add<ExpandUnary<math::AcosOp>>(context, expandAcos);
    patterns.add<ExpandUnary<math::CbrtOp>>(context, expandCbrt);
    patterns.add<ExpandAtan2, ExpandPow, ExpandFPowI, ExpandIPowI, ExpandRemF, ComputeWide>(
        context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    // The rest by upstream's identities, which end in the functions above.
    math::populateExpansionPatterns(patterns, {"cosh", "tan", "acosh", "clampf"});
    populateMathPolynomialApproximationPatterns(patterns,
                                                [](StringRef name) { return name == "math.erfc"; });
    populateMarkedMath(patterns);
    if (accuracy == MathAccuracy::Approximate)
      populateApproximateMath(patterns);
    GreedyRewriteConfig config;
    config.enableFolding(false); // leave everything else as it is
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
  }
};

} // namespace
