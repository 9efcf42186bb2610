// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read-modify-write of one element in memory: atom, red, red.async and the reductions of bulk
// copies.

#ifndef MP_LIB_EMULATOR_TRANSFER_REDUCTION_H
#define MP_LIB_EMULATOR_TRANSFER_REDUCTION_H

#include "../Decode/Decoder.h"
#include "../Scalar/Half.h"
#include <cmath>
#include <mutex>

namespace mpcore::emulator {

enum class Rmw : uint8_t { And, Or, Xor, Cas, Exch, Add, Inc, Dec, Min, Max };

/// As min.f16 and max.f16: NaN loses, +0 is greater than -0.
template <class T, bool IsMin> T lesserHalf(T a, T b) {
  auto widen = [](T v) {
    return std::is_same_v<T, F16Bits> ? widenF16(v.bits) : widenBF16(v.bits);
  };
  const float x = widen(a), y = widen(b);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y) ? T{0x7fff} : std::isnan(x) ? b : a;
  const bool first = x == y ? std::signbit(x) : x < y;
  return first == IsMin ? a : b;
}

template <class T, Rmw O> T apply(T old, T b, T c) {
  constexpr bool isHalf = std::is_same_v<T, F16Bits> || std::is_same_v<T, BF16Bits>;
  if constexpr (O == Rmw::Exch)
    return b;
  else if constexpr (O == Rmw::Cas)
    return old == b ? c : old;
  else if constexpr (O == Rmw::Add) {
    if constexpr (std::is_same_v<T, F16Bits>)
      return {narrowF16(widenF16(old.bits) + widenF16(b.bits))};
    else if constexpr (std::is_same_v<T, BF16Bits>)
      return {narrowBF16(widenBF16(old.bits) + widenBF16(b.bits))};
    else
      return T(old + b);
  } else if constexpr (isHalf && (O == Rmw::Min || O == Rmw::Max))
    return lesserHalf<T, O == Rmw::Min>(old, b);
  else if constexpr (O == Rmw::Inc)
    return old >= b ? T(0) : T(old + 1);
  else if constexpr (O == Rmw::Dec)
    return old == 0 || old > b ? b : T(old - 1);
  else if constexpr (O == Rmw::Min)
    return old < b ? old : b;
  else if constexpr (O == Rmw::Max)
    return old > b ? old : b;
  else if constexpr (O == Rmw::And)
    return old & b;
  else if constexpr (O == Rmw::Or)
    return old | b;
  else
    return old ^ b;
}

inline float withoutSubnormals(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
}

/// f32 sums in global memory take and give no subnormals (PTX ISA, "atom"); those in shared memory
/// do.
template <class T, Rmw O> T applyIn(bool shared, T old, T b, T c) {
  if constexpr (std::is_same_v<T, float> && O == Rmw::Add)
    if (!shared)
      return withoutSubnormals(apply<T, O>(withoutSubnormals(old), withoutSubnormals(b), c));
  return apply<T, O>(old, b, c);
}

/// Blocks run on several host threads: one lock for read-modify-write keeps every width simple and
/// correct.
inline std::mutex &atomicLock(const void *p) {
  static std::mutex locks[64];
  return locks[uintptr_t(p) >> 4 & 63];
}

/// The word among the modifiers that names an operation.
inline std::optional<Rmw> takeRmw(Decoder &d) {
  static constexpr std::pair<const char *, Rmw> names[] = {
      {"and", Rmw::And},   {"or", Rmw::Or},   {"xor", Rmw::Xor}, {"cas", Rmw::Cas},
      {"exch", Rmw::Exch}, {"add", Rmw::Add}, {"inc", Rmw::Inc}, {"dec", Rmw::Dec},
      {"min", Rmw::Min},   {"max", Rmw::Max}};
  for (auto [name, op] : names)
    if (d.take(name))
      return op;
  return std::nullopt;
}

/// *to = *to (op) *from for one element, atomically.
using CombineFn = void (*)(uint8_t *to, const uint8_t *from, bool shared);
/// Returns the function of a bulk reduction for the type and the operation, or null. s64 has no
/// sum: that of u64 is the same.
CombineFn combineFor(Type type, Rmw op);

} // namespace mpcore::emulator

#endif
