// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements interval arithmetic with outward rounding.

#include "mp/Domains/Interval.h"

#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace mpcore::domains {

/// glibc documents at most 1 ulp for pow and atan2; 4 leaves room for other libraries.
static constexpr double kLibmUlps = 4;

Interval Interval::symmetric(double radius) {
  return std::isnan(radius) ? top() : Interval{-radius, radius};
}

bool Interval::isBounded() const { return isEmpty() || (std::isfinite(lo) && std::isfinite(hi)); }

double Interval::mag() const { return isEmpty() ? 0 : std::max(std::fabs(lo), std::fabs(hi)); }

double Interval::mig() const {
  if (isEmpty() || contains(0))
    return 0;
  return std::min(std::fabs(lo), std::fabs(hi));
}

double Interval::width() const { return isEmpty() ? 0 : subUp(hi, lo); }

void printNumber(llvm::raw_ostream &os, double value) {
  char text[32];
  value += 0.0; // prints -0 as 0
  for (int digits : {6, 15, 16, 17}) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  os << text;
}

void Interval::print(llvm::raw_ostream &os) const {
  if (isEmpty()) {
    os << "[]";
    return;
  }
  os << '[';
  printNumber(os, lo);
  os << ", ";
  printNumber(os, hi);
  os << ']';
}

Interval hull(const Interval &a, const Interval &b) {
  if (a.isEmpty())
    return b;
  if (b.isEmpty())
    return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval intersect(const Interval &a, const Interval &b) {
  if (a.isEmpty() || b.isEmpty())
    return Interval::empty();
  Interval both{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return both.isEmpty() ? Interval::empty() : both;
}

Interval add(const Interval &a, const Interval &b) {
  if (a.isEmpty() || b.isEmpty())
    return Interval::empty();
  return {addDown(a.lo, b.lo), addUp(a.hi, b.hi)};
}

Interval sub(const Interval &a, const Interval &b) { return add(a, neg(b)); }

Interval mul(const Interval &a, const Interval &b) {
  if (a.isEmpty() || b.isEmpty())
    return Interval::empty();
  return {std::min(
              {mulDown(a.lo, b.lo), mulDown(a.lo, b.hi), mulDown(a.hi, b.lo), mulDown(a.hi, b.hi)}),
          std::max({mulUp(a.lo, b.lo), mulUp(a.lo, b.hi), mulUp(a.hi, b.lo), mulUp(a.hi, b.hi)})};
}

/// Quotient by a divisor interval that touches zero at most with an endpoint.
static Interval divBySameSign(const Interval &a, Interval b) {
  if (b.isEmpty() || (b.lo == 0 && b.hi == 0))
    return Interval::empty();
  if (b.hi <= 0)
    return neg(divBySameSign(a, neg(b)));
  if (b.lo > 0)
    return {std::min(divDown(a.lo, b.lo), divDown(a.lo, b.hi)),
            std::max(divUp(a.hi, b.lo), divUp(a.hi, b.hi))};
  // The divisor approaches zero from above.
  return {a.lo < 0 ? -kInfinity : divDown(a.lo, b.hi), a.hi > 0 ? kInfinity : divUp(a.hi, b.hi)};
}

Interval div(const Interval &a, const Interval &b) {
  if (a.isEmpty() || b.isEmpty())
    return Interval::empty();
  return hull(divBySameSign(a, intersect(b, {-kInfinity, 0})),
              divBySameSign(a, intersect(b, {0, kInfinity})));
}

Interval neg(const Interval &a) { return a.isEmpty() ? a : Interval{-a.hi, -a.lo}; }

Interval abs(const Interval &a) { return a.isEmpty() ? a : Interval{a.mig(), a.mag()}; }

Interval square(const Interval &a) {
  if (a.isEmpty())
    return a;
  return {mulDown(a.mig(), a.mig()), mulUp(a.mag(), a.mag())};
}

Interval min(const Interval &a, const Interval &b) {
  if (a.isEmpty() || b.isEmpty())
    return Interval::empty();
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}

Interval max(const Interval &a, const Interval &b) {
  if (a.isEmpty() || b.isEmpty())
    return Interval::empty();
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

/// x^n for x >= 0 by repeated squaring, every product rounded towards the asked side.
static double powByProducts(double x, uint64_t n, double (*multiply)(double, double)) {
  double result = 1;
  for (; n != 0; n >>= 1) {
    if (n & 1)
      result = std::max(0.0, multiply(result, x));
    if (n > 1)
      x = std::max(0.0, multiply(x, x));
  }
  return result;
}

static Interval powUnsigned(const Interval &a, uint64_t n) {
  auto up = [&](double x) { return powByProducts(std::fabs(x), n, mulUp); };
  auto down = [&](double x) { return powByProducts(std::fabs(x), n, mulDown); };
  if (n % 2 == 0)
    return {down(a.mig()), up(a.mag())};
  return {a.lo < 0 ? -up(a.lo) : down(a.lo), a.hi < 0 ? -down(a.hi) : up(a.hi)};
}

Interval powInteger(const Interval &a, int64_t n) {
  if (a.isEmpty())
    return a;
  if (n >= 0)
    return powUnsigned(a, static_cast<uint64_t>(n));
  return div(Interval::point(1), powUnsigned(a, uint64_t{0} - static_cast<uint64_t>(n)));
}

Interval powPositive(const Interval &a, const Interval &b) {
  Interval x = intersect(a, {0, kInfinity});
  if (x.isEmpty() || b.isEmpty())
    return Interval::empty();
  // x^y = e^(y ln x) is bilinear in y and ln x below a monotone function, so the corners bound it;
  // pow's own limits at 0 and infinity fit.
  Interval result;
  for (double base : {x.lo, x.hi})
    for (double exponent : {b.lo, b.hi}) {
      double value = std::pow(base, exponent);
      bool exact = base == 0 || base == 1 || exponent == 0 || exponent == 1;
      double ulps = exact ? 0 : kLibmUlps;
      double lower = slackDown(value, ulps);
      if (std::isinf(value) && base != 0 && std::isfinite(base) && std::isfinite(exponent))
        lower = std::numeric_limits<double>::max(); // overflow of double alone
      result = hull(result, {std::max(0.0, lower), slackUp(value, ulps)});
    }
  return result;
}

Interval rem(const Interval &a, const Interval &b) {
  if (a.isEmpty() || b.isEmpty())
    return Interval::empty();
  double bound = std::min(a.mag(), b.mag());
  return {a.lo < 0 ? -bound : 0, a.hi > 0 ? bound : 0};
}

Interval atan2(const Interval &y, const Interval &x) {
  if (y.isEmpty() || x.isEmpty())
    return Interval::empty();
  // A negative zero in y selects -pi, so sign information alone holds only for y > 0 or y < 0.
  if (x.lo > 0) {
    Interval result;
    for (double ordinate : {y.lo, y.hi})
      for (double abscissa : {x.lo, x.hi}) {
        double angle = std::atan2(ordinate, abscissa);
        result = hull(result, {slackDown(angle, kLibmUlps), slackUp(angle, kLibmUlps)});
      }
    return result;
  }
  double pi = slackUp(M_PI, 1);
  if (y.lo > 0)
    return {0, pi};
  if (y.hi < 0)
    return {-pi, 0};
  return {-pi, pi};
}

Interval copySign(const Interval &magnitude, const Interval &sign) {
  if (magnitude.isEmpty() || sign.isEmpty())
    return Interval::empty();
  Interval positive = abs(magnitude);
  if (sign.lo > 0)
    return positive;
  if (sign.hi < 0)
    return neg(positive);
  return hull(positive, neg(positive));
}

Interval inflate(const Interval &a, double radius) {
  return add(a, Interval::symmetric(std::fabs(radius)));
}

} // namespace mpcore::domains
