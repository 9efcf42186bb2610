// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recovers the error of an operation exactly and steps one place outward if there is one.

#include "mp/Domains/Rounding.h"
#include "mp/Domains/Infinity.h"

#include <cmath>
#include <limits>

// A contraction of a * b + c would break the error-free transformations below.
#pragma STDC FP_CONTRACT OFF

namespace mpcore::domains {

static constexpr double kMax = std::numeric_limits<double>::max();
/// Below this magnitude an error term may itself underflow; the result is then moved
/// unconditionally.
static constexpr double kTiny = 0x1p-900;

static double stepUp(double x) { return std::nextafter(x, kInfinity); }

/// An infinite `rounded` made from finite arguments: the exact value is finite beyond the largest
/// double.
static double overflowedUp(double rounded) { return rounded > 0 ? kInfinity : -kMax; }

double addUp(double a, double b) {
  double sum = a + b;
  if (std::isnan(sum))
    return kInfinity;
  if (std::isinf(sum))
    return std::isinf(a) || std::isinf(b) ? sum : overflowedUp(sum);
  double bPart = sum - a;
  double error = (a - (sum - bPart)) + (b - bPart);
  return error > 0 ? stepUp(sum) : sum;
}

double mulUp(double a, double b) {
  if (a == 0 || b == 0)
    return 0;
  double product = a * b;
  if (std::isinf(product))
    return std::isinf(a) || std::isinf(b) ? product : overflowedUp(product);
  if (std::fabs(product) < kTiny)
    return stepUp(product);
  return std::fma(a, b, -product) > 0 ? stepUp(product) : product;
}

double divUp(double a, double b) {
  if (a == 0 || std::isinf(b))
    return 0;
  double quotient = a / b;
  if (std::isinf(quotient))
    return std::isinf(a) ? quotient : overflowedUp(quotient);
  if (std::fabs(quotient) < kTiny || std::fabs(a) < kTiny)
    return stepUp(quotient);
  // Dividing a subnormal b keeps fma exact: quotient * b is close to a, which is not tiny.
  double remainder = std::fma(-quotient, b, a);
  bool exactIsAbove = remainder != 0 && (remainder > 0) == (b > 0);
  return exactIsAbove ? stepUp(quotient) : quotient;
}

double sqrtUp(double a) {
  double root = std::sqrt(a);
  if (a == 0 || std::isinf(a))
    return root;
  if (a < kTiny)
    return stepUp(root);
  return std::fma(-root, root, a) > 0 ? stepUp(root) : root;
}

double sqrtDown(double a) {
  double root = std::sqrt(a);
  if (a == 0 || std::isinf(a))
    return root;
  if (a < kTiny || std::fma(-root, root, a) < 0)
    return std::nextafter(root, 0.0);
  return root;
}

double addDown(double a, double b) { return -addUp(-a, -b); }
double subUp(double a, double b) { return addUp(a, -b); }
double subDown(double a, double b) { return -addUp(-a, b); }
double mulDown(double a, double b) { return -mulUp(-a, b); }
double divDown(double a, double b) { return -divUp(-a, b); }

double slackUp(double value, double ulps) {
  if (std::isinf(value) || std::isnan(value) || ulps == 0)
    return value;
  // |value| * 2^-52 is at least one ulp; one more pays for the rounding of this very sum.
  return value + ((ulps + 1) * 0x1p-52 * std::fabs(value) +
                  (ulps + 1) * std::numeric_limits<double>::denorm_min());
}

double slackDown(double value, double ulps) { return -slackUp(-value, ulps); }

} // namespace mpcore::domains
