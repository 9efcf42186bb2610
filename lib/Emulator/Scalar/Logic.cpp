// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bits, one by one or counted: and or xor not cnot lop3 popc clz bfind brev fns.

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include <algorithm>

using namespace mpcore::emulator;

template <auto F> static Step execPred(Warp &w, const Inst &i) {
  setPred(w, i.dst, F(w.pred(i.a), w.pred(i.b)));
  return Step::Next;
}
static Step execPredNot(Warp &w, const Inst &i) {
  setPred(w, i.dst, ~w.pred(i.a));
  return Step::Next;
}

template <auto F> static void decodeBitwise(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.expectOps(3))
    return;
  if (t == Type::Pred) {
    d.out->dst = d.predDst(d.op(0));
    d.out->a = d.pred(d.op(1));
    d.out->b = d.pred(d.op(2));
    d.out->fn = execPred<F>;
    return;
  }
  if (!d.operands(t, {t, t}))
    return;
  d.out->fn = bitWidth(t) == 64 ? binary<uint64_t, uint64_t, uint64_t, F>
                                : binary<uint32_t, uint32_t, uint32_t, F>;
}

static void decodeNot(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.expectOps(2))
    return;
  if (t == Type::Pred) {
    d.out->dst = d.predDst(d.op(0));
    d.out->a = d.pred(d.op(1));
    d.out->fn = execPredNot;
    return;
  }
  if (!d.operands(t, {t}))
    return;
  d.out->fn = t == Type::B64   ? unary<uint64_t, uint64_t, [](uint64_t a) { return ~a; }>
              : t == Type::B32 ? unary<uint32_t, uint32_t, [](uint32_t a) { return ~a; }>
                               : unary<uint16_t, uint16_t, [](uint16_t a) { return ~a; }>;
}

static void decodeCnot(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t}))
    return;
  d.out->fn = t == Type::B64   ? unary<uint64_t, uint64_t, [](uint64_t a) { return a == 0; }>
              : t == Type::B32 ? unary<uint32_t, uint32_t, [](uint32_t a) { return a == 0; }>
              : t == Type::B16 ? unary<uint16_t, uint16_t, [](uint16_t a) { return a == 0; }>
                               : nullptr;
}

static Step execLop3(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b),
                 *c = w.lanes<uint32_t>(i.c);
  uint32_t term[8];
  for (unsigned k = 0; k < 8; ++k)
    term[k] = i.imm >> k & 1 ? ~0u : 0;
  forLanes(w.exec, [&](unsigned l) {
    uint32_t x = a[l], y = b[l], z = c[l];
    d[l] = (term[0] & ~x & ~y & ~z) | (term[1] & ~x & ~y & z) | (term[2] & ~x & y & ~z) |
           (term[3] & ~x & y & z) | (term[4] & x & ~y & ~z) | (term[5] & x & ~y & z) |
           (term[6] & x & y & ~z) | (term[7] & x & y & z);
  });
  return Step::Next;
}

// d|p: p is (d != 0) combined with q.
template <bool And> static Step execLop3Pred(Warp &w, const Inst &i) {
  execLop3(w, i);
  const uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t some = laneMask([&](unsigned l) { return d[l] != 0; }), q = w.pred(i.list[1]);
  setPred(w, i.list[0], And ? some & q : some | q);
  return Step::Next;
}

static void decodeLop3(Decoder &d) {
  const bool both = d.take("and"), any = d.take("or"), combines = both || any;
  d.takeType();
  if (!d.expectOps(combines ? 6 : 5))
    return;
  d.out->fn = execLop3;
  if (combines) {
    if (d.op(0).kind != syntax::Operand::Pair) {
      d.fail("expected d|p");
      return;
    }
    d.out->dst = d.dst(d.op(0).parts[0], Type::B32);
    d.out->list = d.keepList({d.predDst(d.op(0).parts[1]), d.pred(d.op(5))});
    d.out->fn = both ? execLop3Pred<true> : execLop3Pred<false>;
  } else {
    d.out->dst = d.dst(0, Type::B32);
  }
  d.out->a = d.src(1, Type::B32);
  d.out->b = d.src(2, Type::B32);
  d.out->c = d.src(3, Type::B32);
  if (d.constant(d.op(4), d.out->imm) && (d.out->imm < 0 || d.out->imm > 255))
    d.fail("the table of lop3 has 8 bits");
}

template <auto F32, auto F64> static void decodeCount(Decoder &d) { // the result has 32 bits
  Type t = d.takeType();
  if (d.failed() || !d.operands(Type::U32, {t}))
    return;
  d.out->fn = t == Type::B32   ? unary<uint32_t, uint32_t, F32>
              : t == Type::B64 ? unary<uint32_t, uint64_t, F64>
                               : nullptr;
}

static void decodeBrev(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t}))
    return;
  constexpr auto reverse = [](auto a) {
    decltype(a) r = 0;
    for (unsigned k = 0; k < 8 * sizeof(a); ++k)
      r = r << 1 | (a >> k & 1);
    return r;
  };
  d.out->fn = t == Type::B32   ? unary<uint32_t, uint32_t, reverse>
              : t == Type::B64 ? unary<uint64_t, uint64_t, reverse>
                               : nullptr;
}

// bfind: position of the most significant bit that is not the sign; -1 when there is none.
template <class T, bool Shift>
static constexpr auto findBit = [](T a) {
  using U = std::make_unsigned_t<T>;
  constexpr int msb = 8 * sizeof(T) - 1;
  U v = std::is_signed_v<T> && a < 0 ? U(~U(a)) : U(a);
  if (!v)
    return uint32_t(~0u);
  int at = msb - std::countl_zero(v);
  return uint32_t(Shift ? msb - at : at);
};
static void decodeBfind(Decoder &d) {
  bool shift = d.take("shiftamt");
  Type t = d.takeType();
  if (d.failed() || !d.operands(Type::U32, {t}))
    return;
  auto pick = [&]<class T>(T) -> ExecFn {
    return shift ? unary<uint32_t, T, findBit<T, true>> : unary<uint32_t, T, findBit<T, false>>;
  };
  d.out->fn = t == Type::U32   ? pick(uint32_t())
              : t == Type::S32 ? pick(int32_t())
              : t == Type::U64 ? pick(uint64_t())
              : t == Type::S64 ? pick(int64_t())
                               : nullptr;
}

/// Finds the n-th set bit, counted from base upward or, for negative n, downward; the manual's
/// program.
static uint32_t findNth(uint32_t mask, uint32_t base, int32_t n) {
  if (n == 0)
    return base < 32 && mask >> base & 1 ? base : ~0u;
  uint32_t left = n > 0 ? n : 0u - uint32_t(n);
  for (int64_t at = base; at >= 0 && at < 32; at += n > 0 ? 1 : -1)
    if (mask >> at & 1 && --left == 0)
      return uint32_t(at);
  return ~0u;
}
static void decodeFns(Decoder &d) {
  Type t = d.takeType();
  if (d.failed() || !d.operands(t, {t, t, t}))
    return;
  d.out->fn = ternary<uint32_t, uint32_t, uint32_t, int32_t, findNth>;
}

void mpcore::emulator::registerLogicOps(OpTable &table) {
  table["and"] = decodeBitwise<[](auto a, auto b) { return a & b; }>;
  table["or"] = decodeBitwise<[](auto a, auto b) { return a | b; }>;
  table["xor"] = decodeBitwise<[](auto a, auto b) { return a ^ b; }>;
  table["not"] = decodeNot;
  table["cnot"] = decodeCnot;
  table["lop3"] = decodeLop3;
  table["popc"] = decodeCount<[](uint32_t a) { return std::popcount(a); },
                              [](uint64_t a) { return std::popcount(a); }>;
  table["clz"] = decodeCount<[](uint32_t a) { return std::countl_zero(a); },
                             [](uint64_t a) { return std::countl_zero(a); }>;
  table["brev"] = decodeBrev;
  table["bfind"] = decodeBfind;
  table["fns"] = decodeFns;
}
