// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts elements of narrow formats by tables.

#ifndef MP_LIB_RUNTIME_FORMATS_H
#define MP_LIB_RUNTIME_FORMATS_H

#include "mp/Runtime/Runtime.h"

#include <cstdint>
#include <cstring>

namespace mpcore::runtime {

/// Values of all patterns of f16 (65536) or an 8-bit or narrower format (256);
/// null for the others. Filled once, thread-safe.
const float *decodeTable(int format);

/// Bytes of one element in memory.
int64_t storageBytes(int format);

/// Bits of a pattern, the sign included.
int patternBits(int format);

/// Readers: element `index` of an array as T, exactly.
template <typename T> struct LoadSame {
  using Element = T;
  T operator()(const T *p) const { return *p; }
};
struct LoadF32AsF64 {
  using Element = float;
  double operator()(const float *p) const { return double(*p); }
};
template <typename T> struct LoadBF16 {
  using Element = uint16_t;
  T operator()(const uint16_t *p) const {
    uint32_t bits = uint32_t(*p) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return T(value);
  }
};
template <typename T, typename Bits> struct LoadByTable {
  using Element = Bits;
  const float *values;
  T operator()(const Bits *p) const { return T(values[*p]); }
};

/// Calls `body` with the reader of `format` into T; false if there is none
/// (f64 into f32).
template <typename T, typename Body> bool withLoader(int format, Body body) {
  switch (format) {
  case MP_RT_F64:
    if constexpr (sizeof(T) == 8) {
      body(LoadSame<double>());
      return true;
    }
    return false;
  case MP_RT_F32:
  case MP_RT_TF32:
    if constexpr (sizeof(T) == 8)
      body(LoadF32AsF64());
    else
      body(LoadSame<float>());
    return true;
  case MP_RT_BF16: body(LoadBF16<T>()); return true;
  case MP_RT_F16: body(LoadByTable<T, uint16_t>{decodeTable(format)}); return true;
  default:
    if (format < 0 || format >= MP_RT_FORMAT_COUNT)
      return false;
    body(LoadByTable<T, uint8_t>{decodeTable(format)});
    return true;
  }
}

} // namespace mpcore::runtime

#endif // MP_LIB_RUNTIME_FORMATS_H
