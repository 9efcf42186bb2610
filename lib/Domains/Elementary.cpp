// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes images of intervals and bounds on derivatives from the monotone pieces of each function.

#include "mp/Domains/Elementary.h"

#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

namespace {

/// The way an image follows from values at the ends.
enum class Shape : uint8_t {
  Rising,
  Falling,
  Valley,  // falls, then rises: the minimum is `valleyFloor`, somewhere in [valleyLo, valleyHi]
  Special, // code in image()
};

/// Facts of one function; `name` is what printers and tests use.
struct Entry {
  UnaryFn fn;
  const char *name;
  Shape shape;
  Interval domain;
  Interval range;
  double ulps; // slack around evaluate(); 0: exact
  double valleyLo = 0, valleyHi = 0, valleyFloor = 0;
};

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double silu(double x) { return x == -kInfinity ? 0 : x * sigmoid(x); }
double gelu(double x) { return x == -kInfinity ? 0 : 0.5 * x * std::erfc(-x * M_SQRT1_2); }
double geluTanh(double x) {
  // 0.5 (1 + tanh z) is sigmoid(2 z), which keeps its relative accuracy in the negative tail.
  double z = 0.5 * M_2_SQRTPI * M_SQRT2 * (x + 0.044715 * x * x * x);
  return x == -kInfinity ? 0 : x * sigmoid(2 * z);
}

constexpr Interval kAll{-kInfinity, kInfinity};
constexpr Interval kPositive{0, kInfinity};
// pi and its half rounded up.
constexpr double kPi = 0x1.921fb54442d19p+1, kHalfPi = 0x1.921fb54442d19p+0;

constexpr Entry kTable[] = {
    {UnaryFn::Identity, "identity", Shape::Rising, kAll, kAll, 0},
    {UnaryFn::Neg, "neg", Shape::Falling, kAll, kAll, 0},
    {UnaryFn::Abs, "abs", Shape::Valley, kAll, kPositive, 0},
    {UnaryFn::Square, "square", Shape::Special, kAll, kPositive, 1},
    {UnaryFn::Reciprocal, "reciprocal", Shape::Special, kAll, kAll, 1},
    {UnaryFn::Sqrt, "sqrt", Shape::Special, kPositive, kPositive, 1},
    {UnaryFn::Rsqrt, "rsqrt", Shape::Falling, kPositive, kPositive, 4},
    {UnaryFn::Cbrt, "cbrt", Shape::Rising, kAll, kAll, 8},
    {UnaryFn::Exp, "exp", Shape::Rising, kAll, kPositive, 4},
    {UnaryFn::Exp2, "exp2", Shape::Rising, kAll, kPositive, 4},
    {UnaryFn::Expm1, "expm1", Shape::Rising, kAll, {-1, kInfinity}, 4},
    {UnaryFn::Log, "log", Shape::Rising, kPositive, kAll, 4},
    {UnaryFn::Log2, "log2", Shape::Rising, kPositive, kAll, 4},
    {UnaryFn::Log10, "log10", Shape::Rising, kPositive, kAll, 4},
    {UnaryFn::Log1p, "log1p", Shape::Rising, {-1, kInfinity}, kAll, 4},
    {UnaryFn::Sin, "sin", Shape::Special, kAll, {-1, 1}, 4},
    {UnaryFn::Cos, "cos", Shape::Special, kAll, {-1, 1}, 4},
    {UnaryFn::Tan, "tan", Shape::Special, kAll, kAll, 4},
    {UnaryFn::Asin, "asin", Shape::Rising, {-1, 1}, {-kHalfPi, kHalfPi}, 4},
    {UnaryFn::Acos, "acos", Shape::Falling, {-1, 1}, {0, kPi}, 4},
    {UnaryFn::Atan, "atan", Shape::Rising, kAll, {-kHalfPi, kHalfPi}, 4},
    {UnaryFn::Sinh, "sinh", Shape::Rising, kAll, kAll, 6},
    {UnaryFn::Cosh, "cosh", Shape::Valley, kAll, {1, kInfinity}, 6, 0, 0, 1},
    {UnaryFn::Tanh, "tanh", Shape::Rising, kAll, {-1, 1}, 6},
    {UnaryFn::Asinh, "asinh", Shape::Rising, kAll, kAll, 6},
    {UnaryFn::Acosh, "acosh", Shape::Rising, {1, kInfinity}, kPositive, 6},
    {UnaryFn::Atanh, "atanh", Shape::Rising, {-1, 1}, kAll, 6},
    {UnaryFn::Erf, "erf", Shape::Rising, kAll, {-1, 1}, 4},
    {UnaryFn::Erfc, "erfc", Shape::Falling, kAll, {0, 2}, 12},
    {UnaryFn::Sigmoid, "sigmoid", Shape::Rising, kAll, {0, 1}, 16},
    {UnaryFn::Softplus, "softplus", Shape::Rising, kAll, kPositive, 16},
    {UnaryFn::Relu, "relu", Shape::Rising, kAll, kPositive, 0},
    {UnaryFn::Gelu,
     "gelu",
     Shape::Valley,
     kAll,
     {-0.169971208, kInfinity},
     16,
     -0.7518,
     -0.7517,
     -0.169971208},
    {UnaryFn::GeluTanh,
     "gelu_tanh",
     Shape::Valley,
     kAll,
     {-0.170040751, kInfinity},
     24,
     -0.7525,
     -0.7524,
     -0.170040751},
    {UnaryFn::Silu,
     "silu",
     Shape::Valley,
     kAll,
     {-0.278464543, kInfinity},
     24,
     -1.2785,
     -1.2784,
     -0.278464543},
    {UnaryFn::Floor, "floor", Shape::Rising, kAll, kAll, 0},
    {UnaryFn::Ceil, "ceil", Shape::Rising, kAll, kAll, 0},
    {UnaryFn::Trunc, "trunc", Shape::Rising, kAll, kAll, 0},
    {UnaryFn::Round, "round", Shape::Rising, kAll, kAll, 0},
    {UnaryFn::RoundEven, "roundeven", Shape::Rising, kAll, kAll, 0},
    {UnaryFn::Sign, "sign", Shape::Rising, kAll, {-1, 1}, 0},
};

const Entry &entry(UnaryFn fn) { return kTable[static_cast<unsigned>(fn)]; }

constexpr bool tableIsInEnumOrder() {
  for (unsigned i = 0; i < kNumUnaryFns; ++i)
    if (static_cast<unsigned>(kTable[i].fn) != i)
      return false;
  return sizeof(kTable) / sizeof(kTable[0]) == kNumUnaryFns;
}
static_assert(tableIsInEnumOrder());

} // namespace

llvm::StringRef getName(UnaryFn fn) { return entry(fn).name; }

double evaluate(UnaryFn fn, double x) {
  switch (fn) {
  case UnaryFn::Identity: return x;
  case UnaryFn::Neg: return -x;
  case UnaryFn::Abs: return std::fabs(x);
  case UnaryFn::Square: return x * x;
  case UnaryFn::Reciprocal: return 1 / x;
  case UnaryFn::Sqrt: return std::sqrt(x);
  case UnaryFn::Rsqrt: return 1 / std::sqrt(x);
  case UnaryFn::Cbrt: return std::cbrt(x);
  case UnaryFn::Exp: return std::exp(x);
  case UnaryFn::Exp2: return std::exp2(x);
  case UnaryFn::Expm1: return std::expm1(x);
  case UnaryFn::Log: return std::log(x);
  case UnaryFn::Log2: return std::log2(x);
  case UnaryFn::Log10: return std::log10(x);
  case UnaryFn::Log1p: return std::log1p(x);
  case UnaryFn::Sin: return std::sin(x);
  case UnaryFn::Cos: return std::cos(x);
  case UnaryFn::Tan: return std::tan(x);
  case UnaryFn::Asin: return std::asin(x);
  case UnaryFn::Acos: return std::acos(x);
  case UnaryFn::Atan: return std::atan(x);
  case UnaryFn::Sinh: return std::sinh(x);
  case UnaryFn::Cosh: return std::cosh(x);
  case UnaryFn::Tanh: return std::tanh(x);
  case UnaryFn::Asinh: return std::asinh(x);
  case UnaryFn::Acosh: return std::acosh(x);
  case UnaryFn::Atanh: return std::atanh(x);
  case UnaryFn::Erf: return std::erf(x);
  case UnaryFn::Erfc: return std::erfc(x);
  case UnaryFn::Sigmoid: return sigmoid(x);
  case UnaryFn::Softplus: return softplus(x);
  case UnaryFn::Relu: return std::max(x, 0.0);
  case UnaryFn::Gelu: return gelu(x);
  case UnaryFn::GeluTanh: return geluTanh(x);
  case UnaryFn::Silu: return silu(x);
  case UnaryFn::Floor: return std::floor(x);
  case UnaryFn::Ceil: return std::ceil(x);
  case UnaryFn::Trunc: return std::trunc(x);
  case UnaryFn::Round: return std::round(x);
  case UnaryFn::RoundEven: return std::nearbyint(x);
  case UnaryFn::Sign: return x > 0 ? 1 : x < 0 ? -1 : 0;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Interval domainOf(UnaryFn fn) { return entry(fn).domain; }

bool hasSteps(UnaryFn fn) {
  using enum UnaryFn;
  return llvm::is_contained({Floor, Ceil, Trunc, Round, RoundEven, Sign}, fn);
}

/// Slack around evaluate(fn, x): the table's, none where the C library is exact, more where the
/// formula is ill-conditioned.
static double slackAt(UnaryFn fn, double x) {
  double ulps = entry(fn).ulps;
  if (x == 0 && fn != UnaryFn::Acos && fn != UnaryFn::Softplus)
    return 0;
  if (x == 1 &&
      (fn == UnaryFn::Log || fn == UnaryFn::Log2 || fn == UnaryFn::Log10 || fn == UnaryFn::Acosh))
    return 0;
  // erfc and the sigmoid's exponential turn a relative error of their argument z into 2 z^2 and z
  // respectively.
  if (fn == UnaryFn::Gelu)
    return ulps + 2 * std::min(x * x, 2000.0);
  if (fn == UnaryFn::GeluTanh)
    return ulps + std::min(8 * std::fabs(x) + std::fabs(x * x * x), 1e5);
  if (fn == UnaryFn::Silu || fn == UnaryFn::Sigmoid || fn == UnaryFn::Softplus)
    return ulps + std::min(std::fabs(x), 800.0) * 0x1p-6;
  return ulps;
}

/// An infinity from a finite argument is an overflow or a pole; either way finite numbers lie below
/// it.
static double finiteBelow(double value, double x) {
  return value == kInfinity && std::isfinite(x) ? std::numeric_limits<double>::max() : value;
}

static double valueDown(UnaryFn fn, double x) {
  double value = finiteBelow(evaluate(fn, x), x);
  return std::max(slackDown(value, slackAt(fn, x)), entry(fn).range.lo);
}
static double valueUp(UnaryFn fn, double x) {
  double value = -finiteBelow(-evaluate(fn, x), x);
  return std::min(slackUp(value, slackAt(fn, x)), entry(fn).range.hi);
}

/// May some phase + k * period (k an integer) lie in `x`? Answers yes when rounding leaves a doubt.
static bool mayContainMultiple(const Interval &x, double phase, double period) {
  double first = (x.lo - phase) / period, last = (x.hi - phase) / period;
  double doubt = 0x1p-48 * (1 + std::fabs(first) + std::fabs(last));
  return std::ceil(first - doubt) <= std::floor(last + doubt);
}

static Interval sineLike(UnaryFn fn, const Interval &x, double maximumAt) {
  constexpr double kReliable = 1e9; // beyond, locating the extrema is not worth it
  if (x.mag() > kReliable || x.width() >= 2 * M_PI)
    return {-1, 1};
  Interval result =
      hull({valueDown(fn, x.lo), valueUp(fn, x.lo)}, {valueDown(fn, x.hi), valueUp(fn, x.hi)});
  if (mayContainMultiple(x, maximumAt, 2 * M_PI))
    result.hi = 1;
  if (mayContainMultiple(x, maximumAt + M_PI, 2 * M_PI))
    result.lo = -1;
  return result;
}

static Interval special(UnaryFn fn, const Interval &x) {
  switch (fn) {
  case UnaryFn::Square: return square(x);
  case UnaryFn::Reciprocal: return div(Interval::point(1), x);
  case UnaryFn::Sqrt: return {sqrtDown(x.lo), sqrtUp(x.hi)};
  case UnaryFn::Sin: return sineLike(fn, x, M_PI_2);
  case UnaryFn::Cos: return sineLike(fn, x, 0);
  case UnaryFn::Tan:
    if (x.mag() > 1e9 || x.width() >= M_PI || mayContainMultiple(x, M_PI_2, M_PI))
      return Interval::top();
    return {valueDown(fn, x.lo), valueUp(fn, x.hi)};
  default: return Interval::top();
  }
}

Interval image(UnaryFn fn, const Interval &argument) {
  const Entry &e = entry(fn);
  Interval x = intersect(argument, e.domain);
  if (x.isEmpty())
    return Interval::empty();
  switch (e.shape) {
  case Shape::Rising: return {valueDown(fn, x.lo), valueUp(fn, x.hi)};
  case Shape::Falling:
    // 1/sqrt(-0) would be -inf.
    return {valueDown(fn, x.hi), valueUp(fn, x.lo == 0 ? 0.0 : x.lo)};
  case Shape::Valley: {
    double highest = std::max(valueUp(fn, x.lo), valueUp(fn, x.hi));
    if (x.hi <= e.valleyLo)
      return {std::max(e.valleyFloor, valueDown(fn, x.hi)), highest};
    if (x.lo >= e.valleyHi)
      return {std::max(e.valleyFloor, valueDown(fn, x.lo)), highest};
    return {e.valleyFloor, highest};
  }
  case Shape::Special: return special(fn, x);
  }
  return Interval::top();
}

} // namespace mpcore::domains
