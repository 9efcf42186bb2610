// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits exponentials, logarithms, roots, error, hyperbolic and inverse functions as polynomials.

#include "MathFunctions.h"
#include "MathTables.h"
#include "ScalarMath.h"

#include <numbers>

using namespace mlir;
using namespace mlir::mp;

namespace {

/// Arithmetic in the type of an argument, and its tables.
struct Expansion : ScalarMath {
  Expansion(ImplicitLocOpBuilder &b, Value x)
      : ScalarMath(b, cast<FloatType>(x.getType())), t(tablesFor(type)) {}
  const MathTables &t;
};

/// x = j ln 2 + f with |f| <= ln(2)/2, j integral.
std::pair<Value, Value> reduceByLn2(Expansion &m, Value x) {
  Value j = m.nearest(m.mul(x, m.c(std::numbers::log2e)));
  Value f = m.fma(j, m.c(-m.t.ln2High), x);
  return {j, m.fma(j, m.c(-m.t.ln2Low), f)};
}

/// Exponent e and f = mantissa - 1 with x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); x positive.
std::pair<Value, Value> splitExponent(Expansion &m, Value x) {
  Value tiny = m.less(x, m.c(m.t.minNormal));
  Value scaled = m.select(tiny, m.mul(x, m.c(m.t.normalizer)), x);
  Value base = m.i(m.t.rootHalf);
  Value offset = arith::SubIOp::create(m.b, m.bits(scaled), base);
  Value e = arith::ShRSIOp::create(m.b, offset, m.i(m.t.fractionBits));
  Value fraction = arith::AndIOp::create(m.b, offset, m.i(m.t.fractionMask));
  Value mantissa = m.fromBits(arith::AddIOp::create(m.b, fraction, base));
  Value exponent = m.toFloat(e);
  exponent = m.select(tiny, m.sub(exponent, m.c(double(m.t.fractionBits))), exponent);
  return {exponent, m.sub(mantissa, m.c(1))};
}

/// log(1 + f) - f.
Value logTail(Expansion &m, Value f, Value start) {
  Value square = m.mul(f, f);
  Value cubic = m.mul(m.mul(square, f), m.polynomial(m.t.log, f));
  Value sum = start ? m.add(cubic, start) : cubic;
  return m.fma(m.c(-0.5), square, sum);
}

/// The values that no polynomial gives: log of zero, infinity, negative numbers and NaN.
Value logSpecial(Expansion &m, Value x, Value shifted, Value result) {
  Value zero = m.c(0);
  result = m.select(m.equal(shifted, zero), m.c(-INFINITY), result);
  result = m.select(m.equal(x, m.infinity()), m.infinity(), result);
  Value valid = m.compare(arith::CmpFPredicate::OGE, shifted, zero);
  return m.select(valid, result, m.nan());
}

} // namespace

Value mlir::mp::expandExp(ImplicitLocOpBuilder &b, Value x) {
  Expansion m(b, x);
  Value bounded = m.clamp(x, m.t.expLow, m.t.expHigh);
  auto [j, f] = reduceByLn2(m, bounded);
  Value tail = m.fma(m.mul(f, f), m.polynomial(m.t.exp, f), f);
  Value result = m.scale(m.add(tail, m.c(1)), m.toInt(j));
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandExp2(ImplicitLocOpBuilder &b, Value x) {
  Expansion m(b, x);
  Value bounded = m.clamp(x, m.t.exp2Low, m.t.exp2High);
  Value j = m.nearest(bounded);
  Value f = m.sub(bounded, j);
  Value result = m.scale(m.fma(f, m.polynomial(m.t.exp2, f), m.c(1)), m.toInt(j));
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandExpM1(ImplicitLocOpBuilder &b, Value x) {
  Expansion m(b, x);
  Value bounded = m.clamp(x, m.t.expM1Low, m.t.expHigh);
  auto [j, f] = reduceByLn2(m, bounded);
  Value tail = m.fma(m.mul(f, f), m.polynomial(m.t.exp, f), f); // exp(f) - 1
  // 2^j tail + (2^j - 1), at half size so that 2^128 does not overflow too early.
  Value half = m.powerOfTwo(arith::SubIOp::create(b, m.toInt(j), m.i(1)));
  Value result = m.mul(m.fma(tail, half, m.sub(half, m.c(0.5))), m.c(2));
  result = m.select(m.equal(bounded, m.c(0)), x, result); // keeps the sign of zero
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandLog(ImplicitLocOpBuilder &b, Value x, LogBase base) {
  Expansion m(b, x);
  auto [e, f] = splitExponent(m, x);
  Value result;
  if (base == LogBase::E) {
    Value tail = logTail(m, f, m.mul(e, m.c(m.t.ln2Low)));
    result = m.fma(e, m.c(m.t.ln2High), m.add(f, tail));
  } else {
    bool two = base == LogBase::Two;
    double factor = two ? std::numbers::log2e : std::numbers::log10e,
           low = two ? m.t.log2OfELow : m.t.log10OfELow;
    Value tail = logTail(m, f, Value());
    Value sum = m.fma(f, m.c(low), m.mul(tail, m.c(factor)));
    if (two) {
      result = m.add(e, m.fma(f, m.c(factor), sum));
    } else {
      sum = m.fma(e, m.c(m.t.log10Of2Low), sum);
      result = m.fma(e, m.c(m.t.log10Of2High), m.fma(f, m.c(factor), sum));
    }
  }
  return logSpecial(m, x, x, result);
}

Value mlir::mp::expandLog1p(ImplicitLocOpBuilder &b, Value x) {
  Expansion m(b, x);
  Value one = m.c(1);
  Value shifted = m.add(x, one);
  // The rounding error of the addition, relative to the sum.
  Value lostSmall = m.sub(x, m.sub(shifted, one));
  Value lostLarge = m.sub(one, m.sub(shifted, x));
  Value lost = m.div(m.select(m.less(x, one), lostSmall, lostLarge), shifted);
  auto [e, f] = splitExponent(m, shifted);
  Value tail = logTail(m, f, m.fma(e, m.c(m.t.ln2Low), lost));
  Value result = m.fma(e, m.c(m.t.ln2High), m.add(f, tail));
  result = m.select(m.less(m.abs(x), m.c(m.t.log1pTiny)), x, result);
  return logSpecial(m, x, shifted, result);
}

Value mlir::mp::expandTanh(ImplicitLocOpBuilder &b, Value x) {
  Expansion m(b, x);
  Value a = m.abs(x);
  Value square = m.mul(x, x);
  Value small = m.fma(m.mul(square, x), m.polynomial(m.t.tanh, square), x);
  Value bounded = m.clamp(a, 0, m.t.tanhHigh);
  Value e = expandExp(b, m.add(bounded, bounded));
  Value large = m.sub(m.c(1), m.div(m.c(2), m.add(e, m.c(1))));
  Value result = m.select(m.less(a, m.c(0.55)), small, m.copySign(large, x));
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandErf(ImplicitLocOpBuilder &b, Value x) {
  Expansion m(b, x);
  Value a = m.abs(x);
  Value square = m.mul(x, x);
  Value small = m.fma(x, m.polynomial(m.t.erf, square), x);
  Value bounded = m.clamp(a, m.t.erfcFrom, m.t.erfHigh);
  Value exponent = m.polynomial(m.t.erfcLog, m.sub(bounded, m.c(m.t.erfcCenter)));
  Value large = m.sub(m.c(1), expandExp(b, m.sub(m.c(0), exponent)));
  Value result = m.select(m.less(a, m.c(m.t.erfcFrom)), small, m.copySign(large, x));
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandSinh(ImplicitLocOpBuilder &b, Value x) {
  // With e = exp(|x|) - 1: sinh = (e + e / (e + 1)) / 2, without cancellation; from 20 on the
  // second term is lost, and exp(|x| / 2)^2 / 2 overflows no earlier than the result.
  Expansion m(b, x);
  Value a = m.abs(x);
  Value e = expandExpM1(b, a);
  Value small = m.mul(m.c(0.5), m.add(e, m.div(e, m.add(e, m.c(1)))));
  Value root = expandExp(b, m.mul(a, m.c(0.5)));
  Value large = m.mul(m.mul(m.c(0.5), root), root);
  Value result = m.select(m.less(a, m.c(m.t.sinhLarge)), small, large);
  return m.select(m.isNaN(x), x, m.copySign(result, x));
}

Value mlir::mp::expandAsinh(ImplicitLocOpBuilder &b, Value x) {
  // log1p(a + a^2 / (1 + sqrt(a^2 + 1))); for large a, log(2a).
  Expansion m(b, x);
  Value a = m.abs(x), one = m.c(1);
  Value square = m.mul(a, a);
  Value root = math::SqrtOp::create(b, m.add(square, one));
  Value small = expandLog1p(b, m.add(a, m.div(square, m.add(one, root))));
  Value large = m.add(expandLog(b, a, LogBase::E), m.c(0.69314718055994531));
  Value result = m.select(m.less(a, m.c(m.t.asinhLarge)), small, large);
  return m.select(m.isNaN(x), x, m.copySign(result, x));
}

Value mlir::mp::expandAtanh(ImplicitLocOpBuilder &b, Value x) {
  // log1p(2a / (1 - a)) / 2; NaN beyond one comes out of the logarithm.
  Expansion m(b, x);
  Value a = m.abs(x);
  Value ratio = m.div(m.add(a, a), m.sub(m.c(1), a));
  Value result = m.mul(m.c(0.5), expandLog1p(b, ratio));
  return m.copySign(result, x);
}

/// atan of t in [0, 1], or pi/2 minus it where `flip` holds.
static Value atanOfRatio(Expansion &m, Value t, Value flip) {
  Value square = m.mul(t, t);
  Value inner = m.fma(m.mul(square, t), m.polynomial(m.t.atan, square), t);
  Value flipped = m.add(m.sub(m.c(m.t.halfPiHigh), inner), m.c(m.t.halfPiLow));
  return m.select(flip, flipped, inner);
}

Value mlir::mp::expandAtan(ImplicitLocOpBuilder &b, Value x) {
  // atan(a) = pi/2 - atan(1/a) above one.
  Expansion m(b, x);
  Value a = m.abs(x), one = m.c(1);
  Value outside = m.less(one, a);
  Value result = atanOfRatio(m, m.select(outside, m.div(one, a), a), outside);
  return m.select(m.isNaN(x), x, m.copySign(result, x));
}

Value mlir::mp::expandAtan2(ImplicitLocOpBuilder &b, Value y, Value x) {
  Expansion m(b, x);
  Value ax = m.abs(x), ay = m.abs(y), zero = m.c(0);
  Value steep = m.less(ax, ay);
  Value small = m.select(steep, ax, ay), large = m.select(steep, ay, ax);
  Value ratio = m.div(small, large);
  ratio = m.select(m.equal(large, zero), zero, ratio);
  ratio = m.select(m.equal(small, m.infinity()), m.c(1), ratio);
  Value result = atanOfRatio(m, ratio, steep);
  // The left half: pi minus the angle, also where x is -0.
  Value left = m.less(m.copySign(m.c(1), x), zero);
  Value mirrored = m.add(m.sub(m.c(2 * m.t.halfPiHigh), result), m.c(2 * m.t.halfPiLow));
  result = m.copySign(m.select(left, mirrored, result), y);
  return m.select(m.compare(arith::CmpFPredicate::UNO, x, y), m.add(x, y), result);
}

/// sqrt(1 - x^2) without cancellation.
static Value otherLeg(Expansion &m, Value x) {
  Value one = m.c(1);
  return math::SqrtOp::create(m.b, m.mul(m.sub(one, x), m.add(one, x)));
}

Value mlir::mp::expandAsin(ImplicitLocOpBuilder &b, Value x) {
  Expansion m(b, x);
  return expandAtan2(b, x, otherLeg(m, x));
}

Value mlir::mp::expandAcos(ImplicitLocOpBuilder &b, Value x) {
  Expansion m(b, x);
  return expandAtan2(b, otherLeg(m, x), x);
}

Value mlir::mp::expandCbrt(ImplicitLocOpBuilder &b, Value x) {
  // A third of the exponent, then Halley's steps, which each triple the number of right bits,
  // from 5.
  Expansion m(b, x);
  Value a = m.abs(x);
  Value tiny = m.less(a, m.c(m.t.minNormal));
  double scale = m.type.isF64() ? 0x1p54 : 0x1p24;
  Value scaled = m.select(tiny, m.mul(a, m.c(scale)), a);
  Value third = arith::DivUIOp::create(b, m.bits(scaled), m.i(3));
  Value root = m.fromBits(arith::AddIOp::create(b, third, m.i(m.t.cubeRootBias)));
  for (int step = 0; step < (m.type.isF64() ? 3 : 2); ++step) {
    Value cube = m.mul(m.mul(root, root), root);
    Value change = m.div(m.sub(cube, scaled), m.add(m.add(cube, cube), scaled));
    root = m.fma(m.sub(m.c(0), root), change, root);
  }
  root = m.select(tiny, m.mul(root, m.c(m.type.isF64() ? 0x1p-18 : 0x1p-8)), root);
  Value plain = arith::AndIOp::create(b, m.less(m.c(0), a), m.less(a, m.infinity()));
  return m.select(plain, m.copySign(root, x), m.add(x, x)); // zero, infinity and NaN
}

Value mlir::mp::expandRsqrt(ImplicitLocOpBuilder &b, Value x) {
  auto type = cast<FloatType>(x.getType());
  ScalarMath m(b, type);
  return m.div(m.c(1), math::SqrtOp::create(b, x));
}
