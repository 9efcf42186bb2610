// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of floats: outward-rounded interval arithmetic with NaN and infinity kept apart.

#include "Facts.h"

using namespace mlir;
using namespace mlir::mp::proofs;

std::optional<Format> mlir::mp::proofs::formatOf(Type type) {
  auto given = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!given)
    return std::nullopt;
  const llvm::fltSemantics *semantics = &given.getFloatSemantics();
  if (given.isF16())
    return Format{0x1p-11, 0x1p-14, 65504, semantics};
  if (given.isBF16())
    return Format{0x1p-8, 0x1p-126, 0x1.FEp127, semantics};
  if (given.isF32())
    return Format{0x1p-24, 0x1p-126, 0x1.FFFFFEp127, semantics};
  if (given.isF64())
    return Format{0x1p-53, 0x1p-1022, 0x1.FFFFFFFFFFFFFp1023, semantics};
  return std::nullopt;
}

Facts Facts::point(double value) {
  Facts facts = between(value, value);
  if (std::isnan(value)) {
    facts = empty();
    facts.mayBeNaN = true;
  }
  facts.mayBeInfinite = std::isinf(value);
  return facts;
}

Facts Facts::between(double low, double high) {
  Facts facts;
  facts.low = low;
  facts.high = high;
  facts.mayBeNaN = facts.mayBeInfinite = false;
  return facts;
}

double Facts::magnitude() const { return isEmpty() ? 0 : std::max(std::abs(low), std::abs(high)); }

Facts &Facts::restOn(const Facts &other) {
  basis = std::max(basis, other.basis);
  confirmed &= other.confirmed;
  return *this;
}

Facts Facts::withoutKnowledge() const {
  Facts facts;
  return facts.restOn(*this);
}

Facts mlir::mp::proofs::join(const Facts &a, const Facts &b) {
  Facts facts = a;
  facts.low = std::min(a.low, b.low);
  facts.high = std::max(a.high, b.high);
  facts.mayBeNaN |= b.mayBeNaN;
  facts.mayBeInfinite |= b.mayBeInfinite;
  facts.norm = std::max(a.norm, b.norm);
  return facts.restOn(b);
}

//===-- rounding ------------------------------------------------------------------------------===//

static double roundTo(double value, const Format &format) {
  if (!std::isfinite(value))
    return value;
  APFloat number(value);
  bool loses = false;
  number.convert(*format.semantics, APFloat::rmNearestTiesToEven, &loses);
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToDouble();
}

Facts mlir::mp::proofs::rounded(Facts exact, const Format &format) {
  // Opposite infinities give ends that are no numbers.
  if (std::isnan(exact.low))
    exact.low = -kInf;
  if (std::isnan(exact.high))
    exact.high = kInf;
  if (std::isnan(exact.norm))
    exact.norm = kInf;
  if (exact.isEmpty())
    return exact;
  exact.low = roundTo(exact.low, format);
  exact.high = roundTo(exact.high, format);
  // Numbers below the normal ones may be flushed.
  if (exact.low > 0 && exact.low < format.normal)
    exact.low = 0;
  if (exact.high < 0 && exact.high > -format.normal)
    exact.high = 0;
  if (!exact.isBounded())
    exact.mayBeInfinite = true;
  exact.norm = up(exact.norm * (1 + format.unit));
  return exact;
}

//===-- functions of two values ---------------------------------------------------------------===//

static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static Facts product(const Facts &x, const Facts &y) {
  Facts z;
  double ends[] = {times(x.low, y.low), times(x.low, y.high), times(x.high, y.low),
                   times(x.high, y.high)};
  auto [least, most] = std::minmax_element(std::begin(ends), std::end(ends));
  z.low = x.isNonNegative() && y.isNonNegative() ? std::max(down(*least), 0.0) : down(*least);
  z.high = up(*most);
  z.mayBeInfinite = x.mayBeInfinite || y.mayBeInfinite;
  z.mayBeNaN = x.mayBeNaN || y.mayBeNaN || (x.mayBeInfinite && y.contains(0)) ||
               (y.mayBeInfinite && x.contains(0));
  z.norm = std::min(up(x.norm * y.magnitude()), up(y.norm * x.magnitude()));
  if (std::isnan(z.norm))
    z.norm = kInf;
  return z;
}

static Facts quotient(const Facts &x, const Facts &y) {
  Facts inverse = reciprocalOf(y);
  bool mayNaN = x.mayBeNaN || y.mayBeNaN || (x.contains(0) && y.contains(0)) ||
                (x.mayBeInfinite && y.mayBeInfinite);
  bool mayInf = x.mayBeInfinite || inverse.mayBeInfinite;
  Facts z = product(x, inverse);
  // A product of zero and a pole is not zero times infinity here: 0 / 0 is NaN, told above.
  z.mayBeNaN = mayNaN;
  z.mayBeInfinite = mayInf;
  z.norm = up(x.norm * inverse.magnitude());
  if (std::isnan(z.norm))
    z.norm = kInf;
  return z;
}

static Facts sum(const Facts &x, const Facts &y) {
  Facts z;
  z.low = down(x.low + y.low);
  z.high = up(x.high + y.high);
  if (x.isNonNegative() && y.isNonNegative())
    z.low = std::max(z.low, std::max(x.low, y.low)); // rounding is monotone
  if (x.low == 0 && x.high == 0)
    z.low = y.low, z.high = y.high;
  if (y.low == 0 && y.high == 0)
    z.low = x.low, z.high = x.high;
  z.mayBeInfinite = x.mayBeInfinite || y.mayBeInfinite;
  bool opposite = (x.high == kInf && y.low == -kInf) || (x.low == -kInf && y.high == kInf);
  z.mayBeNaN = x.mayBeNaN || y.mayBeNaN || (x.mayBeInfinite && y.mayBeInfinite && opposite);
  z.norm = up(x.norm + y.norm);
  return z;
}

static Facts extremum(Function fn, const Facts &x, const Facts &y) {
  bool isMax = fn == Function::Max || fn == Function::MaxNumber;
  bool drops = fn == Function::MaxNumber || fn == Function::MinNumber;
  Facts z;
  z.low = isMax ? std::max(x.low, y.low) : std::min(x.low, y.low);
  z.high = isMax ? std::max(x.high, y.high) : std::min(x.high, y.high);
  if (drops && (x.mayBeNaN || y.mayBeNaN)) { // the other one is left alone
    z.low = std::min(x.mayBeNaN ? y.low : z.low, y.mayBeNaN ? x.low : z.low);
    z.high = std::max(x.mayBeNaN ? y.high : z.high, y.mayBeNaN ? x.high : z.high);
    z.low = std::min(z.low, isMax ? std::max(x.low, y.low) : std::min(x.low, y.low));
    z.high = std::max(z.high, isMax ? std::max(x.high, y.high) : std::min(x.high, y.high));
  }
  z.mayBeNaN = drops ? x.mayBeNaN && y.mayBeNaN : x.mayBeNaN || y.mayBeNaN;
  z.mayBeInfinite = (x.mayBeInfinite || y.mayBeInfinite) && !(z.low > -kInf && z.high < kInf);
  z.norm = up(std::hypot(x.norm, y.norm));
  return z;
}

static Facts power(const Facts &x, const Facts &y) {
  if (y.low == 2 && y.high == 2 && !y.mayBeNaN)
    return slackened(ofUnary(Function::Square, x), kFunctionSlack);
  if (y.low == y.high && y.low > 0 && !y.mayBeNaN) { // |x^y| grows with |x|
    bool isInteger = y.low == std::floor(y.low), isEven = std::fmod(y.low, 2) == 0;
    double most = std::pow(x.magnitude(), y.low);
    Facts z = Facts::between(x.low >= 0             ? std::pow(x.low, y.low)
                             : isInteger && !isEven ? -most
                                                    : 0,
                             most);
    z.mayBeNaN = x.mayBeNaN || (x.low < 0 && !isInteger);
    z.mayBeInfinite = !z.isBounded();
    return slackened(z, 2 * kFunctionSlack);
  }
  if (!(x.low > 0) || !y.isBounded())
    return Facts();
  double ends[] = {std::pow(x.low, y.low), std::pow(x.low, y.high), std::pow(x.high, y.low),
                   std::pow(x.high, y.high)};
  auto [least, most] = std::minmax_element(std::begin(ends), std::end(ends));
  Facts z = Facts::between(std::min(*least, *most), *most);
  if (!(*least >= 0)) // an end is no number
    return Facts();
  z.mayBeNaN = x.mayBeNaN || y.mayBeNaN;
  z.mayBeInfinite = !z.isBounded();
  return slackened(z, 2 * kFunctionSlack);
}

/// x - y trunc(x / y): of the sign of x, no larger than either.
static Facts remainder(const Facts &x, const Facts &y) {
  double most = y.mayBeInfinite ? x.magnitude() : std::min(x.magnitude(), y.magnitude());
  Facts z = Facts::between(x.low >= 0 ? 0 : -most, x.high <= 0 ? 0 : most);
  z.mayBeNaN = x.mayBeNaN || y.mayBeNaN || x.mayBeInfinite || y.contains(0);
  return z;
}

/// The magnitude of x with the sign of y. NaN has a sign, too, and so has zero.
static Facts withSign(const Facts &x, const Facts &y) {
  Facts z = x;
  bool isPositive = y.low > 0 && !y.mayBeNaN, isNegative = y.high < 0 && !y.mayBeNaN;
  z.low = isPositive ? 0 : -x.magnitude();
  z.high = isNegative ? 0 : x.magnitude();
  return z;
}

Facts mlir::mp::proofs::apply(Function fn, ArrayRef<Facts> x, const Format &format) {
  Facts basis = Facts::point(0);
  for (const Facts &operand : x)
    basis.restOn(operand);
  bool isEmpty = llvm::any_of(x, [](const Facts &f) { return f.isEmpty() && !f.mayBeNaN; });
  if (isEmpty)
    return Facts::empty().restOn(basis);
  Facts result;
  bool rounds = true;
  switch (fn) {
  case Function::None: return result.restOn(basis);
  case Function::Add: result = sum(x[0], x[1]); break;
  case Function::Sub: result = sum(x[0], ofUnary(Function::Negate, x[1])); break;
  case Function::Mul: result = product(x[0], x[1]); break;
  case Function::Div: result = quotient(x[0], x[1]); break;
  case Function::Fma: result = sum(product(x[0], x[1]), x[2]); break;
  case Function::Power: result = power(x[0], x[1]); break;
  case Function::Remainder: result = remainder(x[0], x[1]); break;
  case Function::Max:
  case Function::Min:
  case Function::MaxNumber:
  case Function::MinNumber:
    result = extremum(fn, x[0], x[1]);
    rounds = false;
    break;
  case Function::Select:
    result = join(x[0], x[1]);
    rounds = false;
    break;
  case Function::CopySign:
    result = withSign(x[0], x[1]);
    rounds = false;
    break;
  case Function::Negate:
  case Function::Absolute:
  case Function::Floor:
  case Function::Ceil:
  case Function::Trunc:
  case Function::Round:
    result = ofUnary(fn, x[0]);
    rounds = false;
    break;
  case Function::Narrow: result = x[0]; break;
  default: result = ofUnary(fn, x[0]); break;
  }
  result.restOn(basis);
  return rounds ? rounded(result, format) : result;
}
