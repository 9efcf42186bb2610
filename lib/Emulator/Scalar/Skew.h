// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of approximate instructions that are as wrong as their bounds allow, for tests.

#ifndef MP_LIB_EMULATOR_SCALAR_SKEW_H
#define MP_LIB_EMULATOR_SCALAR_SKEW_H

#include <atomic>
#include <cmath>

namespace mpcore::emulator {

/// -1 toward zero, 1 away from it, 0: correctly rounded (SkewedApproximations).
extern std::atomic<int> skewOfApproximations;

/// `exact` in f32, off by at most `bound` of it where a test asks for that.
inline float approximated(double exact, double bound) {
  const int skew = skewOfApproximations.load(std::memory_order_relaxed);
  if (skew == 0 || !std::isfinite(exact))
    return float(exact);
  const double far = exact * (1 + skew * bound);
  float result = float(far);
  if (std::fabs(result - exact) > bound * std::fabs(exact)) // rounded beyond the bound
    result = std::nextafter(result, float(exact));
  return std::fabs(result - exact) > bound * std::fabs(exact) ? float(exact) : result;
}

/// The same for a bound in units of the last place of the result.
inline float approximatedWithin(double exact, double ulps) {
  const bool isNormal = std::fabs(exact) >= 0x1p-126 && std::isfinite(exact);
  return approximated(
      exact, isNormal ? ulps * std::ldexp(1.0, std::ilogb(exact) - 23) / std::fabs(exact) : 0);
}

} // namespace mpcore::emulator

#endif // MP_LIB_EMULATOR_SCALAR_SKEW_H
