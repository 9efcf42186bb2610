// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise reductions of bulk copies into global memory.

#ifndef MP_LIB_EMULATOR_TRANSFER_BULKREDUCTION_H
#define MP_LIB_EMULATOR_TRANSFER_BULKREDUCTION_H

#include "../Scalar/Half.h"
#include "mp/Emulator/TensorMap.h"
#include <algorithm>

namespace mp::emulator {

enum class Reduction : uint8_t { Add, Min, Max, And, Or, Xor };

/// *to = *to (reduction) *from for one element.
template <class T> void combine(uint8_t *to, const uint8_t *from, Reduction r) {
  T a, b;
  std::memcpy(&a, to, sizeof(T));
  std::memcpy(&b, from, sizeof(T));
  if constexpr (std::is_same_v<T, F16Bits>) {
    float x = widenF16(a.bits), y = widenF16(b.bits);
    a.bits = narrowF16(r == Reduction::Add ? x + y : (r == Reduction::Min) == (x < y) ? x : y);
  } else if constexpr (std::is_same_v<T, BF16Bits>) {
    float x = widenBF16(a.bits), y = widenBF16(b.bits);
    a.bits = narrowBF16(r == Reduction::Add ? x + y : (r == Reduction::Min) == (x < y) ? x : y);
  } else if constexpr (std::is_floating_point_v<T>) {
    a = a + b;
  } else {
    switch (r) {
    case Reduction::Add:
      a = T(a + b);
      break;
    case Reduction::Min:
      a = std::min(a, b);
      break;
    case Reduction::Max:
      a = std::max(a, b);
      break;
    case Reduction::And:
      a = a & b;
      break;
    case Reduction::Or:
      a = a | b;
      break;
    case Reduction::Xor:
      a = a ^ b;
      break;
    }
  }
  std::memcpy(to, &a, sizeof(T));
}

using CombineFn = void (*)(uint8_t *, const uint8_t *, Reduction);
inline CombineFn combineFor(TensorMap::Type t, unsigned &bytes) {
  switch (t) {
  case TensorMap::Type::F32:
    bytes = 4;
    return combine<float>;
  case TensorMap::Type::F64:
    bytes = 8;
    return combine<double>;
  case TensorMap::Type::F16:
    bytes = 2;
    return combine<F16Bits>;
  case TensorMap::Type::BF16:
    bytes = 2;
    return combine<BF16Bits>;
  case TensorMap::Type::U32:
    bytes = 4;
    return combine<uint32_t>;
  case TensorMap::Type::S32:
    bytes = 4;
    return combine<int32_t>;
  case TensorMap::Type::U64:
    bytes = 8;
    return combine<uint64_t>;
  case TensorMap::Type::S64:
    bytes = 8;
    return combine<int64_t>;
  default:
    return nullptr;
  }
}

} // namespace mp::emulator

#endif
