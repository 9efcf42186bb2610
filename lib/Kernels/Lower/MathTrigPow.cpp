// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sine, cosine, powers and remainders.
#include "MathFunctions.h"
#include "Polynomials.h"
#include "ScalarMath.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;
namespace poly = mlir::mp::polynomial;

/// x = k pi/2 + r with |r| <= pi/4 (a little more at the ends); returns r in f32 and k mod 2^32.
static std::pair<Value, Value> reduceByHalfPi(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, b.getF32Type()), d(b, b.getF64Type());
  constexpr double twoOverPi = 0.63661977236758134;
  // Three parts of pi/2 in f32: fused steps keep enough bits up to about 1e5. Beyond, f64.
  Value small = m.less(m.abs(x), m.c(105615));
  auto branch = scf::IfOp::create(b, TypeRange{b.getF32Type(), b.getI32Type()}, small, true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value k = m.nearest(m.mul(x, m.c(twoOverPi)));
    Value r = m.fma(k, m.c(-0x1.921fb4p+0), x);
    r = m.fma(k, m.c(-0x1.4442d0p-24), r);
    r = m.fma(k, m.c(-0x1.84698ap-48), r);
    scf::YieldOp::create(b, ValueRange{r, m.toInt(k)});
    b.setInsertionPointToStart(branch.elseBlock());
    Value wide = arith::ExtFOp::create(b, b.getF64Type(), x);
    wide = d.clamp(wide, -0x1p50, 0x1p50);
    Value n = d.nearest(d.mul(wide, d.c(twoOverPi)));
    Value rest = d.fma(n, d.c(-0x1.921fb54442d18p+0), wide);
    rest = d.fma(n, d.c(-0x1.1a62633145c07p-54), rest);
    Value quadrant = arith::TruncIOp::create(b, b.getI32Type(), d.toInt(n));
    scf::YieldOp::create(b, ValueRange{arith::TruncFOp::create(b, b.getF32Type(), rest), quadrant});
  }
  return {branch.getResult(0), branch.getResult(1)};
}

/// sin(x + shift pi/2).
static Value expandSine(ImplicitLocOpBuilder &b, Value x, int64_t shift) {
  ScalarMath m(b, b.getF32Type());
  auto [r, k] = reduceByHalfPi(b, x);
  Value quadrant = arith::AddIOp::create(b, k, m.i(shift));
  Value square = m.mul(r, r);
  Value sine = m.fma(m.mul(square, r), m.polynomial(poly::kSin, square), r);
  Value cosine = m.fma(m.mul(square, square), m.polynomial(poly::kCos, square),
                       m.fma(m.c(-0.5), square, m.c(1)));
  auto bit = [&](int64_t mask) -> Value {
    Value masked = arith::AndIOp::create(b, quadrant, m.i(mask));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked, m.i(0));
  };
  Value value = m.select(bit(1), cosine, sine);
  value = m.select(bit(2), arith::NegFOp::create(b, value), value);
  Value finite = m.less(m.abs(x), m.infinity());
  return m.select(finite, value, m.nan());
}

Value mlir::mp::expandSin(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, b.getF32Type());
  Value zero = m.equal(x, m.c(0)); // keeps the sign of zero
  return m.select(zero, x, expandSine(b, x, 0));
}

Value mlir::mp::expandCos(ImplicitLocOpBuilder &b, Value x) { return expandSine(b, x, 1); }

/// log2 of a positive f64 that came from an f32; -inf for zero, inf for inf.
static Value log2Wide(ScalarMath &d, Value x) {
  Value base = d.i(0x3fe6a09e667f3bcd); // sqrt(1/2)
  Value offset = arith::SubIOp::create(d.b, d.bits(x), base);
  Value e = d.toFloat(arith::ShRSIOp::create(d.b, offset, d.i(52)));
  Value fraction = arith::AndIOp::create(d.b, offset, d.i(0xfffffffffffff));
  Value mantissa = d.fromBits(arith::AddIOp::create(d.b, fraction, base));
  Value one = d.c(1);
  Value z = d.div(d.sub(mantissa, one), d.add(mantissa, one));
  Value square = d.mul(z, z);
  Value atanh = d.fma(d.mul(square, z), d.polynomial(poly::kAtanh64, square), z);
  Value result = d.fma(atanh, d.c(2 * 1.4426950408889634), e);
  result = d.select(d.equal(x, d.infinity()), d.infinity(), result);
  return d.select(d.equal(x, d.c(0)), d.c(-INFINITY), result);
}

/// 2^x as an f64 that rounds to the right f32, infinities and zero included.
static Value exp2Wide(ScalarMath &d, Value x) {
  Value bounded = d.clamp(x, -200, 200);
  Value j = d.nearest(bounded);
  Value f = d.sub(bounded, j);
  Value p = d.fma(f, d.polynomial(poly::kExp264, f), d.c(1));
  return d.mul(p, d.powerOfTwo(d.toInt(j)));
}

Value mlir::mp::expandPow(ImplicitLocOpBuilder &b, Value x, Value y) {
  ScalarMath m(b, b.getF32Type()), d(b, b.getF64Type());
  auto widen = [&](Value v) { return arith::ExtFOp::create(b, b.getF64Type(), v).getResult(); };
  Value wideY = widen(y);
  Value t = d.mul(wideY, log2Wide(d, widen(m.abs(x))));
  Value result = arith::TruncFOp::create(b, b.getF32Type(), exp2Wide(d, t));

  // A negative base: the sign of odd powers, NaN for powers that are not integral.
  Value absY = m.abs(y);
  Value integral = m.equal(math::FloorOp::create(b, y), y);
  Value parity = m.toInt(m.clamp(absY, 0, 0x1p25)); // from 2^24 on every f32 is even
  Value oddBit = arith::AndIOp::create(b, parity, m.i(1));
  Value odd = arith::AndIOp::create(
      b, integral, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, oddBit, m.i(0)));
  result = m.select(odd, m.copySign(result, x), result);
  Value negative = arith::AndIOp::create(b, m.less(x, m.c(0)), m.less(m.c(-INFINITY), x));
  Value fractional = arith::XOrIOp::create(
      b, integral, arith::ConstantOp::create(b, b.getBoolAttr(true)));
  result = m.select(arith::AndIOp::create(b, negative, fractional), m.nan(), result);

  Value anyNaN = m.compare(arith::CmpFPredicate::UNO, x, y);
  result = m.select(anyNaN, m.add(x, y), result);
  // (-1)^(+-inf) and 1^y are 1, and x^0 is, whatever the other is.
  Value minusOne = arith::AndIOp::create(b, m.equal(x, m.c(-1)), m.equal(absY, m.infinity()));
  Value isOne = arith::OrIOp::create(b, m.equal(x, m.c(1)), m.equal(y, m.c(0)));
  return m.select(arith::OrIOp::create(b, isOne, minusOne), m.c(1), result);
}

Value mlir::mp::expandRemainder(ImplicitLocOpBuilder &b, Value x, Value y) {
  // In f64 every step r - trunc(r/y) y of f32 values is exact and takes about 50 bits off r, so
  // that the loop ends after a few turns whatever the exponents are.
  auto type = cast<FloatType>(x.getType());
  ScalarMath d(b, b.getF64Type());
  auto widen = [&](Value v) {
    return type.isF64() ? v : arith::ExtFOp::create(b, b.getF64Type(), v).getResult();
  };
  Value wideX = widen(x), wideY = widen(y);
  Value divisor = d.abs(wideY);
  auto loop = scf::WhileOp::create(
      b, TypeRange{b.getF64Type()}, ValueRange{d.abs(wideX)},
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder inner(loc, nested);
        ScalarMath m(inner, nested.getF64Type());
        Value more = m.compare(arith::CmpFPredicate::OGE, m.abs(args[0]), divisor);
        scf::ConditionOp::create(inner, more, args);
      },
      [&](OpBuilder &nested, Location loc, ValueRange args) {
        ImplicitLocOpBuilder inner(loc, nested);
        ScalarMath m(inner, nested.getF64Type());
        Value quotient = math::TruncOp::create(inner, m.div(args[0], divisor));
        Value rest = m.fma(arith::NegFOp::create(inner, quotient), divisor, args[0]);
        scf::YieldOp::create(inner, ValueRange{rest});
      });
  Value rest = loop.getResult(0);
  rest = d.select(d.less(rest, d.c(0)), d.add(rest, divisor), rest);
  rest = d.copySign(rest, wideX);
  rest = d.select(d.compare(arith::CmpFPredicate::UNO, wideX, wideY), d.nan(), rest);
  return type.isF64() ? rest : arith::TruncFOp::create(b, type, rest).getResult();
}
