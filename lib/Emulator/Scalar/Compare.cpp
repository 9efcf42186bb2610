// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setp and set: comparison, ordered and unordered, combined with a predicate.

#include "Arithmetic.h"
#include "Half.h"

using namespace mpcore::emulator;

namespace {
enum class Cmp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum : uint32_t {
  kCmpAnd = 1,
  kCmpOr = 2,
  kCmpXor = 3,
  kCmpCombine = 3,
  kCmpNotC = 4,
  kCmpTwo = 8,
  kCmpFtz = 16,
  kCmpFloatResult = 32
};

template <class T, Cmp C> bool compare(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    bool unordered = a != a || b != b;
    switch (C) {
    case Cmp::Eq: return a == b;
    case Cmp::Ne: return !unordered && a != b;
    case Cmp::Lt: return a < b;
    case Cmp::Le: return a <= b;
    case Cmp::Gt: return a > b;
    case Cmp::Ge: return a >= b;
    case Cmp::Equ: return unordered || a == b;
    case Cmp::Neu: return a != b;
    case Cmp::Ltu: return !(a >= b);
    case Cmp::Leu: return !(a > b);
    case Cmp::Gtu: return !(a <= b);
    case Cmp::Geu: return !(a < b);
    case Cmp::Num: return !unordered;
    case Cmp::Nan: return unordered;
    }
    return false;
  } else {
    switch (C) {
    case Cmp::Eq: return a == b;
    case Cmp::Ne: return a != b;
    case Cmp::Lt: return a < b;
    case Cmp::Le: return a <= b;
    case Cmp::Gt: return a > b;
    default: return a >= b;
    }
  }
}

// Widened operands of the halves, so that one comparison serves.
struct F16In {
  using Slot = uint32_t;
  static float get(uint32_t s) { return widenF16(uint16_t(s)); }
};
struct F16High {
  using Slot = uint32_t;
  static float get(uint32_t s) { return widenF16(uint16_t(s >> 16)); }
};
// Subnormal halves are zeros of their sign.
struct F16Ftz {
  using Slot = uint32_t;
  static float get(uint32_t s) { return widenF16(uint16_t(s & 0x7c00 ? s : s & 0x8000)); }
};
struct F16HighFtz {
  using Slot = uint32_t;
  static float get(uint32_t s) { return F16Ftz::get(s >> 16); }
};
struct BF16In {
  using Slot = uint32_t;
  static float get(uint32_t s) { return widenBF16(uint16_t(s)); }
};
struct BF16High {
  using Slot = uint32_t;
  static float get(uint32_t s) { return widenBF16(uint16_t(s >> 16)); }
};
struct F32Ftz {
  using Slot = uint32_t;
  static float get(uint32_t s) { return flush(std::bit_cast<float>(s)); }
};
template <class T> struct Plain {
  using Slot = SlotOf<T>;
  static T get(Slot s) { return fromSlot<T>(s); }
};
} // namespace

template <class In, Cmp C> static uint32_t compareMask(Warp &w, Reg ra, Reg rb) {
  using Slot = typename In::Slot;
  const Slot *a = w.lanes<Slot>(ra), *b = w.lanes<Slot>(rb);
  using T = decltype(In::get(Slot()));
  return laneMask([&](unsigned l) { return compare<T, C>(In::get(a[l]), In::get(b[l])); });
}

using MaskFn = uint32_t (*)(Warp &, Reg, Reg);

static uint32_t combine(Warp &w, const Inst &i, uint32_t result) {
  if (!(i.flags & kCmpCombine))
    return result;
  uint32_t c = w.pred(i.c);
  if (i.flags & kCmpNotC)
    c = ~c;
  switch (i.flags & kCmpCombine) {
  case kCmpAnd: return result & c;
  case kCmpOr: return result | c;
  default: return result ^ c;
  }
}

template <class In, Cmp C> static Step execSetp(Warp &w, const Inst &i) {
  uint32_t result = compareMask<In, C>(w, i.a, i.b);
  uint32_t p = combine(w, i, result);
  if (i.flags & kCmpTwo) {
    uint32_t q = combine(w, i, ~result);
    setPred(w, i.d, q);
  }
  setPred(w, i.dst, p);
  return Step::Next;
}

// Halves in pairs: one predicate each.
template <class Low, class High, Cmp C> static Step execSetpPair(Warp &w, const Inst &i) {
  uint32_t p = combine(w, i, compareMask<Low, C>(w, i.a, i.b));
  uint32_t q = combine(w, i, compareMask<High, C>(w, i.a, i.b));
  setPred(w, i.dst, p);
  setPred(w, i.d, q);
  return Step::Next;
}

template <class In, Cmp C> static Step execSet(Warp &w, const Inst &i) {
  uint32_t p = combine(w, i, compareMask<In, C>(w, i.a, i.b));
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t yes = uint32_t(i.imm);
  forLanes(w.exec, [&](unsigned l) { d[l] = p >> l & 1 ? yes : 0; });
  return Step::Next;
}

template <class Low, class High, Cmp C> static Step execSetPair(Warp &w, const Inst &i) {
  uint32_t p = combine(w, i, compareMask<Low, C>(w, i.a, i.b));
  uint32_t q = combine(w, i, compareMask<High, C>(w, i.a, i.b));
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t yes = uint32_t(i.imm);
  forLanes(w.exec, [&](unsigned l) {
    d[l] = (p >> l & 1 ? yes & 0xffff : 0) | (q >> l & 1 ? yes << 16 : 0);
  });
  return Step::Next;
}

namespace {
enum class Form : uint8_t { Setp, Set };
}

template <class In, Form F, Cmp C> static constexpr ExecFn single() {
  if constexpr (F == Form::Setp)
    return execSetp<In, C>;
  else
    return execSet<In, C>;
}

template <class In, Form F> static ExecFn pickInt(Cmp c) {
  switch (c) {
  case Cmp::Eq: return single<In, F, Cmp::Eq>();
  case Cmp::Ne: return single<In, F, Cmp::Ne>();
  case Cmp::Lt: return single<In, F, Cmp::Lt>();
  case Cmp::Le: return single<In, F, Cmp::Le>();
  case Cmp::Gt: return single<In, F, Cmp::Gt>();
  case Cmp::Ge: return single<In, F, Cmp::Ge>();
  default: return nullptr;
  }
}

template <class In, Form F> static ExecFn pickFloat(Cmp c) {
  switch (c) {
  case Cmp::Equ: return single<In, F, Cmp::Equ>();
  case Cmp::Neu: return single<In, F, Cmp::Neu>();
  case Cmp::Ltu: return single<In, F, Cmp::Ltu>();
  case Cmp::Leu: return single<In, F, Cmp::Leu>();
  case Cmp::Gtu: return single<In, F, Cmp::Gtu>();
  case Cmp::Geu: return single<In, F, Cmp::Geu>();
  case Cmp::Num: return single<In, F, Cmp::Num>();
  case Cmp::Nan: return single<In, F, Cmp::Nan>();
  default: return pickInt<In, F>(c);
  }
}

template <class Low, class High, Form F, Cmp... Cs> static ExecFn pickPairOf(Cmp c) {
  ExecFn fn = nullptr;
  ((c == Cs ? void(fn = F == Form::Setp ? execSetpPair<Low, High, Cs> : execSetPair<Low, High, Cs>)
            : void()),
   ...);
  return fn;
}
template <class Low, class High, Form F> static ExecFn pickPair(Cmp c) {
  return pickPairOf<Low, High, F, Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge, Cmp::Equ,
                    Cmp::Neu, Cmp::Ltu, Cmp::Leu, Cmp::Gtu, Cmp::Geu, Cmp::Num, Cmp::Nan>(c);
}

template <Form F> static ExecFn pick(Type t, Cmp c, bool ftz) {
  switch (t) {
  case Type::B16:
  case Type::U16: return pickInt<Plain<uint16_t>, F>(c);
  case Type::S16: return pickInt<Plain<int16_t>, F>(c);
  case Type::B32:
  case Type::U32: return pickInt<Plain<uint32_t>, F>(c);
  case Type::S32: return pickInt<Plain<int32_t>, F>(c);
  case Type::B64:
  case Type::U64: return pickInt<Plain<uint64_t>, F>(c);
  case Type::S64: return pickInt<Plain<int64_t>, F>(c);
  case Type::F32: return ftz ? pickFloat<F32Ftz, F>(c) : pickFloat<Plain<float>, F>(c);
  case Type::F64: return ftz ? nullptr : pickFloat<Plain<double>, F>(c);
  case Type::F16: return ftz ? pickFloat<F16Ftz, F>(c) : pickFloat<F16In, F>(c);
  case Type::BF16: return ftz ? nullptr : pickFloat<BF16In, F>(c);
  case Type::F16x2:
    return ftz ? pickPair<F16Ftz, F16HighFtz, F>(c) : pickPair<F16In, F16High, F>(c);
  case Type::BF16x2: return ftz ? nullptr : pickPair<BF16In, BF16High, F>(c);
  default: return nullptr;
  }
}

static Cmp takeComparison(Decoder &d) {
  // lo, ls, hi and hs are the unsigned spellings of lt, le, gt and ge.
  static const struct {
    const char *name;
    Cmp cmp;
  } names[] = {{"eq", Cmp::Eq},   {"ne", Cmp::Ne},   {"lt", Cmp::Lt},   {"le", Cmp::Le},
               {"gt", Cmp::Gt},   {"ge", Cmp::Ge},   {"lo", Cmp::Lt},   {"ls", Cmp::Le},
               {"hi", Cmp::Gt},   {"hs", Cmp::Ge},   {"equ", Cmp::Equ}, {"neu", Cmp::Neu},
               {"ltu", Cmp::Ltu}, {"leu", Cmp::Leu}, {"gtu", Cmp::Gtu}, {"geu", Cmp::Geu},
               {"num", Cmp::Num}, {"nan", Cmp::Nan}};
  for (auto &row : names)
    if (d.take(row.name))
      return row.cmp;
  llvm_unreachable("Forms.cpp lists no form without a comparison");
}

static void takeCombine(Decoder &d, unsigned at) {
  uint32_t mode = d.take("and") ? kCmpAnd : d.take("or") ? kCmpOr : d.take("xor") ? kCmpXor : 0;
  d.out->flags |= mode;
  if (!mode)
    return;
  bool negated = false;
  if (d.numOps() > at)
    d.out->c = d.pred(d.op(at), &negated);
  if (negated)
    d.out->flags |= kCmpNotC;
}

static void decodeSetp(Decoder &d) {
  const Type t = d.takeType();
  const Cmp cmp = takeComparison(d);
  const bool ftz = d.take("ftz");
  takeCombine(d, 3);
  if (!d.expectOps(d.out->flags & kCmpCombine ? 4 : 3))
    return;
  bool pair = t == Type::F16x2 || t == Type::BF16x2;
  if (d.op(0).kind == syntax::Operand::Pair) {
    if (t == Type::F16 || t == Type::BF16) {
      d.fail("comparisons of one half have one predicate");
      return;
    }
    d.out->dst = d.predDst(d.op(0).parts[0]);
    d.out->d = d.predDst(d.op(0).parts[1]);
    d.out->flags |= kCmpTwo;
  } else if (pair) {
    d.fail("two predicates are needed");
    return;
  } else {
    d.out->dst = d.predDst(d.op(0));
  }
  d.out->a = d.src(1, t);
  d.out->b = d.src(2, t);
  d.out->fn = pick<Form::Setp>(t, cmp, ftz);
}

static void decodeSet(Decoder &d) {
  const Type result = d.takeType(), t = d.takeType();
  const Cmp cmp = takeComparison(d);
  const bool ftz = d.take("ftz");
  takeCombine(d, 3);
  if (!d.expectOps(d.out->flags & kCmpCombine ? 4 : 3))
    return;
  switch (result) {
  case Type::U32:
  case Type::S32: d.out->imm = ~0u; break;
  case Type::F32: d.out->imm = 0x3f800000; break;
  case Type::U16:
  case Type::S16: d.out->imm = 0xffff; break;
  case Type::F16:
  case Type::F16x2: d.out->imm = 0x3c003c00; break;
  case Type::BF16:
  case Type::BF16x2: d.out->imm = 0x3f803f80; break;
  default: llvm_unreachable("Forms.cpp lists no other result");
  }
  if (bitWidth(result) == 16)
    d.out->imm &= 0xffff;
  d.out->dst = d.dst(0, result);
  d.out->a = d.src(1, t);
  d.out->b = d.src(2, t);
  d.out->fn = pick<Form::Set>(t, cmp, ftz);
}

void mpcore::emulator::registerCompareOps(OpTable &table) {
  table["setp"] = decodeSetp;
  table["set"] = decodeSet;
}
