// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f8E4M3FN and f8E5M2 to and from f32. Narrowing rounds to nearest even and saturates to the
// largest finite value, as cvt.rn.satfinite does; NaN becomes 0x7f.

#ifndef MP_LIB_EMULATOR_SCALAR_FP8_H
#define MP_LIB_EMULATOR_SCALAR_FP8_H

#include "Half.h"

namespace mpcore::emulator {

inline float widenFp8(uint8_t v, bool e5m2) {
  if (e5m2)
    return widenF16(uint16_t(v << 8));
  uint32_t sign = uint32_t(v & 0x80) << 24, rest = v & 0x7f;
  if (rest == 0x7f)
    return std::bit_cast<float>(0x7fffffffu);
  // Bias 7 against 127, three fraction bits.
  float scaled = std::bit_cast<float>(rest << 20) * 0x1p120f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

inline uint8_t narrowFp8(float v, bool e5m2) {
  uint32_t bits = std::bit_cast<uint32_t>(v);
  uint8_t sign = bits >> 24 & 0x80;
  if (v != v)
    return 0x7f;
  const int fraction = e5m2 ? 2 : 3, minExponent = e5m2 ? -14 : -6;
  const uint8_t largest = e5m2 ? 0x7b : 0x7e;
  const double limit = e5m2 ? 57344.0 : 448.0;
  double a = std::fabs(double(v));
  if (a >= limit)
    return sign | largest;
  // Count units in the last place; a power of two scaling is exact in f64.
  int exponent = a == 0 ? minExponent : std::max(std::ilogb(a), minExponent);
  double units = std::ldexp(a, fraction - exponent);
  double whole = std::floor(units), diff = units - whole;
  uint32_t n = uint32_t(whole) + (diff > 0.5 || (diff == 0.5 && uint32_t(whole) & 1));
  // n includes the hidden bit for normal numbers; carrying into the exponent is right by itself.
  uint32_t code = n + (uint32_t(exponent - minExponent) << fraction);
  return sign | uint8_t(std::min<uint32_t>(code, largest));
}

} // namespace mpcore::emulator

#endif
