// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact values of narrow patterns, without LLVM. lib/Numerics is the definition;
// a test compares every pattern of every format.

#include "Formats.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mpcore::runtime;

namespace {

enum class Specials { IEEE, AllOnesNaN, NegativeZeroNaN, None };

struct Shape {
  int fractionBits, exponentBits, bias;
  Specials specials;
};

} // namespace

static Shape shapeOf(int format) {
  switch (format) {
  case MP_RT_BF16: return {7, 8, 127, Specials::IEEE};
  case MP_RT_F16: return {10, 5, 15, Specials::IEEE};
  case MP_RT_F8E5M2: return {2, 5, 15, Specials::IEEE};
  case MP_RT_F8E4M3: return {3, 4, 7, Specials::IEEE};
  case MP_RT_F8E4M3FN: return {3, 4, 7, Specials::AllOnesNaN};
  case MP_RT_F8E5M2FNUZ: return {2, 5, 16, Specials::NegativeZeroNaN};
  case MP_RT_F8E4M3FNUZ: return {3, 4, 8, Specials::NegativeZeroNaN};
  case MP_RT_F8E4M3B11FNUZ: return {3, 4, 11, Specials::NegativeZeroNaN};
  case MP_RT_F8E3M4: return {4, 3, 3, Specials::IEEE};
  case MP_RT_F6E3M2FN: return {2, 3, 3, Specials::None};
  case MP_RT_F6E2M3FN: return {3, 2, 1, Specials::None};
  default: return {1, 2, 1, Specials::None}; // f4E2M1FN
  }
}

int mpcore::runtime::patternBits(int format) {
  switch (format) {
  case MP_RT_F64: return 64;
  case MP_RT_F32:
  case MP_RT_TF32: // stored as the f32 it is
    return 32;
  case MP_RT_F8E8M0FNU: return 8;
  default: Shape shape = shapeOf(format); return 1 + shape.exponentBits + shape.fractionBits;
  }
}

extern "C" float mp_rt_decode(uint32_t bits, int format) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (format == MP_RT_F8E8M0FNU)
    return (bits & 0xFF) == 0xFF ? nan : std::ldexp(1.0f, int(bits & 0xFF) - 127);
  Shape shape = shapeOf(format);
  int magnitudeBits = shape.fractionBits + shape.exponentBits;
  uint32_t fraction = bits & ((1u << shape.fractionBits) - 1);
  uint32_t exponent = (bits >> shape.fractionBits) & ((1u << shape.exponentBits) - 1);
  bool negative = (bits >> magnitudeBits) & 1;
  bool allOnes = exponent == (1u << shape.exponentBits) - 1;
  float sign = negative ? -1.0f : 1.0f;
  if (shape.specials == Specials::IEEE && allOnes)
    return fraction ? nan : sign * std::numeric_limits<float>::infinity();
  if (shape.specials == Specials::AllOnesNaN && allOnes &&
      fraction == (1u << shape.fractionBits) - 1)
    return nan;
  if (shape.specials == Specials::NegativeZeroNaN && negative && !exponent && !fraction)
    return nan;
  uint32_t significand = fraction | (exponent ? 1u << shape.fractionBits : 0);
  int lastPlace = (exponent ? int(exponent) : 1) - shape.bias - shape.fractionBits;
  return sign * std::ldexp(float(significand), lastPlace);
}

namespace {

template <int format, unsigned bits> struct Table {
  float values[1u << bits];
  Table() {
    for (uint32_t pattern = 0; pattern < (1u << bits); ++pattern)
      values[pattern] = mp_rt_decode(pattern, format);
  }
};

} // namespace

template <int format, unsigned bits> static const float *table() {
  static const Table<format, bits> *filled = new Table<format, bits>;
  return filled->values;
}

const float *mpcore::runtime::decodeTable(int format) {
  switch (format) {
  case MP_RT_F16: return table<MP_RT_F16, 16>();
  case MP_RT_F8E5M2: return table<MP_RT_F8E5M2, 8>();
  case MP_RT_F8E4M3: return table<MP_RT_F8E4M3, 8>();
  case MP_RT_F8E4M3FN: return table<MP_RT_F8E4M3FN, 8>();
  case MP_RT_F8E5M2FNUZ: return table<MP_RT_F8E5M2FNUZ, 8>();
  case MP_RT_F8E4M3FNUZ: return table<MP_RT_F8E4M3FNUZ, 8>();
  case MP_RT_F8E4M3B11FNUZ: return table<MP_RT_F8E4M3B11FNUZ, 8>();
  case MP_RT_F8E3M4: return table<MP_RT_F8E3M4, 8>();
  case MP_RT_F8E8M0FNU: return table<MP_RT_F8E8M0FNU, 8>();
  case MP_RT_F6E3M2FN: return table<MP_RT_F6E3M2FN, 8>();
  case MP_RT_F6E2M3FN: return table<MP_RT_F6E2M3FN, 8>();
  case MP_RT_F4E2M1FN: return table<MP_RT_F4E2M1FN, 8>();
  default: return nullptr;
  }
}

int64_t mpcore::runtime::storageBytes(int format) {
  if (format == MP_RT_F64)
    return 8;
  if (format == MP_RT_F32 || format == MP_RT_TF32)
    return 4;
  return format == MP_RT_BF16 || format == MP_RT_F16 ? 2 : 1;
}

float mp_rt_round_to_bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const bool isNaN = (bits & 0x7fffffff) > 0x7f800000;
  // A tie goes up where the last digit kept is odd.
  bits = isNaN ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  float result;
  std::memcpy(&result, &bits, 4);
  return result;
}

extern "C" __attribute__((weak, alias("mp_rt_round_to_bf16"))) float __truncsfbf2(float value);
