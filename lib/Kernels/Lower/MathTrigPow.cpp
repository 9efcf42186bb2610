// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sine, cosine, powers and remainders.
#include "MathFunctions.h"
#include "MathTables.h"
#include "ScalarMath.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;
namespace poly = mlir::mp::polynomial;

namespace {

struct Reduced {
  Value rest, quadrant; ///< in the type of the argument and the integer of its width
};

/// x = k pi/2 + r with |r| <= pi/4 (a little more at the ends), both in f64.
std::pair<Value, Value> reduceWide(ScalarMath &d, Value x) {
  Value bounded = d.clamp(x, -0x1p50, 0x1p50);
  Value k = d.nearest(d.mul(bounded, d.c(0.63661977236758134)));
  Value r = d.fma(k, d.c(-0x1.921fb54442d18p+0), bounded);
  r = d.fma(k, d.c(-0x1.1a62633145c07p-54), r);
  return {d.fma(k, d.c(0x1.f1976b7ed8fbcp-110), r), d.toInt(k)};
}

/// Three parts of pi/2 in f32: fused steps keep enough bits up to about 1e5. Beyond, f64.
Reduced reduceNarrow(ImplicitLocOpBuilder &b, Value x) {
  ScalarMath m(b, b.getF32Type()), d(b, b.getF64Type());
  Value small = m.less(m.abs(x), m.c(105615));
  auto branch = scf::IfOp::create(b, TypeRange{b.getF32Type(), b.getI32Type()}, small, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value k = m.nearest(m.mul(x, m.c(0.63661977236758134)));
  Value r = m.fma(k, m.c(-0x1.921fb4p+0), x);
  r = m.fma(k, m.c(-0x1.4442d0p-24), r);
  r = m.fma(k, m.c(-0x1.84698ap-48), r);
  scf::YieldOp::create(b, ValueRange{r, m.toInt(k)});
  b.setInsertionPointToStart(branch.elseBlock());
  auto [rest, wide] = reduceWide(d, arith::ExtFOp::create(b, b.getF64Type(), x));
  Value quadrant = arith::TruncIOp::create(b, b.getI32Type(), wide);
  scf::YieldOp::create(b, ValueRange{arith::TruncFOp::create(b, b.getF32Type(), rest), quadrant});
  return {branch.getResult(0), branch.getResult(1)};
}

Reduced reduceByHalfPi(ImplicitLocOpBuilder &b, Value x) {
  if (!x.getType().isF64())
    return reduceNarrow(b, x);
  ScalarMath d(b, b.getF64Type());
  auto [rest, quadrant] = reduceWide(d, x);
  return {rest, quadrant};
}

} // namespace

/// sin(x + shift pi/2).
static Value expandSine(ImplicitLocOpBuilder &b, Value x, int64_t shift) {
  auto type = cast<FloatType>(x.getType());
  const MathTables &t = tablesFor(type);
  ScalarMath m(b, type);
  auto [r, k] = reduceByHalfPi(b, x);
  Value quadrant = arith::AddIOp::create(b, k, m.i(shift));
  Value square = m.mul(r, r);
  Value sine = m.fma(m.mul(square, r), m.polynomial(t.sin, square), r);
  Value cosine =
      m.fma(m.mul(square, square), m.polynomial(t.cos, square), m.fma(m.c(-0.5), square, m.c(1)));
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
  ScalarMath m(b, cast<FloatType>(x.getType()));
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

/// |x|^y for f32 operands, which f64 holds with bits to spare.
static Value powNarrow(ImplicitLocOpBuilder &b, Value x, Value y) {
  ScalarMath d(b, b.getF64Type());
  auto widen = [&](Value v) { return arith::ExtFOp::create(b, b.getF64Type(), v).getResult(); };
  Value t = d.mul(widen(y), log2Wide(d, widen(math::AbsFOp::create(b, x))));
  return arith::TruncFOp::create(b, b.getF32Type(), exp2Wide(d, t));
}

namespace {

/// An unevaluated sum; the second part is below the last place of the first.
struct Pair {
  Value high, low;
};

/// x * y with what rounding loses.
Pair product(ScalarMath &d, Value x, Value y) {
  Value high = d.mul(x, y);
  return {high, d.fma(x, y, arith::NegFOp::create(d.b, high))};
}

Pair product(ScalarMath &d, Pair x, Pair y) {
  Pair result = product(d, x.high, y.high);
  result.low = d.add(result.low, d.fma(x.high, y.low, d.mul(x.low, y.high)));
  return result;
}

/// x + y, |x| >= |y| or x = 0.
Pair sum(ScalarMath &d, Value x, Value y) {
  Value high = d.add(x, y);
  return {high, d.sub(y, d.sub(high, x))};
}

Pair sum(ScalarMath &d, Pair x, Pair y) {
  Pair result = sum(d, x.high, y.high);
  return sum(d, result.high, d.add(result.low, d.add(x.low, y.low)));
}

/// log2 of a positive finite f64 in two parts, to about 2^-66 of the fraction of the exponent.
Pair log2InTwo(ScalarMath &d, Value x) {
  Value tiny = d.less(x, d.c(0x1p-1022));
  Value scaled = d.select(tiny, d.mul(x, d.c(0x1p52)), x);
  Value base = d.i(0x3fe6a09e667f3bcd); // sqrt(1/2)
  Value offset = arith::SubIOp::create(d.b, d.bits(scaled), base);
  Value e = d.toFloat(arith::ShRSIOp::create(d.b, offset, d.i(52)));
  e = d.select(tiny, d.sub(e, d.c(52)), e);
  Value fraction = arith::AndIOp::create(d.b, offset, d.i(0xfffffffffffff));
  Value mantissa = d.fromBits(arith::AddIOp::create(d.b, fraction, base));
  // log m = 2 atanh z with z = (m - 1) / (m + 1): z + z^3 / 3 in two parts, the rest in one.
  Value f = d.sub(mantissa, d.c(1));
  Pair below = sum(d, d.c(2), f); // m + 1 would lose a bit
  Value z = d.div(f, below.high);
  Value left = d.fma(arith::NegFOp::create(d.b, z), below.high, f);
  left = d.fma(arith::NegFOp::create(d.b, z), below.low, left);
  Pair ratio = {z, d.div(left, below.high)};
  Pair square = product(d, ratio, ratio);
  Pair third = {d.c(0x1.5555555555555p-2), d.c(0x1.5555555555555p-56)};
  Pair cubic = product(d, product(d, square, ratio), third);
  Value tail = d.mul(d.mul(square.high, square.high),
                     d.mul(z, d.polynomial(poly::kAtanh64Tail, square.high)));
  Pair atanh = sum(d, ratio, cubic);
  atanh = sum(d, atanh.high, d.add(atanh.low, tail));
  Pair fractionLog =
      product(d, atanh, {d.c(2 * 0x1.71547652b82fep+0), d.c(2 * 0x1.777d0ffda0d24p-56)});
  // The exponent is a whole number and so larger, or nothing.
  return sum(d, {e, d.c(0)}, fractionLog);
}

/// |x|^y in f64.
Value powWide(ImplicitLocOpBuilder &b, Value x, Value y) {
  ScalarMath d(b, b.getF64Type());
  Value magnitude = d.abs(x);
  Pair t = product(d, log2InTwo(d, magnitude), {y, d.c(0)});
  Value bounded = d.clamp(t.high, -1080, 1025);
  Value inside = d.equal(bounded, t.high);
  Value j = d.nearest(bounded);
  Value f = d.add(d.sub(bounded, j), d.select(inside, t.low, d.c(0)));
  Value result = d.scale(d.fma(f, d.polynomial(poly::kExp264, f), d.c(1)), d.toInt(j));
  // Bases whose logarithm is infinite.
  Value zero = d.c(0), infinity = d.infinity();
  Value grows = d.less(zero, y);
  result = d.select(d.equal(magnitude, zero), d.select(grows, zero, infinity), result);
  return d.select(d.equal(magnitude, infinity), d.select(grows, infinity, zero), result);
}

} // namespace

Value mlir::mp::expandPow(ImplicitLocOpBuilder &b, Value x, Value y) {
  auto type = cast<FloatType>(x.getType());
  ScalarMath m(b, type);
  Value result = type.isF64() ? powWide(b, x, y) : powNarrow(b, x, y);

  // A negative base: the sign of odd powers, NaN for powers that are not integral.
  Value absY = m.abs(y);
  Value integral = m.equal(math::FloorOp::create(b, y), y);
  Value parity = m.toInt(m.clamp(absY, 0, tablesFor(type).evenFrom));
  Value oddBit = arith::AndIOp::create(b, parity, m.i(1));
  Value odd = arith::AndIOp::create(
      b, integral, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, oddBit, m.i(0)));
  result = m.select(odd, m.copySign(result, x), result);
  Value negative = arith::AndIOp::create(b, m.less(x, m.c(0)), m.less(m.c(-INFINITY), x));
  Value fractional =
      arith::XOrIOp::create(b, integral, arith::ConstantOp::create(b, b.getBoolAttr(true)));
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
