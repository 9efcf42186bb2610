// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MP_TEST_DOMAINS_TESTUTILS_H
#define MP_TEST_DOMAINS_TESTUTILS_H

#include "mp/Domains/Facts.h"

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <ostream>
#include <random>
#include <string>

namespace mpcore::domains {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

/// Seeded by a constant: tests see the same points on every run.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  uint64_t bits() { return engine(); }
  unsigned below(unsigned n) { return static_cast<unsigned>(engine() % n); }
  bool flip() { return engine() & 1; }
  double uniform(double lo, double hi) {
    return lo + (hi - lo) * (static_cast<double>(engine() >> 11) * 0x1p-53);
  }
  /// Magnitudes spread over many binades, either sign, sometimes round values.
  double number(int minExponent = -30, int maxExponent = 30) {
    switch (below(10)) {
    case 0: return 0;
    case 1: return static_cast<double>(static_cast<int>(below(9)) - 4);
    default: {
      double exponent = uniform(minExponent, maxExponent);
      return (flip() ? 1 : -1) * std::exp2(exponent);
    }
    }
  }
  Interval interval(int minExponent = -30, int maxExponent = 30) {
    double a = number(minExponent, maxExponent);
    double b = below(8) == 0   ? a
               : below(3) == 0 ? a + uniform(-1, 1)
                               : number(minExponent, maxExponent);
    return {std::min(a, b), std::max(a, b)};
  }
  /// A member: often an end, zero, or next to an end.
  double member(const Interval &range) {
    double x;
    switch (below(8)) {
    case 0: x = range.lo; break;
    case 1: x = range.hi; break;
    case 2: x = 0; break;
    case 3: x = range.hi - std::fabs(range.hi) * 0x1p-52; break;
    default: x = uniform(range.lo, range.hi);
    }
    return range.contains(x) ? x : range.lo;
  }

private:
  std::mt19937_64 engine;
};

/// Do the facts allow this row of elements?
inline bool admits(const FloatFacts &facts, llvm::ArrayRef<double> row,
                   std::string *why = nullptr) {
  auto refuse = [&](const char *reason) {
    if (why)
      *why = reason;
    return false;
  };
  long double squares = 0;
  for (double x : row) {
    if (std::isnan(x)) {
      if (!facts.mayNaN)
        return refuse("NaN");
      continue;
    }
    if (!facts.range.contains(x))
      return refuse("range");
    if (std::isinf(x)) {
      if (!facts.mayInf)
        return refuse("inf");
    } else if (facts.integerValued && x != std::trunc(x)) {
      return refuse("integer");
    }
    if (facts.nonZero && x == 0)
      return refuse("nonzero");
    squares += static_cast<long double>(x) * x;
  }
  // The sum itself is rounded; allow for its last place.
  if (std::sqrt(squares) > facts.norm2 * (1 + 1e-17L * row.size()) + 1e-320L)
    return refuse("norm");
  return true;
}

inline std::ostream &operator<<(std::ostream &os, const FloatFacts &facts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  facts.print(stream);
  return os << text;
}
inline std::ostream &operator<<(std::ostream &os, const Interval &range) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  range.print(stream);
  return os << text;
}

} // namespace mpcore::domains

#endif // MP_TEST_DOMAINS_TESTUTILS_H
