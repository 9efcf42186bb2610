// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Closed intervals of reals with outward-rounded double endpoints. An infinite endpoint means
// "unbounded on this side"; whether a floating-point infinity can occur is a separate fact
// (FloatFacts::mayInf). The operations are those of IEEE 1788-2015, rounded outward.

#ifndef MP_DOMAINS_INTERVAL_H
#define MP_DOMAINS_INTERVAL_H

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <limits>

namespace mpcore::domains {

struct Interval {
  /// Default: the empty interval (lo > hi), neutral element of hull.
  double lo = std::numeric_limits<double>::infinity();
  double hi = -std::numeric_limits<double>::infinity();

  static Interval empty() { return {}; }
  static Interval top() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  static Interval point(double x) { return {x, x}; }
  /// [-radius, radius]; a NaN radius counts as unbounded.
  static Interval symmetric(double radius);

  bool isEmpty() const { return !(lo <= hi); }
  bool isPoint() const { return lo == hi; }
  bool isBounded() const;
  bool contains(double x) const { return lo <= x && x <= hi; }
  bool contains(const Interval &other) const {
    return other.isEmpty() || (lo <= other.lo && other.hi <= hi);
  }
  /// Largest and smallest magnitude of a member; both 0 for the empty interval.
  double mag() const;
  double mig() const;
  /// Upper bound on hi - lo; 0 for the empty interval.
  double width() const;

  friend bool operator==(const Interval &a, const Interval &b) {
    return (a.isEmpty() && b.isEmpty()) || (a.lo == b.lo && a.hi == b.hi);
  }
  friend bool operator!=(const Interval &a, const Interval &b) { return !(a == b); }
  void print(llvm::raw_ostream &os) const;
};

/// The shortest decimal that reads back as `value`.
void printNumber(llvm::raw_ostream &os, double value);

Interval hull(const Interval &a, const Interval &b);
Interval intersect(const Interval &a, const Interval &b);

Interval add(const Interval &a, const Interval &b);
Interval sub(const Interval &a, const Interval &b);
Interval mul(const Interval &a, const Interval &b);
/// Values at zero divisors are left out of the quotient (they are infinite or NaN); a divisor
/// interval with zero inside gives an unbounded result, a divisor that is only zero gives the empty
/// one.
Interval div(const Interval &a, const Interval &b);
/// a * b + c with both roundings outward.
Interval neg(const Interval &a);
Interval abs(const Interval &a);
/// x * x for one x: [0, m^2] where mul(a, a) would give [-m^2, m^2].
Interval square(const Interval &a);
Interval min(const Interval &a, const Interval &b);
Interval max(const Interval &a, const Interval &b);
/// x^n for an integer n, by parity; n < 0 is the reciprocal of x^-n.
Interval powInteger(const Interval &a, int64_t n);
/// x^y for x >= 0 (the part of `a` below zero is left out).
Interval powPositive(const Interval &a, const Interval &b);
/// C's fmod: sign of the dividend, smaller than the divisor and not larger than the dividend.
Interval rem(const Interval &a, const Interval &b);
Interval atan2(const Interval &y, const Interval &x);
Interval copySign(const Interval &magnitude, const Interval &sign);
/// Every point moved by at most `radius`.
Interval inflate(const Interval &a, double radius);

inline llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Interval &a) {
  a.print(os);
  return os;
}

} // namespace mpcore::domains

#endif // MP_DOMAINS_INTERVAL_H
