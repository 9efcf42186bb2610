// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the lanes of a warp. With all lanes active they are plain counted loops over arrays,
// which the host compiler vectorises.

#ifndef MP_LIB_EMULATOR_STATE_LANES_H
#define MP_LIB_EMULATOR_STATE_LANES_H

#include "Warp.h"
#include <bit>
#include <cstring>
#include <type_traits>

#if defined(__clang__)
#define MP_LANE_LOOP _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#else
#define MP_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace mpcore::emulator {

/// 16-bit floats as bit patterns, so that they are types of their own.
struct F16Bits {
  uint16_t bits;
};
struct BF16Bits {
  uint16_t bits;
};

template <class T> using SlotOf = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

template <class T> inline T fromSlot(SlotOf<T> slot) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(slot);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<uint16_t>(slot));
  else
    return std::bit_cast<T>(slot);
}

template <class T> inline SlotOf<T> toSlot(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(value);
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<uint16_t>(value);
  else
    return std::bit_cast<SlotOf<T>>(value);
}

/// Takes the next lane from a mask where the order of lanes shows: the first, or the last in
/// reverse.
inline unsigned takeLane(uint32_t &mask, bool reverse) {
  unsigned lane = reverse ? 31 - std::countl_zero(mask) : std::countr_zero(mask);
  mask &= ~(1u << lane);
  return lane;
}

/// Calls body(lane) for the lanes of the mask.
template <class F> inline void forLanes(uint32_t mask, F &&body) {
  if (mask == ~0u) {
    MP_LANE_LOOP
    for (unsigned l = 0; l < kLanes; ++l)
      body(l);
  } else {
    for (; mask; mask &= mask - 1)
      body(unsigned(std::countr_zero(mask)));
  }
}

template <class D, class A, auto F> Step unary(Warp &w, const Inst &i) {
  auto *d = w.lanes<SlotOf<D>>(i.dst);
  auto *a = w.lanes<SlotOf<A>>(i.a);
  forLanes(w.exec, [&](unsigned l) { d[l] = toSlot<D>(D(F(fromSlot<A>(a[l])))); });
  return Step::Next;
}

template <class D, class A, class B, auto F> Step binary(Warp &w, const Inst &i) {
  auto *d = w.lanes<SlotOf<D>>(i.dst);
  auto *a = w.lanes<SlotOf<A>>(i.a);
  auto *b = w.lanes<SlotOf<B>>(i.b);
  forLanes(w.exec,
           [&](unsigned l) { d[l] = toSlot<D>(D(F(fromSlot<A>(a[l]), fromSlot<B>(b[l])))); });
  return Step::Next;
}

template <class D, class A, class B, class C, auto F> Step ternary(Warp &w, const Inst &i) {
  auto *d = w.lanes<SlotOf<D>>(i.dst);
  auto *a = w.lanes<SlotOf<A>>(i.a);
  auto *b = w.lanes<SlotOf<B>>(i.b);
  auto *c = w.lanes<SlotOf<C>>(i.c);
  forLanes(w.exec, [&](unsigned l) {
    d[l] = toSlot<D>(D(F(fromSlot<A>(a[l]), fromSlot<B>(b[l]), fromSlot<C>(c[l]))));
  });
  return Step::Next;
}

/// A bit per lane where the condition holds.
template <class F> inline uint32_t laneMask(F &&condition) {
  uint32_t result = 0;
  for (unsigned l = 0; l < kLanes; ++l)
    result |= uint32_t(condition(l)) << l;
  return result;
}

inline void setPred(Warp &w, Reg r, uint32_t value) {
  uint32_t &p = w.pred(r);
  p = (p & ~w.exec) | (value & w.exec);
}

/// Lane addresses [base + offset] of a memory instruction.
inline void laneAddresses(Warp &w, Reg base, int64_t offset, bool wide, uint64_t *addresses) {
  if (wide) {
    const uint64_t *a = w.lanes<uint64_t>(base);
    for (unsigned l = 0; l < kLanes; ++l)
      addresses[l] = a[l] + offset;
  } else {
    const uint32_t *a = w.lanes<uint32_t>(base);
    for (unsigned l = 0; l < kLanes; ++l)
      addresses[l] = uint32_t(a[l] + uint32_t(offset));
  }
}

} // namespace mpcore::emulator

#endif
