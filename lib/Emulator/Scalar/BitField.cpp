// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bits moved: shl shr shf bfe bfi prmt bmsk szext.

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include <algorithm>

using namespace mpcore::emulator;

template <class T>
static constexpr auto shiftLeft =
    [](T a, uint32_t n) { return n >= 8 * sizeof(T) ? T(0) : T(uint64_t(a) << n); };
template <class T>
static constexpr auto shiftRight = [](T a, uint32_t n) {
  constexpr uint32_t bits = 8 * sizeof(T);
  if (n >= bits)
    return std::is_signed_v<T> ? T(a >> (bits - 1)) : T(0);
  return T(a >> n);
};

static bool shiftOperands(Decoder &d, Type t) {
  if (d.failed() || !d.operands(t, {t, Type::U32}))
    return false;
  return true;
}

static void decodeShl(Decoder &d) {
  Type t = d.takeType();
  if (!shiftOperands(d, t))
    return;
  d.out->fn = t == Type::B64   ? binary<uint64_t, uint64_t, uint32_t, shiftLeft<uint64_t>>
              : t == Type::B32 ? binary<uint32_t, uint32_t, uint32_t, shiftLeft<uint32_t>>
              : t == Type::B16 ? binary<uint16_t, uint16_t, uint32_t, shiftLeft<uint16_t>>
                               : nullptr;
}

static void decodeShr(Decoder &d) {
  Type t = d.takeType();
  if (!shiftOperands(d, t))
    return;
  switch (t) {
  case Type::B16:
  case Type::U16: d.out->fn = binary<uint16_t, uint16_t, uint32_t, shiftRight<uint16_t>>; break;
  case Type::B32:
  case Type::U32: d.out->fn = binary<uint32_t, uint32_t, uint32_t, shiftRight<uint32_t>>; break;
  case Type::B64:
  case Type::U64: d.out->fn = binary<uint64_t, uint64_t, uint32_t, shiftRight<uint64_t>>; break;
  case Type::S16: d.out->fn = binary<int16_t, int16_t, uint32_t, shiftRight<int16_t>>; break;
  case Type::S32: d.out->fn = binary<int32_t, int32_t, uint32_t, shiftRight<int32_t>>; break;
  case Type::S64: d.out->fn = binary<int64_t, int64_t, uint32_t, shiftRight<int64_t>>; break;
  default: break;
  }
}

// shf: the 64 bits b:a shifted; clamp or wrap the amount at 32.
template <bool Left, bool Wrap>
static constexpr auto funnel = [](uint32_t a, uint32_t b, uint32_t c) {
  uint32_t n = Wrap ? c & 31 : std::min(c, 32u);
  uint64_t both = uint64_t(b) << 32 | a;
  return uint32_t(Left ? (both << n) >> 32 : both >> n);
};

static void decodeShf(Decoder &d) {
  using U = uint32_t;
  const bool left = d.take("l"), wrap = d.take("wrap");
  d.dropMods();
  if (!d.operands(Type::B32, {Type::B32, Type::B32, Type::U32}))
    return;
  d.out->fn = left ? (wrap ? ternary<U, U, U, U, funnel<true, true>>
                           : ternary<U, U, U, U, funnel<true, false>>)
                   : (wrap ? ternary<U, U, U, U, funnel<false, true>>
                           : ternary<U, U, U, U, funnel<false, false>>);
}

// bfe: len bits of a from pos; the manual's pseudo code.
template <class T>
static constexpr auto extract = [](T a, uint32_t b, uint32_t c) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t msb = 8 * sizeof(T) - 1;
  uint32_t pos = b & 0xff, len = c & 0xff;
  bool sign = false;
  if (std::is_signed_v<T> && len)
    sign = U(a) >> std::min(pos + len - 1, msb) & 1;
  U r = 0;
  for (uint32_t k = 0; k <= msb; ++k)
    if (k < len && pos + k <= msb ? U(a) >> (pos + k) & 1 : sign)
      r |= U(1) << k;
  return T(r);
};

static void decodeBfe(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t, Type::U32, Type::U32}))
    return;
  d.out->fn = t == Type::U32   ? ternary<uint32_t, uint32_t, uint32_t, uint32_t, extract<uint32_t>>
              : t == Type::S32 ? ternary<int32_t, int32_t, uint32_t, uint32_t, extract<int32_t>>
              : t == Type::U64 ? ternary<uint64_t, uint64_t, uint32_t, uint32_t, extract<uint64_t>>
              : t == Type::S64 ? ternary<int64_t, int64_t, uint32_t, uint32_t, extract<int64_t>>
                               : nullptr;
}

template <class T> static Step execBfi(Warp &w, const Inst &i) {
  T *d = w.lanes<T>(i.dst);
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  const uint32_t *c = w.lanes<uint32_t>(i.c), *n = w.lanes<uint32_t>(i.d);
  constexpr uint32_t bits = 8 * sizeof(T);
  forLanes(w.exec, [&](unsigned l) {
    uint32_t pos = c[l] & 0xff, len = n[l] & 0xff;
    T mask = pos >= bits ? 0 : (len >= bits ? T(~T(0)) : T((T(1) << len) - 1)) << pos;
    d[l] = (b[l] & ~mask) | ((pos >= bits ? 0 : a[l] << pos) & mask);
  });
  return Step::Next;
}

static void decodeBfi(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t, t, Type::U32, Type::U32}))
    return;
  d.out->fn = t == Type::B32 ? execBfi<uint32_t> : t == Type::B64 ? execBfi<uint64_t> : nullptr;
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    uint32_t s = selector >> (4 * k) & 15;
    uint32_t byte = both >> (8 * (s & 7)) & 0xff;
    if (s & 8)
      byte = byte & 0x80 ? 0xff : 0;
    r |= byte << (8 * k);
  }
  return r;
}
// The named modes as selectors, by the low two bits of c.
static const uint16_t prmtModes[6][4] = {{0x3210, 0x4321, 0x5432, 0x6543},  // f4e
                                         {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
                                         {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
                                         {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
                                         {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
                                         {0x1010, 0x3232, 0x1010, 0x3232}}; // rc16
static Step execPrmt(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b),
                 *c = w.lanes<uint32_t>(i.c);
  forLanes(w.exec, [&](unsigned l) {
    d[l] = permute(a[l], b[l], i.imm < 0 ? c[l] : prmtModes[i.imm][c[l] & 3]);
  });
  return Step::Next;
}

static void decodePrmt(Decoder &d) {
  d.out->imm = -1;
  const char *names[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (int k = 0; k < 6; ++k)
    if (d.take(names[k]))
      d.out->imm = k;
  const Type t = d.takeType();
  if (d.operands(t, {t, t, t}))
    d.out->fn = execPrmt;
}

static void decodeBmsk(Decoder &d) {
  using U = uint32_t;
  const bool wrap = d.take("wrap");
  d.dropMods();
  if (!d.operands(Type::B32, {Type::B32, Type::B32}))
    return;
  d.out->fn = wrap ? binary<U, U, U,
                            [](U a, U b) {
                              a &= 31, b &= 31;
                              return U(((uint64_t(1) << b) - 1) << a);
                            }>
                   : binary<U, U, U, [](U a, U b) {
                       a = std::min(a, 32u), b = std::min(b, 32u);
                       return U(((uint64_t(1) << b) - 1) << a);
                     }>;
}

template <class T> static T extendFrom(T a, uint32_t n) {
  return n >= 32 ? a : n == 0 ? T(0) : T(T(uint32_t(a) << (32 - n)) >> (32 - n));
}
static void decodeSzext(Decoder &d) {
  const bool wrap = d.take("wrap");
  const Type t = d.takeType();
  d.dropMods();
  if (!d.operands(t, {t, Type::U32}))
    return;
  auto pick = [&]<class T>(T) -> ExecFn {
    return wrap ? binary<T, T, uint32_t, [](T a, uint32_t n) { return extendFrom(a, n & 31); }>
                : binary<T, T, uint32_t, [](T a, uint32_t n) { return extendFrom(a, n); }>;
  };
  d.out->fn = t == Type::U32 ? pick(uint32_t()) : pick(int32_t());
}

void mpcore::emulator::registerBitFieldOps(OpTable &table) {
  table["shl"] = decodeShl;
  table["shr"] = decodeShr;
  table["shf"] = decodeShf;
  table["bfe"] = decodeBfe;
  table["bfi"] = decodeBfi;
  table["prmt"] = decodePrmt;
  table["bmsk"] = decodeBmsk;
  table["szext"] = decodeSzext;
}
