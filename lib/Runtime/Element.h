// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and formats elements of arrays by their type.

#ifndef MP_LIB_RUNTIME_ELEMENT_H
#define MP_LIB_RUNTIME_ELEMENT_H

#include "Formats.h"

#include <cstdio>
#include <string>

namespace mpcore::runtime {

/// The storage and meaning of elements.
struct Element {
  bool isFloat;
  int format; ///< of floats
  int bits;
  int64_t bytes;

  explicit Element(int64_t code)
      : isFloat(code < MP_RT_INTEGER), format(int(code)),
        bits(isFloat ? patternBits(format) : int(code - MP_RT_INTEGER)),
        bytes(isFloat      ? storageBytes(format)
              : bits <= 8  ? 1
              : bits <= 16 ? 2
              : bits <= 32 ? 4
                           : 8) {}

  uint64_t load(const void *array, int64_t index) const {
    uint64_t pattern = 0;
    std::memcpy(&pattern, static_cast<const char *>(array) + index * bytes, size_t(bytes));
    return bits == 64 ? pattern : pattern & ((uint64_t(1) << bits) - 1);
  }

  double value(uint64_t pattern) const {
    if (format == MP_RT_F64) {
      double value;
      std::memcpy(&value, &pattern, 8);
      return value;
    }
    if (format == MP_RT_F32 || format == MP_RT_TF32) {
      uint32_t narrow = uint32_t(pattern);
      float value;
      std::memcpy(&value, &narrow, 4);
      return value;
    }
    return mp_rt_decode(uint32_t(pattern), format);
  }

  /// Place in the order of the format's values; both zeros are 0.
  int64_t rank(uint64_t pattern) const {
    if (format == MP_RT_F8E8M0FNU)
      return int64_t(pattern);
    uint64_t sign = uint64_t(1) << (bits - 1);
    return pattern & sign ? -int64_t(pattern ^ sign) : int64_t(pattern);
  }

  /// Reads the pattern of an integer as signed.
  int64_t integer(uint64_t pattern) const { return int64_t(pattern << (64 - bits)) >> (64 - bits); }

  /// Value and pattern.
  std::string text(uint64_t pattern) const {
    char buffer[96];
    if (isFloat)
      std::snprintf(buffer, sizeof(buffer), "%.9g (0x%0*llx)", value(pattern), (bits + 3) / 4,
                    (unsigned long long)pattern);
    else
      std::snprintf(buffer, sizeof(buffer), "%lld (0x%0*llx)", (long long)integer(pattern),
                    (bits + 3) / 4, (unsigned long long)pattern);
    return buffer;
  }
};

} // namespace mpcore::runtime

#endif // MP_LIB_RUNTIME_ELEMENT_H
