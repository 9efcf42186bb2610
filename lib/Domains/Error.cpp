// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Combines the errors of operands with the rounding of elementwise ops and casts.

#include "mp/Domains/Error.h"

#include "ErrorDetail.h"

#include <algorithm>

namespace mpcore::domains {

using namespace detail;

ErrorFacts ErrorFacts::bottom() {
  ErrorFacts error = none();
  error.visited = false;
  return error;
}

ErrorFacts ErrorFacts::none() {
  ErrorFacts error;
  error.abs = error.norm2 = error.relative = 0;
  return error;
}

ErrorFacts ErrorFacts::absolute(double abs) {
  ErrorFacts error;
  error.abs = abs;
  if (abs == 0)
    error.norm2 = error.relative = 0;
  return error;
}

bool operator==(const ErrorFacts &a, const ErrorFacts &b) {
  if (a.isBottom() || b.isBottom())
    return a.isBottom() == b.isBottom();
  return a.abs == b.abs && a.norm2 == b.norm2 && a.relative == b.relative &&
         a.provenance == b.provenance;
}

void ErrorFacts::print(llvm::raw_ostream &os) const {
  if (isBottom()) {
    os << "unvisited";
    return;
  }
  if (isExact()) {
    os << "exact";
    return;
  }
  bool first = true;
  auto item = [&](const char *name, double bound) {
    if (!(bound < kInf))
      return;
    os << (first ? "" : " ") << name << "<=";
    printNumber(os, bound);
    first = false;
  };
  item("", abs);
  item("norm", norm2);
  item("relative", relative);
  if (first)
    os << "unknown";
  if (provenance != Provenance::Proved)
    os << " (" << toString(provenance) << ')';
}

ErrorFacts join(const ErrorFacts &a, const ErrorFacts &b) {
  if (a.isBottom())
    return b;
  if (b.isBottom())
    return a;
  ErrorFacts joined;
  joined.abs = std::max(a.abs, b.abs);
  joined.norm2 = std::max(a.norm2, b.norm2);
  joined.relative = std::max(a.relative, b.relative);
  joined.provenance = weakest(a.provenance, b.provenance);
  return joined;
}

bool isAtMost(const ErrorFacts &a, const ErrorFacts &b) {
  if (a.isBottom() || b.isBottom())
    return a.isBottom();
  return a.abs <= b.abs && a.norm2 <= b.norm2 && a.relative <= b.relative;
}

Interval Measured::computedRange() const {
  if (!(error.abs < kInf))
    return computed;
  return intersect(inflate(value.range, error.abs), computed);
}

double Measured::computedMag() const {
  return std::min(addUp(value.mag(), error.abs), computed.mag());
}

double roundingError(double magnitude, const Arithmetic &arithmetic) {
  if (magnitude == 0)
    return 0;
  const numerics::FormatInfo &facts = numerics::info(arithmetic.format);
  auto [threshold, tieOverflows] = overflowThreshold(arithmetic.format);
  if (!(magnitude < threshold) && !(magnitude == threshold && !tieOverflows))
    return kInf;
  int exponent = std::max(std::ilogb(magnitude), facts.minExponent);
  double halfUlp = std::ldexp(facts.unitRoundoff, exponent);
  return std::max(halfUlp, facts.underflowUnit) * 2 * arithmetic.ulps;
}

namespace detail {

double rowBound(double perElement, RowLength rowLength) {
  return rowLength ? mulUp(perElement, sqrtUp(static_cast<double>(*rowLength))) : kInf;
}

ErrorFacts finish(ErrorFacts error, const FloatFacts &exact, const Arithmetic &arithmetic) {
  auto clean = [](double &bound) {
    if (std::isnan(bound))
      bound = kInf;
  };
  clean(error.abs);
  clean(error.norm2);
  clean(error.relative);
  if (exact.mag() < kInf && error.relative < kInf)
    error.abs = std::min(error.abs, mulUp(error.relative, exact.mag()));
  error.abs = std::min(error.abs, error.norm2);
  error.norm2 = std::min(error.norm2, rowBound(error.abs, arithmetic.rowLength));
  if (double least = exact.range.mig(); least > 0)
    error.relative = std::min(error.relative, divUp(error.abs, least));
  if (error.abs == 0)
    error.norm2 = error.relative = 0;
  return error;
}

ErrorFacts rounded(ErrorFacts inherited, const FloatFacts &exact, const Arithmetic &arithmetic) {
  const numerics::FormatInfo &facts = numerics::info(arithmetic.format);
  double magnitude = addUp(exact.mag(), inherited.abs);
  // Small integers are members of the format.
  bool isMember = inherited.abs == 0 && exact.integerValued &&
                  exact.mag() <= std::ldexp(1.0, static_cast<int>(facts.precision)) &&
                  facts.minNormal <= 1 && exact.mag() <= facts.maxFinite;
  if (isMember)
    return finish(inherited, exact, arithmetic);
  double rounding = roundingError(magnitude, arithmetic);
  double relativeStep = 2 * arithmetic.ulps * facts.unitRoundoff;
  ErrorFacts total = inherited;
  total.abs = addUp(inherited.abs, rounding);
  double rowRounding =
      std::min(rowBound(rounding, arithmetic.rowLength),
               addUp(mulUp(relativeStep, addUp(exact.norm2, inherited.norm2)),
                     rowBound(2 * arithmetic.ulps * facts.underflowUnit, arithmetic.rowLength)));
  if (rounding == kInf)
    rowRounding = kInf;
  total.norm2 = addUp(inherited.norm2, rowRounding);
  // The relative form needs normal results.
  bool staysNormal = exact.range.mig() > 0 && inherited.relative < 0.5 &&
                     exact.range.mig() * (1 - inherited.relative) >= facts.minNormal;
  total.relative = staysNormal && rounding < kInf ? addUp(addUp(inherited.relative, relativeStep),
                                                          mulUp(inherited.relative, relativeStep))
                                                  : kInf;
  return finish(total, exact, arithmetic);
}

} // namespace detail

/// Errors of two operands, element by element, with nothing rounded yet.
static ErrorFacts start(const Measured &x, const Measured &y) {
  ErrorFacts error;
  error.provenance = weakest(weakest(x.error.provenance, y.error.provenance),
                             weakest(x.value.provenance, y.value.provenance));
  return error;
}

static bool anyBottom(const Measured &x, const Measured &y) {
  return x.error.isBottom() || y.error.isBottom() || x.value.isBottom() || y.value.isBottom();
}

ErrorFacts castError(const Measured &x, const Arithmetic &arithmetic) {
  if (x.error.isBottom())
    return x.error;
  return rounded(x.error, x.value, arithmetic);
}

/// x - y lies between members of one binade when y/2 <= x <= 2y for the computed values.
static bool isSterbenz(const Interval &x, const Interval &y) {
  auto within = [](const Interval &a, const Interval &b) {
    return a.lo > 0 && b.lo > 0 && a.hi <= 2 * b.lo && b.hi <= 2 * a.lo;
  };
  return within(x, y) || within(neg(x), neg(y));
}

static ErrorFacts sumOrDifference(const Measured &x, const Measured &y, bool subtract,
                                  const Arithmetic &arithmetic) {
  if (anyBottom(x, y))
    return ErrorFacts::bottom();
  ErrorFacts error = start(x, y);
  error.abs = addUp(x.error.abs, y.error.abs);
  error.norm2 = addUp(x.error.norm2, y.error.norm2);
  FloatFacts exact =
      binary(subtract ? BinaryFn::Sub : BinaryFn::Add, x.value, y.value, arithmetic.rowLength);
  Interval right = subtract ? y.computedRange() : neg(y.computedRange());
  if (arithmetic.sterbenz && isSterbenz(x.computedRange(), right))
    return finish(error, exact, arithmetic);
  return rounded(error, exact, arithmetic);
}

ErrorFacts addError(const Measured &x, const Measured &y, const Arithmetic &arithmetic) {
  return sumOrDifference(x, y, false, arithmetic);
}

ErrorFacts subError(const Measured &x, const Measured &y, const Arithmetic &arithmetic) {
  return sumOrDifference(x, y, true, arithmetic);
}

static bool isPowerOfTwo(const Measured &x) {
  if (!x.value.range.isPoint() || !x.error.isExact())
    return false;
  int exponent;
  double value = x.value.range.lo;
  return std::isfinite(value) && std::fabs(std::frexp(value, &exponent)) == 0.5;
}

/// The exact product's error before rounding.
static ErrorFacts productInherited(const Measured &x, const Measured &y) {
  ErrorFacts error = start(x, y);
  double ex = x.error.abs, ey = y.error.abs;
  error.abs = addUp(addUp(mulUp(x.value.mag(), ey), mulUp(y.value.mag(), ex)), mulUp(ex, ey));
  error.norm2 =
      addUp(addUp(mulUp(x.value.mag(), y.error.norm2), mulUp(y.value.mag(), x.error.norm2)),
            mulUp(ex, y.error.norm2));
  error.relative =
      addUp(addUp(x.error.relative, y.error.relative), mulUp(x.error.relative, y.error.relative));
  return error;
}

ErrorFacts mulError(const Measured &x, const Measured &y, const Arithmetic &arithmetic) {
  if (anyBottom(x, y))
    return ErrorFacts::bottom();
  ErrorFacts error = productInherited(x, y);
  FloatFacts exact = binary(BinaryFn::Mul, x.value, y.value, arithmetic.rowLength);
  // A power of two only moves the exponent: exact unless the result is subnormal or overflows.
  if (isPowerOfTwo(x) || isPowerOfTwo(y)) {
    const numerics::FormatInfo &facts = numerics::info(arithmetic.format);
    double factor = isPowerOfTwo(x) ? x.value.mag() : y.value.mag();
    double underflow = factor < 1 ? 2 * arithmetic.ulps * facts.underflowUnit : 0;
    if (addUp(exact.mag(), error.abs) <= facts.maxFinite) {
      error.abs = addUp(error.abs, underflow);
      error.norm2 =
          addUp(error.norm2, underflow == 0 ? 0 : rowBound(underflow, arithmetic.rowLength));
      if (underflow != 0)
        error.relative = kInf;
      return finish(error, exact, arithmetic);
    }
  }
  return rounded(error, exact, arithmetic);
}

ErrorFacts divError(const Measured &x, const Measured &y, const Arithmetic &arithmetic) {
  if (anyBottom(x, y))
    return ErrorFacts::bottom();
  ErrorFacts error = start(x, y);
  double least = y.value.range.mig(), safe = subDown(least, y.error.abs);
  // |1/y - 1/z| = |y - z| / |y z|; the computed z may be known to stay away from 0 by other means,
  // too.
  double divisors = std::max(safe > 0 ? mulDown(safe, safe) : 0, mulDown(least, y.computed.mig()));
  if (!(divisors > 0) || y.error.abs == kInf) // an infinite divisor, too, is at no distance
    return error;
  FloatFacts exact = binary(BinaryFn::Div, x.value, y.value, arithmetic.rowLength);
  double inverse = divUp(1, least);
  double inverseError = divUp(y.error.abs, divisors);
  error.abs = addUp(addUp(mulUp(x.value.mag(), inverseError), mulUp(inverse, x.error.abs)),
                    mulUp(x.error.abs, inverseError));
  error.norm2 =
      addUp(mulUp(x.value.norm2, inverseError), mulUp(addUp(inverse, inverseError), x.error.norm2));
  if (y.error.relative < 1)
    error.relative = divUp(addUp(x.error.relative, y.error.relative), subDown(1, y.error.relative));
  return rounded(error, exact, arithmetic);
}

ErrorFacts fmaError(const Measured &x, const Measured &y, const Measured &z,
                    const Arithmetic &arithmetic) {
  if (anyBottom(x, y) || z.error.isBottom() || z.value.isBottom())
    return ErrorFacts::bottom();
  ErrorFacts error = productInherited(x, y);
  error.abs = addUp(error.abs, z.error.abs);
  error.norm2 = addUp(error.norm2, z.error.norm2);
  error.relative = kInf;
  error.provenance = weakest(error.provenance, weakest(z.error.provenance, z.value.provenance));
  return rounded(error, fma(x.value, y.value, z.value, arithmetic.rowLength), arithmetic);
}

/// |f(computed x) - f(exact x)| before rounding.
static double propagated(UnaryFn fn, const Measured &x, const Interval &computed) {
  double e = x.error.abs;
  if (e == 0)
    return 0;
  if (!domainOf(fn).contains(computed))
    return kInf;
  Interval both = hull(x.value.range, computed);
  Interval exactImage = image(fn, x.value.range), computedImage = image(fn, computed);
  double bound = mulUp(derivativeBound(fn, both), e);
  if (fn == UnaryFn::Exp)
    bound = std::min(bound, mulUp(exactImage.hi, image(UnaryFn::Expm1, Interval::point(e)).hi));
  if (fn == UnaryFn::Sqrt) // |sqrt a - sqrt b| <= sqrt |a - b|
    bound = std::min(bound, sqrtUp(e));
  if (hasIntegerValues(fn) && fn != UnaryFn::Sign) // steps of 1
    bound = std::min(bound, addUp(e, 1));
  double apart =
      std::max(subUp(computedImage.hi, exactImage.lo), subUp(exactImage.hi, computedImage.lo));
  return std::min(std::isnan(bound) ? kInf : bound, apart);
}

ErrorFacts unaryError(UnaryFn fn, const Measured &x, const Arithmetic &arithmetic) {
  if (x.error.isBottom() || x.value.isBottom())
    return ErrorFacts::bottom();
  ErrorFacts error;
  error.provenance = weakest(x.error.provenance, x.value.provenance);
  FloatFacts exact = unary(fn, x.value, arithmetic.rowLength);
  Interval computed = x.computedRange();
  error.abs = propagated(fn, x, computed);
  double slope = derivativeBound(fn, hull(x.value.range, computed));
  error.norm2 = mulUp(slope, x.error.norm2);
  if (isExact(fn)) {
    if (fn == UnaryFn::Neg || fn == UnaryFn::Abs || fn == UnaryFn::Identity)
      error.relative = x.error.relative;
    return finish(error, exact, arithmetic);
  }
  return rounded(error, exact, arithmetic);
}

ErrorFacts eitherError(const Measured &x, const Measured &y) {
  if (anyBottom(x, y))
    return ErrorFacts::bottom();
  ErrorFacts error = start(x, y);
  error.abs = std::max(x.error.abs, y.error.abs);
  error.norm2 =
      sqrtUp(addUp(mulUp(x.error.norm2, x.error.norm2), mulUp(y.error.norm2, y.error.norm2)));
  return error;
}

ErrorFacts binaryError(BinaryFn fn, const Measured &x, const Measured &y,
                       const Arithmetic &arithmetic) {
  switch (fn) {
  case BinaryFn::Add: return addError(x, y, arithmetic);
  case BinaryFn::Sub: return subError(x, y, arithmetic);
  case BinaryFn::Mul: return mulError(x, y, arithmetic);
  case BinaryFn::Div: return divError(x, y, arithmetic);
  case BinaryFn::Maximum:
  case BinaryFn::Minimum:
  case BinaryFn::MaxNum:
  case BinaryFn::MinNum: return eitherError(x, y);
  case BinaryFn::CopySign:
    if (anyBottom(x, y))
      return ErrorFacts::bottom();
    return y.error.isExact() ? x.error : ErrorFacts::unknown();
  case BinaryFn::Rem:
  case BinaryFn::Pow:
  case BinaryFn::Atan2: break;
  }
  if (anyBottom(x, y))
    return ErrorFacts::bottom();
  ErrorFacts error = start(x, y);
  FloatFacts exact = binary(fn, x.value, y.value, arithmetic.rowLength);
  if (x.error.isExact() && y.error.isExact()) {
    error.abs = error.norm2 = error.relative = 0;
    return fn == BinaryFn::Rem ? error : rounded(error, exact, arithmetic); // fmod is exact
  }
  if (fn == BinaryFn::Pow && y.error.isExact() && y.value.range.isPoint()) {
    // |x^p - x~^p| <= |p| sup |t^(p-1)| |x - x~| on positive t, or for an integer p.
    double p = y.value.range.lo;
    Interval both = hull(x.value.range, x.computedRange());
    bool isInteger = p == std::trunc(p) && std::fabs(p) < 0x1p31;
    if (both.lo > 0 || (isInteger && (p >= 1 || !both.contains(0)))) {
      Interval slope = both.lo > 0 ? powPositive(both, Interval::point(p - 1))
                                   : powInteger(both, static_cast<int64_t>(p) - 1);
      error.abs = mulUp(mulUp(std::fabs(p), slope.mag()), x.error.abs);
      return rounded(error, exact, arithmetic);
    }
  }
  return ErrorFacts::unknown();
}

} // namespace mpcore::domains
