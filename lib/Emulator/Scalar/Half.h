// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f16 and bf16 to and from f32, to nearest even, in integer arithmetic that vectorises. NaN becomes
// the canonical NaN of the result (0x7fff for both, as the hardware gives). Tested against APFloat.

#ifndef MP_LIB_EMULATOR_SCALAR_HALF_H
#define MP_LIB_EMULATOR_SCALAR_HALF_H

#include "../State/Lanes.h"
#include <cmath>

namespace mpcore::emulator {

inline float widenF16(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16, rest = h & 0x7fff;
  // Subnormals come out right because the product by 2^112 is exact.
  float scaled = std::bit_cast<float>(rest << 13) * 0x1p112f;
  uint32_t bits = rest >= 0x7c00 ? (rest << 13) | 0x7f800000u : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | sign);
}

inline uint16_t narrowF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000,
           rest = bits & 0x7fffffff;
  if (rest > 0x7f800000)
    return 0x7fff;
  if (rest >= 0x47800000) // at least 2^16
    return uint16_t(sign | 0x7c00);
  if (rest < 0x38800000) { // below 2^-14: align to 2^-24 by an addition that rounds
    float magic = std::bit_cast<float>(rest) + 0.5f;
    return uint16_t(sign | (std::bit_cast<uint32_t>(magic) - 0x3f000000u));
  }
  rest += 0xfff + (rest >> 13 & 1) - 0x38000000u;
  return uint16_t(sign | rest >> 13); // rounding up past the largest gives infinity
}

inline float widenBF16(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }

inline uint16_t narrowBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// a * b + c rounded to odd in f64: rounding the result once more to 51 or fewer bits rounds the
/// exact value. The product must be exact in f64.
inline double mulAddOdd(double a, double b, double c) {
  double p = a * b, s = p + c;
  double t = s - p, error = (p - (s - t)) + (c - t);
  uint64_t bits = std::bit_cast<uint64_t>(s);
  if (!(std::fabs(s) < INFINITY) || error == 0 || (bits & 1))
    return s;
  // The exact sum lies strictly between s and a neighbour: take the odd one.
  bool away = (error > 0) == (s > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

} // namespace mpcore::emulator

#endif
