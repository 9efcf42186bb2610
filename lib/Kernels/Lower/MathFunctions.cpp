// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MathFunctions.h"
#include "Polynomials.h"
#include "ScalarMath.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;
namespace poly = mlir::mp::polynomial;

namespace {

// ln 2 in two parts; the first has trailing zeros, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e4p-1, kLn2Low = 0x1.7f7d1cf79abcap-20;
constexpr double kLog2E = 1.4426950408889634;

/// x = j ln 2 + f with |f| <= ln(2)/2, j integral.
std::pair<Value, Value> reduceByLn2(ScalarMath &m, Value x) {
  Value j = m.nearest(m.mul(x, m.c(kLog2E)));
  Value f = m.fma(j, m.c(-kLn2High), x);
  return {j, m.fma(j, m.c(-kLn2Low), f)};
}

/// Exponent e and f = mantissa - 1 with x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); x positive.
std::pair<Value, Value> splitExponent(ScalarMath &m, Value x) {
  Value tiny = m.less(x, m.c(0x1p-126));
  Value scaled = m.select(tiny, m.mul(x, m.c(0x1p23)), x);
  Value base = m.i(0x3f3504f3); // sqrt(1/2)
  Value offset = arith::SubIOp::create(m.b, m.bits(scaled), base);
  Value e = arith::ShRSIOp::create(m.b, offset, m.i(23));
  Value fraction = arith::AndIOp::create(m.b, offset, m.i(0x7fffff));
  Value mantissa = m.fromBits(arith::AddIOp::create(m.b, fraction, base));
  Value exponent = m.toFloat(e);
  exponent = m.select(tiny, m.sub(exponent, m.c(23)), exponent);
  return {exponent, m.sub(mantissa, m.c(1))};
}

/// log(1 + f) - f.
Value logTail(ScalarMath &m, Value f, Value start) {
  Value square = m.mul(f, f);
  Value cubic = m.mul(m.mul(square, f), m.polynomial(poly::kLog, f));
  Value sum = start ? m.add(cubic, start) : cubic;
  return m.fma(m.c(-0.5), square, sum);
}

/// The values that no polynomial gives: log of zero, infinity, negative numbers and NaN.
Value logSpecial(ScalarMath &m, Value x, Value shifted, Value result) {
  Value zero = m.c(0);
  result = m.select(m.equal(shifted, zero), m.c(-INFINITY), result);
  result = m.select(m.equal(x, m.infinity()), m.infinity(), result);
  Value valid = m.compare(arith::CmpFPredicate::OGE, shifted, zero);
  return m.select(valid, result, m.nan());
}

FloatType f32(ImplicitLocOpBuilder &b) { return b.getF32Type(); }

} // namespace

Value mlir::mp::expandExp(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, f32(b));
  Value bounded = m.clamp(x, -104, 89);
  auto [j, f] = reduceByLn2(m, bounded);
  Value tail = m.fma(m.mul(f, f), m.polynomial(poly::kExp, f), f);
  Value result = m.scale(m.add(tail, m.c(1)), m.toInt(j));
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandExp2(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, f32(b));
  Value bounded = m.clamp(x, -151, 129);
  Value j = m.nearest(bounded);
  Value f = m.sub(bounded, j);
  Value result = m.scale(m.fma(f, m.polynomial(poly::kExp2, f), m.c(1)), m.toInt(j));
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandExpM1(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, f32(b));
  Value bounded = m.clamp(x, -30, 89);
  auto [j, f] = reduceByLn2(m, bounded);
  Value tail = m.fma(m.mul(f, f), m.polynomial(poly::kExp, f), f); // exp(f) - 1
  // 2^j tail + (2^j - 1), at half size so that 2^128 does not overflow too early.
  Value half = m.powerOfTwo(arith::SubIOp::create(b, m.toInt(j), m.i(1)));
  Value result = m.mul(m.fma(tail, half, m.sub(half, m.c(0.5))), m.c(2));
  result = m.select(m.equal(bounded, m.c(0)), x, result); // keeps the sign of zero
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandLog(ImplicitLocOpBuilder &b, Value x, LogBase base) {
  ScalarMath m(b, f32(b));
  auto [e, f] = splitExponent(m, x);
  Value result;
  if (base == LogBase::E) {
    Value tail = logTail(m, f, m.mul(e, m.c(kLn2Low)));
    result = m.fma(e, m.c(kLn2High), m.add(f, tail));
  } else {
    bool two = base == LogBase::Two;
    double factor = two ? kLog2E : 0.43429448190325183;
    double low = factor - double(float(factor));
    Value tail = logTail(m, f, Value());
    Value sum = m.fma(f, m.c(low), m.mul(tail, m.c(factor)));
    if (two) {
      result = m.add(e, m.fma(f, m.c(factor), sum));
    } else {
      constexpr double high = 0x1.344p-2, rest = 0.30102999566398120 - high;
      sum = m.fma(e, m.c(rest), sum);
      result = m.fma(e, m.c(high), m.fma(f, m.c(factor), sum));
    }
  }
  return logSpecial(m, x, x, result);
}

Value mlir::mp::expandLog1p(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, f32(b));
  Value one = m.c(1);
  Value shifted = m.add(x, one);
  // What the addition lost, relative to the sum.
  Value lostSmall = m.sub(x, m.sub(shifted, one));
  Value lostLarge = m.sub(one, m.sub(shifted, x));
  Value lost = m.div(m.select(m.less(x, one), lostSmall, lostLarge), shifted);
  auto [e, f] = splitExponent(m, shifted);
  Value tail = logTail(m, f, m.fma(e, m.c(kLn2Low), lost));
  Value result = m.fma(e, m.c(kLn2High), m.add(f, tail));
  result = m.select(m.less(m.abs(x), m.c(0x1p-25)), x, result);
  return logSpecial(m, x, shifted, result);
}

Value mlir::mp::expandTanh(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, f32(b));
  Value a = m.abs(x);
  Value square = m.mul(x, x);
  Value small = m.fma(m.mul(square, x), m.polynomial(poly::kTanh, square), x);
  Value bounded = m.clamp(a, 0, 10);
  Value e = expandExp(b, m.add(bounded, bounded));
  Value large = m.sub(m.c(1), m.div(m.c(2), m.add(e, m.c(1))));
  Value result = m.select(m.less(a, m.c(0.55)), small, m.copySign(large, x));
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandErf(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, f32(b));
  Value a = m.abs(x);
  Value square = m.mul(x, x);
  Value small = m.fma(x, m.polynomial(poly::kErf, square), x);
  Value bounded = m.clamp(a, 0.92, 4);
  Value exponent = m.polynomial(poly::kErfcLog, bounded);
  Value large = m.sub(m.c(1), expandExp(b, m.sub(m.c(0), exponent)));
  Value result = m.select(m.less(a, m.c(0.92)), small, m.copySign(large, x));
  return m.select(m.isNaN(x), x, result);
}

Value mlir::mp::expandSinh(ImplicitLocOpBuilder &b, Value x) {
  // With e = exp(|x|) - 1: sinh = (e + e / (e + 1)) / 2, without cancellation; from 20 on the second
  // term is lost, and exp(|x| / 2)^2 / 2 overflows no earlier than the result.
  ScalarMath m(b, f32(b));
  Value a = m.abs(x);
  Value e = expandExpM1(b, a);
  Value small = m.mul(m.c(0.5), m.add(e, m.div(e, m.add(e, m.c(1)))));
  Value root = expandExp(b, m.mul(a, m.c(0.5)));
  Value large = m.mul(m.mul(m.c(0.5), root), root);
  Value result = m.select(m.less(a, m.c(20)), small, large);
  return m.select(m.isNaN(x), x, m.copySign(result, x));
}

Value mlir::mp::expandAsinh(ImplicitLocOpBuilder &b, Value x) {
  // log1p(a + a^2 / (1 + sqrt(a^2 + 1))); for large a, log(2a).
  ScalarMath m(b, f32(b));
  Value a = m.abs(x), one = m.c(1);
  Value square = m.mul(a, a);
  Value root = math::SqrtOp::create(b, m.add(square, one));
  Value small = expandLog1p(b, m.add(a, m.div(square, m.add(one, root))));
  Value large = m.add(expandLog(b, a, LogBase::E), m.c(0.69314718055994531));
  Value result = m.select(m.less(a, m.c(0x1p30)), small, large);
  return m.select(m.isNaN(x), x, m.copySign(result, x));
}

Value mlir::mp::expandAtanh(ImplicitLocOpBuilder &b, Value x) {
  // log1p(2a / (1 - a)) / 2; NaN beyond one comes out of the logarithm.
  ScalarMath m(b, f32(b));
  Value a = m.abs(x);
  Value ratio = m.div(m.add(a, a), m.sub(m.c(1), a));
  Value result = m.mul(m.c(0.5), expandLog1p(b, ratio));
  return m.copySign(result, x);
}

Value mlir::mp::expandAtan(ImplicitLocOpBuilder &b, Value x) {
  // atan(a) = pi/2 - atan(1/a) above one.
  ScalarMath m(b, f32(b));
  Value a = m.abs(x), one = m.c(1);
  Value outside = m.less(one, a);
  Value t = m.select(outside, m.div(one, a), a);
  Value square = m.mul(t, t);
  Value inner = m.fma(m.mul(square, t), m.polynomial(poly::kAtan, square), t);
  constexpr double high = 0x1.921fb6p+0, low = -0x1.777a5cp-25; // pi/2
  Value flipped = m.add(m.sub(m.c(high), inner), m.c(low));
  Value result = m.select(outside, flipped, inner);
  return m.select(m.isNaN(x), x, m.copySign(result, x));
}

Value mlir::mp::expandRsqrt(ImplicitLocOpBuilder &b, Value x) {
  auto type = cast<FloatType>(x.getType());
  ScalarMath m(b, type);
  return m.div(m.c(1), math::SqrtOp::create(b, x));
}
