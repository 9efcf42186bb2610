// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derivative bounds and algebraic properties of the functions of Elementary.h.

#include "mp/Domains/Elementary.h"
#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"

#include <cmath>

namespace mpcore::domains {

/// Every bound below is a short formula; this covers the roundings of each of them.
static constexpr double kUlps = 32;

static double derivativeFormula(UnaryFn fn, const Interval &x) {
  double mig = x.mig(), mag = x.mag();
  auto power = [](double base, double exponent) {
    return base > 0 ? std::pow(base, exponent) : kInfinity;
  };
  switch (fn) {
  case UnaryFn::Identity:
  case UnaryFn::Neg:
  case UnaryFn::Abs:
  case UnaryFn::Relu: return 1;
  case UnaryFn::Square: return 2 * mag;
  case UnaryFn::Reciprocal: return power(mig, -2);
  case UnaryFn::Sqrt: return 0.5 * power(x.lo, -0.5);
  case UnaryFn::Rsqrt: return 0.5 * power(x.lo, -1.5);
  case UnaryFn::Cbrt: return power(mig, -2.0 / 3) / 3;
  case UnaryFn::Exp:
  case UnaryFn::Expm1: return std::exp(x.hi);
  case UnaryFn::Exp2: return M_LN2 * std::exp2(x.hi);
  case UnaryFn::Log: return power(x.lo, -1);
  case UnaryFn::Log2: return M_LOG2E * power(x.lo, -1);
  case UnaryFn::Log10: return M_LOG10E * power(x.lo, -1);
  case UnaryFn::Log1p: return power(addDown(1, x.lo), -1);
  case UnaryFn::Sin: return image(UnaryFn::Cos, x).mag();
  case UnaryFn::Cos: return image(UnaryFn::Sin, x).mag();
  case UnaryFn::Tan: {
    double slope = image(UnaryFn::Tan, x).mag();
    return 1 + slope * slope;
  }
  case UnaryFn::Asin:
  case UnaryFn::Acos: return power(mulDown(subDown(1, mag), 1 + mag), -0.5);
  case UnaryFn::Atan: return 1 / (1 + mig * mig);
  case UnaryFn::Sinh: return std::cosh(mag);
  case UnaryFn::Cosh: return std::sinh(mag);
  case UnaryFn::Tanh: {
    double inverse = 1 / std::cosh(mig);
    return inverse * inverse;
  }
  case UnaryFn::Asinh: return 1 / std::sqrt(1 + mig * mig);
  case UnaryFn::Acosh: return power(mulDown(subDown(x.lo, 1), x.lo + 1), -0.5);
  case UnaryFn::Atanh: return power(mulDown(subDown(1, mag), 1 + mag), -1);
  case UnaryFn::Erf:
  case UnaryFn::Erfc:
    // The exponent's own rounding error grows with its size.
    return M_2_SQRTPI * std::exp(-mig * mig * (1 - 0x1p-48));
  case UnaryFn::Sigmoid: {
    double tail = evaluate(UnaryFn::Sigmoid, -mig);
    return tail * (1 - tail) + 0x1p-54;
  }
  case UnaryFn::Softplus: return evaluate(UnaryFn::Sigmoid, x.hi) * (1 + 0x1p-40);
  // Steepest at sqrt 2 (1.128904), 1.4185 (1.128993) and 2.3994 (1.099839).
  case UnaryFn::Gelu:
  case UnaryFn::GeluTanh: return 1.1290;
  case UnaryFn::Silu: return 1.0999;
  case UnaryFn::Floor:
  case UnaryFn::Ceil:
  case UnaryFn::Trunc:
  case UnaryFn::Round:
  case UnaryFn::RoundEven:
  case UnaryFn::Sign: return kInfinity;
  }
  return kInfinity;
}

double derivativeBound(UnaryFn fn, const Interval &x) {
  if (x.isEmpty())
    return 0;
  if (!domainOf(fn).contains(x))
    return kInfinity;
  double bound = derivativeFormula(fn, x);
  if (std::isnan(bound) || bound < 0)
    return kInfinity;
  return bound == 1 && isExact(fn) ? bound : slackUp(bound, kUlps);
}

bool hasIntegerValues(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::Floor:
  case UnaryFn::Ceil:
  case UnaryFn::Trunc:
  case UnaryFn::Round:
  case UnaryFn::RoundEven:
  case UnaryFn::Sign: return true;
  default: return false;
  }
}

bool keepsIntegers(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::Identity:
  case UnaryFn::Neg:
  case UnaryFn::Abs:
  case UnaryFn::Square:
  case UnaryFn::Relu: return true;
  default: return hasIntegerValues(fn);
  }
}

bool isExact(UnaryFn fn) { return keepsIntegers(fn) && fn != UnaryFn::Square; }

std::optional<double> linearBound(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::Identity:
  case UnaryFn::Neg:
  case UnaryFn::Abs:
  case UnaryFn::Relu:
  case UnaryFn::Sin:
  case UnaryFn::Atan:
  case UnaryFn::Tanh:
  case UnaryFn::Asinh:
  case UnaryFn::Trunc:
  // |gelu(x)| <= |x| and |silu(x)| <= |x|: x times a number in [0, 1].
  case UnaryFn::Gelu:
  case UnaryFn::GeluTanh:
  case UnaryFn::Silu: return 1;
  case UnaryFn::Erf: return 1.1284;
  // asin's chord is steepest at the end: (pi/2) / 1.
  case UnaryFn::Asin: return 1.5708;
  // round(0.5) is 1.
  case UnaryFn::Round:
  case UnaryFn::RoundEven: return 2;
  default: return std::nullopt;
  }
}

bool vanishesOnlyAtZero(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::Identity:
  case UnaryFn::Neg:
  case UnaryFn::Abs:
  case UnaryFn::Square:
  case UnaryFn::Sqrt:
  case UnaryFn::Cbrt:
  case UnaryFn::Expm1:
  case UnaryFn::Log1p:
  case UnaryFn::Asin:
  case UnaryFn::Atan:
  case UnaryFn::Sinh:
  case UnaryFn::Tanh:
  case UnaryFn::Asinh:
  case UnaryFn::Atanh:
  case UnaryFn::Erf:
  case UnaryFn::Gelu:
  case UnaryFn::GeluTanh:
  case UnaryFn::Silu:
  case UnaryFn::Sign: return true;
  default: return neverVanishes(fn);
  }
}

bool neverVanishes(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::Reciprocal:
  case UnaryFn::Rsqrt:
  case UnaryFn::Exp:
  case UnaryFn::Exp2:
  case UnaryFn::Cosh:
  case UnaryFn::Erfc:
  case UnaryFn::Sigmoid:
  case UnaryFn::Softplus: return true;
  default: return false;
  }
}

} // namespace mpcore::domains
