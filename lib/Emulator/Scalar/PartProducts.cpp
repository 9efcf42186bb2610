// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on parts of words: mul24, mad24, dp4a, dp2a, vabsdiff2, vabsdiff4.

#include "Arithmetic.h"
#include <algorithm>

using namespace mpcore::emulator;

// .lo: bits 0..31 of the 48-bit product; .hi: bits 16..47.
template <class T>
static constexpr auto product24 = [](T a, T b) {
  auto low = [](T v) { return int64_t(T(uint32_t(v) << 8) >> 8); };
  return low(a) * low(b);
};
template <class T> static constexpr auto mul24Low = [](T a, T b) { return T(product24<T>(a, b)); };
template <class T>
static constexpr auto mul24High = [](T a, T b) { return T(product24<T>(a, b) >> 16); };
template <auto F, class T>
static constexpr auto plus = [](T a, T b, T c) { return T(uint32_t(F(a, b)) + uint32_t(c)); };

template <class T> static ExecFn pick24(bool low, bool add) {
  if (add)
    return low ? ternary<T, T, T, T, plus<mul24Low<T>, T>>
               : ternary<T, T, T, T, plus<mul24High<T>, T>>;
  return low ? binary<T, T, T, mul24Low<T>> : binary<T, T, T, mul24High<T>>;
}

static void decode24(Decoder &d, bool add) {
  bool hi = d.take("hi"), sat = d.take("sat");
  d.take("lo");
  Type t = d.takeType();
  if (d.failed() || !d.expectOps(add ? 4 : 3))
    return;
  d.out->dst = d.dst(0, t);
  d.out->a = d.src(1, t);
  d.out->b = d.src(2, t);
  if (add)
    d.out->c = d.src(3, t);
  using S = int32_t;
  d.out->fn = sat              ? ternary<S, S, S, S,
                                         [](S a, S b, S c) {
                              return S(std::clamp<int64_t>(int64_t(mul24High<S>(a, b)) + c,
                                                           INT32_MIN, INT32_MAX));
                                         }>
              : t == Type::U32 ? pick24<uint32_t>(!hi, add)
                               : pick24<int32_t>(!hi, add);
}
static void decodeMul24(Decoder &d) { decode24(d, false); }
static void decodeMad24(Decoder &d) { decode24(d, true); }

// dp4a, dp2a: bytes of a times bytes (or halves) of b, added to c.
static constexpr uint32_t kSignedA = 1, kSignedB = 2, kUpper = 4;
static int32_t element(uint32_t word, unsigned index, unsigned bits, bool sign) {
  uint32_t v = word >> (index * bits) & ((1u << bits) - 1);
  return sign && v >> (bits - 1) ? int32_t(v) - (1 << bits) : int32_t(v);
}
static Step execDp(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b),
                 *c = w.lanes<uint32_t>(i.c);
  const unsigned n = i.count;
  forLanes(w.exec, [&](unsigned l) {
    uint32_t sum = c[l];
    for (unsigned k = 0; k < n; ++k) {
      int32_t x = element(a[l], k, n == 4 ? 8 : 16, i.flags & kSignedA);
      int32_t y = element(b[l], n == 4 ? k : k + (i.flags & kUpper ? 2 : 0), 8, i.flags & kSignedB);
      sum += uint32_t(x * y);
    }
    d[l] = sum;
  });
  return Step::Next;
}
/// Words of `count` parts and one to add to.
static void partOperands(Decoder &d, Type a, Type b, unsigned count) {
  d.out->dst = d.dst(0, Type::B32);
  d.out->a = d.src(1, a);
  d.out->b = d.src(2, b);
  d.out->c = d.src(3, Type::B32);
  d.out->count = count;
}
static void decodeDp(Decoder &d, unsigned count) {
  const bool hi = d.take("hi");
  const Type a = d.takeType(), b = d.takeType();
  d.dropMods();
  if (!d.expectOps(4))
    return;
  partOperands(d, a, b, count);
  d.out->flags =
      (a == Type::S32 ? kSignedA : 0) | (b == Type::S32 ? kSignedB : 0) | (hi ? kUpper : 0);
  d.out->fn = execDp;
}
static void decodeDp4a(Decoder &d) { decodeDp(d, 4); }
static void decodeDp2a(Decoder &d) { decodeDp(d, 2); }

// vabsdiff2, vabsdiff4: distances of halves or bytes, side by side or summed up with c.
static constexpr uint32_t kSaturates = 8, kSums = 16, kSignedResult = 32;
static Step execDistances(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b),
                 *c = w.lanes<uint32_t>(i.c);
  const unsigned n = i.count, bits = 32 / n;
  const int32_t largest = (1 << (i.flags & kSignedResult ? bits - 1 : bits)) - 1;
  forLanes(w.exec, [&](unsigned l) {
    uint32_t sum = c[l], packed = 0;
    for (unsigned k = 0; k < n; ++k) {
      int32_t distance = std::abs(element(a[l], k, bits, i.flags & kSignedA) -
                                  element(b[l], k, bits, i.flags & kSignedB));
      sum += distance;
      if (i.flags & kSaturates)
        distance = std::min(distance, largest);
      packed |= (uint32_t(distance) & ((1u << bits) - 1)) << (k * bits);
    }
    d[l] = i.flags & kSums ? sum : packed;
  });
  return Step::Next;
}
static void decodeDistances(Decoder &d, unsigned count) {
  Type result = d.takeType(), a = d.takeType(), b = d.takeType();
  bool saturates = d.take("sat"), sums = d.take("add");
  if (d.failed() || !d.expectOps(4))
    return;
  for (unsigned k = 0; k < 4; ++k)
    if (d.op(k).name.contains('.')) {
      d.fail("selections of parts are not implemented");
      return;
    }
  partOperands(d, a, b, count);
  d.out->flags = (a == Type::S32 ? kSignedA : 0) | (b == Type::S32 ? kSignedB : 0) |
                 (result == Type::S32 ? kSignedResult : 0) | (saturates ? kSaturates : 0) |
                 (sums ? kSums : 0);
  d.out->fn = execDistances;
}
static void decodeDistances2(Decoder &d) { decodeDistances(d, 2); }
static void decodeDistances4(Decoder &d) { decodeDistances(d, 4); }

void mpcore::emulator::registerPartProductOps(OpTable &table) {
  table["vabsdiff2"] = decodeDistances2;
  table["vabsdiff4"] = decodeDistances4;
  table["mul24"] = decodeMul24;
  table["mad24"] = decodeMad24;
  table["dp4a"] = decodeDp4a;
  table["dp2a"] = decodeDp2a;
}
