// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the transfer functions of elementwise ops, casts and selects (Transfer.h).

#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"
#include "mp/Domains/Transfer.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

/// A result with nothing but its provenance decided; callers fill in the rest and finish().
static FloatFacts resultOf(std::initializer_list<const FloatFacts *> operands) {
  FloatFacts result;
  result.mayNaN = false;
  result.mayInf = false;
  for (const FloatFacts *operand : operands) {
    result.provenance = weakest(result.provenance, operand->provenance);
    result.mayNaN |= operand->mayNaN;
  }
  return result;
}

static FloatFacts finish(FloatFacts result, RowLength rowLength) {
  result.normalize();
  result.reduce(rowLength);
  return result;
}

/// Does f reach an infinity at this argument set although f's argument is finite there?
static bool reachesPole(UnaryFn fn, const FloatFacts &x) {
  switch (fn) {
  case UnaryFn::Reciprocal:
  case UnaryFn::Rsqrt:
  case UnaryFn::Log:
  case UnaryFn::Log2:
  case UnaryFn::Log10: return x.mayBeZero();
  case UnaryFn::Log1p: return x.range.contains(-1);
  case UnaryFn::Atanh: return x.range.contains(1) || x.range.contains(-1);
  default: return false;
  }
}

static bool mapsInfToNaN(UnaryFn fn) {
  return fn == UnaryFn::Sin || fn == UnaryFn::Cos || fn == UnaryFn::Tan;
}

FloatFacts unary(UnaryFn fn, const FloatFacts &x, RowLength rowLength) {
  if (x.isBottom())
    return x;
  FloatFacts result = resultOf({&x});
  result.range = image(fn, x.range);
  result.mayNaN |= !domainOf(fn).contains(x.range) || (x.mayInf && mapsInfToNaN(fn));
  // x times something that is 0 at -inf: NaN when written out, 0 as a limit.
  bool isGated = fn == UnaryFn::Gelu || fn == UnaryFn::GeluTanh || fn == UnaryFn::Silu;
  result.mayNaN |= isGated && x.mayBeNegativeInf();
  result.mayInf = x.mayInf || reachesPole(fn, x);
  result.integerValued = hasIntegerValues(fn) || (keepsIntegers(fn) && x.integerValued);
  result.nonZero = neverVanishes(fn) || (vanishesOnlyAtZero(fn) && !x.mayBeZero());
  // 1/inf and exp(-inf) are zero.
  if (x.mayInf && (neverVanishes(fn) || isGated) && result.range.contains(0))
    result.nonZero = false;
  if (std::optional<double> factor = linearBound(fn))
    result.norm2 = mulUp(*factor, x.norm2);
  // 1/-0 is -inf, and signs of zeros are not tracked.
  if (x.mayBeZero() && (fn == UnaryFn::Reciprocal || fn == UnaryFn::Rsqrt))
    result.range = Interval::top();
  return finish(std::move(result), rowLength);
}

llvm::StringRef getName(BinaryFn fn) {
  static constexpr const char *names[] = {"add",     "sub",     "mul",    "div",
                                          "rem",     "pow",     "atan2",  "copysign",
                                          "maximum", "minimum", "maxnum", "minnum"};
  static_assert(sizeof(names) / sizeof(names[0]) == kNumBinaryFns);
  return names[static_cast<unsigned>(fn)];
}

static Interval binaryRange(BinaryFn fn, const Interval &x, const Interval &y) {
  switch (fn) {
  case BinaryFn::Add: return add(x, y);
  case BinaryFn::Sub: return sub(x, y);
  case BinaryFn::Mul: return mul(x, y);
  case BinaryFn::Div: return div(x, y);
  case BinaryFn::Rem: return rem(x, y);
  case BinaryFn::Atan2: return atan2(x, y);
  case BinaryFn::CopySign: return copySign(x, y);
  case BinaryFn::Maximum: return max(x, y);
  case BinaryFn::Minimum: return min(x, y);
  // When one side is NaN the other comes through unchanged, which the caller adds.
  case BinaryFn::MaxNum: return max(x, y);
  case BinaryFn::MinNum: return min(x, y);
  case BinaryFn::Pow: {
    Interval positive = powPositive(x, y);
    if (x.isEmpty() || x.lo >= 0)
      return positive;
    if (y.isPoint() && y.lo == std::trunc(y.lo) && std::fabs(y.lo) < 0x1p53)
      return powInteger(x, static_cast<int64_t>(y.lo));
    Interval mirrored = powPositive({std::max(0.0, -x.hi), -x.lo}, y);
    return hull(positive, hull(mirrored, neg(mirrored)));
  }
  }
  return Interval::top();
}

/// NaN made from operands that are not NaN.
static bool makesNaN(BinaryFn fn, const FloatFacts &x, const FloatFacts &y) {
  switch (fn) {
  case BinaryFn::Add:
    return (x.mayBePositiveInf() && y.mayBeNegativeInf()) ||
           (x.mayBeNegativeInf() && y.mayBePositiveInf());
  case BinaryFn::Sub:
    return (x.mayBePositiveInf() && y.mayBePositiveInf()) ||
           (x.mayBeNegativeInf() && y.mayBeNegativeInf());
  case BinaryFn::Mul: return (x.mayInf && y.mayBeZero()) || (x.mayBeZero() && y.mayInf);
  case BinaryFn::Div: return (x.mayInf && y.mayInf) || (x.mayBeZero() && y.mayBeZero());
  case BinaryFn::Rem: return x.mayInf || y.mayBeZero();
  case BinaryFn::Pow: return x.range.lo < 0 && !y.integerValued;
  default: return false;
  }
}

/// Infinities made from finite operands.
static bool makesInf(BinaryFn fn, const FloatFacts &x, const FloatFacts &y) {
  switch (fn) {
  case BinaryFn::Div: return y.mayBeZero();
  case BinaryFn::Pow: return x.mayBeZero() && y.range.lo < 0;
  default: return false;
  }
}

static bool binaryNonZero(BinaryFn fn, const FloatFacts &x, const FloatFacts &y) {
  switch (fn) {
  case BinaryFn::Mul: return !x.mayBeZero() && !y.mayBeZero();
  case BinaryFn::Div: return !x.mayBeZero() && !y.mayInf;
  case BinaryFn::Pow: return !x.mayBeZero() && !x.mayInf && !y.mayInf;
  case BinaryFn::CopySign: return !x.mayBeZero();
  case BinaryFn::Maximum:
  case BinaryFn::Minimum:
  case BinaryFn::MaxNum:
  case BinaryFn::MinNum: return !x.mayBeZero() && !y.mayBeZero();
  default: return false;
  }
}

static double binaryNorm(BinaryFn fn, const FloatFacts &x, const FloatFacts &y) {
  switch (fn) {
  case BinaryFn::Add:
  case BinaryFn::Sub: return addUp(x.norm2, y.norm2);
  case BinaryFn::Mul: return std::min(mulUp(x.mag(), y.norm2), mulUp(y.mag(), x.norm2));
  case BinaryFn::Div: return y.range.mig() > 0 ? divUp(x.norm2, y.range.mig()) : kInfinity;
  case BinaryFn::Rem: return std::min(x.norm2, y.norm2);
  case BinaryFn::CopySign: return x.norm2;
  // max(x, y)^2 <= x^2 + y^2 element by element.
  case BinaryFn::Maximum:
  case BinaryFn::Minimum:
  case BinaryFn::MaxNum:
  case BinaryFn::MinNum: return sqrtUp(addUp(mulUp(x.norm2, x.norm2), mulUp(y.norm2, y.norm2)));
  default: return kInfinity;
  }
}

FloatFacts binary(BinaryFn fn, const FloatFacts &x, const FloatFacts &y, RowLength rowLength) {
  if (x.isBottom() || y.isBottom())
    return FloatFacts::bottom();
  FloatFacts result = resultOf({&x, &y});
  bool numForm = fn == BinaryFn::MaxNum || fn == BinaryFn::MinNum;
  result.range = binaryRange(fn, x.range, y.range);
  if (numForm && x.mayNaN)
    result.range = hull(result.range, y.range);
  if (numForm && y.mayNaN)
    result.range = hull(result.range, x.range);
  result.mayNaN |= makesNaN(fn, x, y);
  if (numForm)
    result.mayNaN = x.mayNaN && y.mayNaN;
  // pow(NaN, 0) and pow(1, NaN) are 1.
  if (fn == BinaryFn::Pow && result.mayNaN)
    result.range = hull(result.range, Interval::point(1));
  result.mayInf = x.mayInf || y.mayInf || makesInf(fn, x, y);
  // pow of a NaN-free pair is an integer when a non-negative integer exponent meets an integer.
  result.integerValued = fn == BinaryFn::Pow
                             ? x.integerValued && y.integerValued && y.range.lo >= 0
                             : fn != BinaryFn::Div && fn != BinaryFn::Atan2 && x.integerValued &&
                                   (fn == BinaryFn::CopySign || y.integerValued);
  result.nonZero = binaryNonZero(fn, x, y);
  result.norm2 = binaryNorm(fn, x, y);
  if (makesInf(fn, x, y)) // of either sign: signs of zeros are not tracked
    result.range = Interval::top();
  if (fn == BinaryFn::CopySign && y.mayNaN)
    result.range = hull(result.range, neg(result.range));
  // Infinite operands reach limits that a finite quotient approaches; atan2 and rem stay bounded.
  if (fn == BinaryFn::Div && (x.mayInf || y.mayInf) && !result.range.isEmpty())
    result.range = hull(result.range, Interval::point(0));
  return finish(std::move(result), rowLength);
}

FloatFacts fma(const FloatFacts &x, const FloatFacts &y, const FloatFacts &z, RowLength rowLength) {
  return binary(BinaryFn::Add, binary(BinaryFn::Mul, x, y, rowLength), z, rowLength);
}

FloatFacts powInteger(const FloatFacts &x, int64_t exponent, RowLength rowLength) {
  if (x.isBottom())
    return x;
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return unary(UnaryFn::Square, x, rowLength);
  FloatFacts result = resultOf({&x});
  if (exponent == 0) // pow(NaN, 0) is 1 as well
    result = FloatFacts::constant(1);
  else
    result.range = powInteger(x.range, exponent);
  bool pole = exponent < 0 && x.mayBeZero();
  if (pole)
    result.range = Interval::top();
  result.mayInf = exponent != 0 && (x.mayInf || pole);
  result.integerValued = x.integerValued && exponent >= 0;
  result.nonZero = exponent == 0 || (!x.mayBeZero() && !(x.mayInf && exponent < 0));
  return finish(std::move(result), rowLength);
}

FloatFacts select(const FloatFacts &x, const FloatFacts &y, RowLength rowLength) {
  if (x.isBottom() || y.isBottom())
    return FloatFacts::bottom();
  FloatFacts result = join(x, y);
  // A row may mix both: its squares add.
  result.norm2 = sqrtUp(addUp(mulUp(x.norm2, x.norm2), mulUp(y.norm2, y.norm2)));
  return finish(std::move(result), rowLength);
}

FloatFacts clamp(const FloatFacts &x, double lo, double hi, bool dropsNaN, RowLength rowLength) {
  if (x.isBottom())
    return x;
  BinaryFn maxFn = dropsNaN ? BinaryFn::MaxNum : BinaryFn::Maximum;
  BinaryFn minFn = dropsNaN ? BinaryFn::MinNum : BinaryFn::Minimum;
  FloatFacts result = binary(maxFn, x, FloatFacts::constant(lo), rowLength);
  result = binary(minFn, result, FloatFacts::constant(hi), rowLength);
  // With 0 in [lo, hi] clamping never grows a magnitude.
  if (lo <= 0 && 0 <= hi && !(dropsNaN && x.mayNaN))
    result.norm2 = std::min(result.norm2, x.norm2);
  return finish(std::move(result), rowLength);
}

} // namespace mpcore::domains
