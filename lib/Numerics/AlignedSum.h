// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of terms that are cut at a common last place: the arithmetic inside Tensor Cores.

#ifndef MP_LIB_NUMERICS_ALIGNEDSUM_H
#define MP_LIB_NUMERICS_ALIGNEDSUM_H

#include "mp/Numerics/Cast.h"
#include "mp/Numerics/TensorCore.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mpcore::numerics {

inline constexpr int noExponent = std::numeric_limits<int>::min();

/// significand * 2^lastPlace, seen by the aligner at `exponent`.
struct Term {
  bool negative = false;
  uint64_t significand = 0;
  int lastPlace = 0;
  int exponent = noExponent;
};

/// `value` of a format whose smallest exponent is `minExponent`.
inline Term termOf(float value, int minExponent) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  Unpacked u = unpack(bits, Format::F32);
  if (u.kind != ValueClass::Finite)
    return {};
  int exponent = 63 - llvm::countl_zero(u.significand) + u.exponent;
  return {u.negative, u.significand, u.exponent, std::max(exponent, minExponent)};
}

inline Term productOf(const Term &a, const Term &b) {
  if (a.significand == 0 || b.significand == 0)
    return {};
  return {a.negative != b.negative, a.significand * b.significand, a.lastPlace + b.lastPlace,
          a.exponent + b.exponent};
}

/// trunc(term * 2^-unit). Terms are below 4 * 2^exponent, so the shift to the
/// left stays within 64 bits for every F used.
inline int64_t align(const Term &term, int unit) {
  int shift = term.lastPlace - unit;
  uint64_t magnitude = shift >= 0    ? term.significand << shift
                       : shift > -64 ? term.significand >> -shift
                                     : 0;
  return term.negative ? -int64_t(magnitude) : int64_t(magnitude);
}

inline float makeFloat(uint32_t bits) { return llvm::bit_cast<float>(bits); }

/// The canonical NaN, as the f32 that stands for the result register.
inline float canonicalNaN(StepResult result) {
  if (result == StepResult::F16)
    return makeFloat(uint32_t(convert(0x7FFF, Format::F16, Format::F32)));
  return makeFloat(0x7FFFFFFF);
}

/// sum * 2^unit in the form of the step's result.
inline float pack(int64_t sum, int unit, StepResult result) {
  if (sum == 0)
    return 0;
  bool negative = sum < 0;
  uint64_t magnitude = negative ? uint64_t(-sum) : uint64_t(sum);
  int length = 64 - llvm::countl_zero(magnitude);
  int precision = result == StepResult::F32 ? 24 : result == StepResult::E8M13 ? 14 : 11;
  int minExponent = result == StepResult::F16 ? -14 : -126;
  int lastPlace = std::max(length - 1 + unit, minExponent) - (precision - 1);
  int drop = lastPlace - unit;
  if (drop > 0) {
    uint64_t mask = drop > 63 ? ~uint64_t(0) : (uint64_t(1) << drop) - 1;
    uint64_t dropped = magnitude & mask;
    magnitude = drop > 63 ? 0 : magnitude >> drop;
    uint64_t half = drop > 63 ? 0 : uint64_t(1) << (drop - 1);
    if (result == StepResult::F16 && half &&
        (dropped > half || (dropped == half && (magnitude & 1))))
      ++magnitude;
    unit = lastPlace;
  }
  // Exact now, except that what is too large becomes infinity.
  double value = std::ldexp(double(magnitude), unit);
  double limit = result == StepResult::F16 ? 0x1p16 : 0x1p128;
  float rounded = value >= limit ? std::numeric_limits<float>::infinity() : float(value);
  return negative ? -rounded : rounded;
}

/// The answer when NaN or infinity takes part; nullopt if neither does.
inline std::optional<float> specialStep(const float *a, const float *b, unsigned count, float c,
                                        StepResult result) {
  bool nan = std::isnan(c), plus = c == HUGE_VALF, minus = c == -HUGE_VALF;
  for (unsigned i = 0; i < count; ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i]))
      continue;
    double product = double(a[i]) * double(b[i]);
    nan |= std::isnan(product);
    plus |= product == HUGE_VAL;
    minus |= product == -HUGE_VAL;
  }
  if (nan || (plus && minus))
    return canonicalNaN(result);
  if (plus || minus)
    return plus ? HUGE_VALF : -HUGE_VALF;
  return std::nullopt;
}

} // namespace mpcore::numerics

#endif // MP_LIB_NUMERICS_ALIGNEDSUM_H
