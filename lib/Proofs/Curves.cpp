// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's functions of one value: monotone curves by their ends, others by what is known of
// them.

#include "Facts.h"

using namespace mlir;
using namespace mlir::mp::proofs;

Facts mlir::mp::proofs::slackened(Facts facts, double share) {
  auto move = [&](double end, double towards) {
    return std::isfinite(end) ? end + towards * std::abs(end) * share : end;
  };
  facts.low = move(facts.low, -1);
  facts.high = move(facts.high, 1);
  return facts;
}

static Facts monotone(const Facts &x, double (*fn)(double), double least, double most) {
  Facts y = x;
  double low = fn(x.low), high = fn(x.high);
  // The C library errs by less than 2^-40 of a value.
  y.low = std::clamp(low - std::abs(low) * 0x1p-40, least, most);
  y.high = std::clamp(high + std::abs(high) * 0x1p-40, least, most);
  y.norm = kInf;
  return y;
}

Facts mlir::mp::proofs::reciprocalOf(const Facts &x) {
  Facts y = x;
  y.norm = kInf;
  if (x.low > 0 || x.high < 0) {
    y.low = down(1 / x.high);
    y.high = up(1 / x.low);
    if (x.low > 0)
      y.low = std::max(y.low, 0.0);
    if (x.high < 0)
      y.high = std::min(y.high, 0.0);
    y.mayBeInfinite = false;
    return y;
  }
  bool isNonNegative = x.low >= 0; // minus zero gives minus infinity
  y.low = isNonNegative && x.low > 0 ? 0 : -kInf;
  y.high = kInf;
  y.mayBeInfinite = true;
  return y;
}

static Facts ofRoot(Function fn, const Facts &x) {
  Facts y = x;
  y.mayBeNaN |= x.low < 0;
  double low = std::max(x.low, 0.0), high = std::max(x.high, 0.0);
  y.low = std::max(down(std::sqrt(low)), 0.0);
  y.high = up(std::sqrt(high));
  y.norm = kInf;
  if (fn == Function::Sqrt)
    return slackened(y, kFunctionSlack);
  y.mayBeInfinite = !(low > 0);
  double root = y.low;
  y.low = !(low > 0)      ? -kInf // of minus zero
          : y.high < kInf ? down(1 / y.high)
                          : 0;
  y.high = low > 0 ? up(1 / root) : kInf;
  return slackened(y, kFunctionSlack);
}

namespace {
/// A function that grows, or falls, all along where it is defined. There it is a number, but at an
/// end where it is infinite; elsewhere it is NaN.
struct Curve {
  Function fn;
  double (*of)(double);
  double from, to;
  double least, most;
  bool falls = false;
};
} // namespace

/// pi, rounded up.
static constexpr double kPi = 0x1.921fb54442d19p+1;

static const Curve kCurves[] = {
    {Function::Log, std::log, 0, kInf, -kInf, kInf},
    {Function::Log2, std::log2, 0, kInf, -kInf, kInf},
    {Function::Log10, std::log10, 0, kInf, -kInf, kInf},
    {Function::Log1p, std::log1p, -1, kInf, -kInf, kInf},
    {Function::Expm1, std::expm1, -kInf, kInf, -1, kInf},
    {Function::Cbrt, std::cbrt, -kInf, kInf, -kInf, kInf},
    {Function::Sinh, std::sinh, -kInf, kInf, -kInf, kInf},
    {Function::Asinh, std::asinh, -kInf, kInf, -kInf, kInf},
    {Function::Acosh, std::acosh, 1, kInf, 0, kInf},
    {Function::Atanh, std::atanh, -1, 1, -kInf, kInf},
    {Function::Asin, std::asin, -1, 1, -kPi / 2, kPi / 2},
    {Function::Acos, std::acos, -1, 1, 0, kPi, /*falls=*/true},
    {Function::Atan, std::atan, -kInf, kInf, -kPi / 2, kPi / 2},
    {Function::Erfc, std::erfc, -kInf, kInf, 0, 2, /*falls=*/true},
};

/// Near their zeros these err by a small amount, elsewhere by a share of the value.
static std::optional<Facts> ofCurve(Function fn, const Facts &x) {
  const Curve *curve = llvm::find_if(kCurves, [&](const Curve &c) { return c.fn == fn; });
  if (curve == std::end(kCurves))
    return std::nullopt;
  Facts y = x;
  double first = curve->of(std::clamp(x.low, curve->from, curve->to));
  double last = curve->of(std::clamp(x.high, curve->from, curve->to));
  y.low = curve->falls ? last : first;
  y.high = curve->falls ? first : last;
  y = slackened(y, kFunctionSlack);
  y.low = std::max(y.low - kFunctionSlack, curve->least - kFunctionSlack);
  y.high = std::min(y.high + kFunctionSlack, curve->most + kFunctionSlack);
  y.norm = kInf;
  y.mayBeNaN |= x.low < curve->from || x.high > curve->to;
  y.mayBeInfinite = !y.isBounded();
  return y;
}

/// The half of a period in which the tangent has no pole; the slope there is at most 1 / cos^2.
static Facts ofTangent(const Facts &x) {
  constexpr double within = 1.5; // of pi / 2 = 1.5708
  if (!(x.magnitude() <= within))
    return x.withoutKnowledge();
  Facts y = slackened(monotone(x, std::tan, -kInf, kInf), kFunctionSlack);
  y.low -= kFunctionSlack;
  y.high += kFunctionSlack;
  y.mayBeInfinite = false;
  return y;
}

/// Sines rise from -pi/2 to pi/2; cosines rise from -pi to 0, and fall behind it.
static Facts ofWave(Function fn, const Facts &x) {
  const double within = fn == Function::Sin ? 1.5 : 3;
  Facts y = Facts::between(-1, 1);
  if (x.magnitude() <= within && fn == Function::Sin)
    y = Facts::between(std::sin(x.low), std::sin(x.high));
  if (x.magnitude() <= within && fn == Function::Cos)
    y = Facts::between(std::min(std::cos(x.low), std::cos(x.high)),
                       x.contains(0) ? 1 : std::max(std::cos(x.low), std::cos(x.high)));
  y.low -= kFunctionSlack;
  y.high += kFunctionSlack;
  y.mayBeNaN = x.mayBeNaN || x.mayBeInfinite;
  return y.restOn(x);
}

/// The hyperbolic cosine grows with the magnitude.
static Facts ofCosh(const Facts &x) {
  Facts y = slackened(monotone(ofUnary(Function::Absolute, x), std::cosh, 1, kInf), kFunctionSlack);
  y.mayBeInfinite = !y.isBounded();
  return y;
}

Facts mlir::mp::proofs::ofUnary(Function fn, const Facts &x) {
  Facts y = x;
  switch (fn) {
  case Function::Negate:
    std::swap(y.low, y.high);
    y.low = -y.low;
    y.high = -y.high;
    return y;
  case Function::Absolute:
    y.low = x.contains(0) ? 0 : std::min(std::abs(x.low), std::abs(x.high));
    y.high = x.magnitude();
    return y;
  case Function::Square:
    y.low = x.contains(0) ? 0 : down(std::pow(std::min(std::abs(x.low), std::abs(x.high)), 2));
    y.high = up(x.magnitude() * x.magnitude());
    y.norm = kInf;
    return y;
  case Function::Exp:
  case Function::Exp2: {
    y = slackened(monotone(
                      x,
                      fn == Function::Exp ? +[](double v) { return std::exp(v); }
                                          : +[](double v) { return std::exp2(v); },
                      0, kInf),
                  kFunctionSlack);
    if (y.low < 0x1p-125) { // functions are careless below the normal numbers
      y.low = 0;
      y.high = std::max(y.high, 0x1p-125);
    }
    y.mayBeInfinite = !(y.high < kInf);
    return y;
  }
  case Function::Tanh:
  case Function::Erf:
  case Function::Sigmoid: {
    auto curve = fn == Function::Tanh  ? +[](double v) { return std::tanh(v); }
                 : fn == Function::Erf ? +[](double v) { return std::erf(v); }
                                       : +[](double v) { return 1 / (1 + std::exp(-v)); };
    y = slackened(monotone(x, curve, fn == Function::Sigmoid ? 0 : -1, 1), kFunctionSlack);
    y.mayBeInfinite = false;
    return y;
  }
  case Function::Sin:
  case Function::Cos: return ofWave(fn, x);
  case Function::Floor:
  case Function::Ceil:
  case Function::Trunc: {
    auto step = fn == Function::Floor  ? +[](double v) { return std::floor(v); }
                : fn == Function::Ceil ? +[](double v) { return std::ceil(v); }
                                       : +[](double v) { return std::trunc(v); };
    y.low = step(x.low);
    y.high = step(x.high);
    y.norm = kInf;
    return y;
  }
  case Function::Round: // to nearest, ties to either side
    y.low = std::ceil(x.low - 0.5);
    y.high = std::floor(x.high + 0.5);
    y.norm = kInf;
    return y;
  case Function::Sqrt:
  case Function::Rsqrt: return ofRoot(fn, x);
  case Function::Reciprocal: return slackened(reciprocalOf(x), kFunctionSlack);
  case Function::Cosh: return ofCosh(x);
  case Function::Tan: return ofTangent(x);
  default: return ofCurve(fn, x).value_or(x.withoutKnowledge());
  }
}
