// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// shfl, vote, match, activemask, redux and elect: exchanges inside a warp. A lane that the member mask names must be at
// the instruction with the others; one that has exited does not count.

#include "Decoder.h"
#include "Lanes.h"
#include "llvm/ADT/Twine.h"

using namespace mp::emulator;
using llvm::Twine;

// The members, which must be the same number in every lane; 0 after a fault.
static uint32_t members(Warp &w, const Inst &i, Reg mask) {
  const uint32_t *m = w.lanes<uint32_t>(mask);
  unsigned first = std::countr_zero(w.exec);
  uint32_t value = m[first];
  for (uint32_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = std::countr_zero(rest);
    if (m[l] == value && (m[l] >> l & 1))
      continue;
    if (m[l] >> l & 1)
      w.fault(FaultKind::Misuse, i, "lanes name different member masks", l);
    else
      w.fault(FaultKind::Misuse, i, "the member mask 0x" + Twine::utohexstr(m[l]) + " lacks the executing lane", l);
    return 0;
  }
  uint32_t missing = value & w.live & ~w.exec;
  if (missing) {
    w.fault(FaultKind::Divergence, i,
            "lanes 0x" + Twine::utohexstr(missing) + " are named by the member mask but are elsewhere",
            std::countr_zero(missing));
    return 0;
  }
  return value;
}

namespace {
enum Mode : uint32_t { Up, Down, Bfly, Idx, kHasPred = 8 };
}

static Step execShfl(Warp &w, const Inst &i) {
  uint32_t mask = members(w, i, *i.list);
  if (!mask)
    return Step::Fault;
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b), *c = w.lanes<uint32_t>(i.c);
  uint32_t result[kLanes], inRange = 0;
  for (uint32_t rest = w.exec; rest; rest &= rest - 1) {
    int l = std::countr_zero(rest);
    int bval = b[l] & 31, cval = c[l] & 31, segment = c[l] >> 8 & 31;
    int maxLane = (l & segment) | (cval & ~segment), minLane = l & segment, j = 0;
    bool p = false;
    switch (i.flags & 3) {
    case Up:
      j = l - bval;
      p = j >= maxLane;
      break;
    case Down:
      j = l + bval;
      p = j <= maxLane;
      break;
    case Bfly:
      j = l ^ bval;
      p = j <= maxLane;
      break;
    case Idx:
      j = minLane | (bval & ~segment);
      p = j <= maxLane;
      break;
    }
    if (!p)
      j = l;
    if (!(w.exec >> j & 1))
      return w.fault(FaultKind::Misuse, i,
                     "reads lane " + Twine(j) + ", which takes no part in the shuffle", l);
    result[l] = a[j];
    inRange |= uint32_t(p) << l;
  }
  forLanes(w.exec, [&](unsigned l) { d[l] = result[l]; });
  if (i.flags & kHasPred)
    setPred(w, i.d, inRange);
  return Step::Next;
}

static void decodeShfl(Decoder &d) {
  bool sync = d.take("sync");
  uint32_t mode = d.take("up") ? Up : d.take("down") ? Down : d.take("bfly") ? Bfly : d.take("idx") ? Idx : 9;
  if (!sync || mode == 9 || d.takeType() != Type::B32 || !d.expectOps(5)) {
    d.unsupported();
    return;
  }
  d.out->flags = mode;
  if (d.op(0).kind == syntax::Operand::Pair) {
    d.out->dst = d.dst(d.op(0).parts[0], Type::B32);
    d.out->d = d.predDst(d.op(0).parts[1]);
    d.out->flags |= kHasPred;
  } else {
    d.out->dst = d.dst(0, Type::B32);
  }
  d.out->a = d.src(1, Type::B32);
  d.out->b = d.src(2, Type::B32);
  d.out->c = d.src(3, Type::B32);
  d.out->list = d.keepList({d.src(4, Type::B32)});
  d.out->fn = execShfl;
}

namespace {
enum Vote : uint32_t { All, Any, Uni, Ballot, kNegated = 8 };
}

static Step execVote(Warp &w, const Inst &i) {
  uint32_t mask = members(w, i, i.b);
  if (!mask)
    return Step::Fault;
  uint32_t votes = w.pred(i.a);
  if (i.flags & kNegated)
    votes = ~votes;
  votes &= w.exec;
  switch (i.flags & 3) {
  case All:
    setPred(w, i.dst, votes == w.exec ? ~0u : 0);
    break;
  case Any:
    setPred(w, i.dst, votes ? ~0u : 0);
    break;
  case Uni:
    setPred(w, i.dst, votes == w.exec || !votes ? ~0u : 0);
    break;
  case Ballot: {
    uint32_t *d = w.lanes<uint32_t>(i.dst);
    forLanes(w.exec, [&](unsigned l) { d[l] = votes; });
    break;
  }
  }
  return Step::Next;
}

static void decodeVote(Decoder &d) {
  bool sync = d.take("sync");
  uint32_t mode = d.take("all") ? All : d.take("any") ? Any : d.take("uni") ? Uni : d.take("ballot") ? Ballot : 9;
  Type t = d.takeType();
  if (!sync || mode == 9 || t != (mode == Ballot ? Type::B32 : Type::Pred) || !d.expectOps(3)) {
    d.unsupported();
    return;
  }
  bool negated;
  d.out->dst = mode == Ballot ? d.dst(0, Type::B32) : d.predDst(d.op(0));
  d.out->a = d.pred(d.op(1), &negated);
  d.out->b = d.src(2, Type::B32);
  d.out->flags = mode | (negated ? kNegated : 0);
  d.out->fn = execVote;
}

template <class T, bool All> static Step execMatch(Warp &w, const Inst &i) {
  uint32_t mask = members(w, i, i.b);
  if (!mask)
    return Step::Fault;
  const T *a = w.lanes<T>(i.a);
  uint32_t *d = w.lanes<uint32_t>(i.dst), result[kLanes], agree = 0;
  for (uint32_t rest = w.exec; rest; rest &= rest - 1) {
    unsigned l = std::countr_zero(rest);
    uint32_t same = laneMask([&](unsigned k) { return a[k] == a[l]; }) & w.exec;
    bool all = same == w.exec;
    result[l] = All ? (all ? w.exec : 0) : same;
    agree |= uint32_t(all) << l;
  }
  forLanes(w.exec, [&](unsigned l) { d[l] = result[l]; });
  if (All && (i.flags & 1))
    setPred(w, i.d, agree);
  return Step::Next;
}

static void decodeMatch(Decoder &d) {
  bool all = d.take("all"), any = d.take("any"), sync = d.take("sync");
  Type t = d.takeType();
  if (all == any || !sync || (t != Type::B32 && t != Type::B64) || !d.expectOps(3)) {
    d.unsupported();
    return;
  }
  if (d.op(0).kind == syntax::Operand::Pair && all) {
    d.out->dst = d.dst(d.op(0).parts[0], Type::B32);
    d.out->d = d.predDst(d.op(0).parts[1]);
    d.out->flags = 1;
  } else {
    d.out->dst = d.dst(0, Type::B32);
  }
  d.out->a = d.src(1, t);
  d.out->b = d.src(2, Type::B32);
  if (t == Type::B32)
    d.out->fn = all ? execMatch<uint32_t, true> : execMatch<uint32_t, false>;
  else
    d.out->fn = all ? execMatch<uint64_t, true> : execMatch<uint64_t, false>;
}

static Step execActivemask(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  forLanes(w.exec, [&](unsigned l) { d[l] = w.exec; });
  return Step::Next;
}

static void decodeActivemask(Decoder &d) {
  if (d.takeType() != Type::B32 || !d.expectOps(1))
    return;
  d.out->dst = d.dst(0, Type::B32);
  d.out->fn = execActivemask;
}

template <class T, auto F> static Step execRedux(Warp &w, const Inst &i) {
  uint32_t mask = members(w, i, i.b);
  if (!mask)
    return Step::Fault;
  const uint32_t *a = w.lanes<uint32_t>(i.a);
  T r = T(a[std::countr_zero(w.exec)]);
  for (uint32_t rest = w.exec & (w.exec - 1); rest; rest &= rest - 1)
    r = F(r, T(a[std::countr_zero(rest)]));
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  forLanes(w.exec, [&](unsigned l) { d[l] = uint32_t(r); });
  return Step::Next;
}

static void decodeRedux(Decoder &d) {
  using U = uint32_t;
  using S = int32_t;
  bool sync = d.take("sync");
  llvm::StringRef op;
  for (const char *name : {"add", "min", "max", "and", "or", "xor"})
    if (op.empty() && d.take(name))
      op = name;
  Type t = d.takeType();
  if (!sync || op.empty() || !d.expectOps(3)) {
    d.unsupported();
    return;
  }
  d.out->dst = d.dst(0, t);
  d.out->a = d.src(1, t);
  d.out->b = d.src(2, Type::B32);
  bool isU = t == Type::U32, isS = t == Type::S32, isB = t == Type::B32;
  if (op == "add" && (isU || isS))
    d.out->fn = execRedux<U, [](U a, U b) { return a + b; }>;
  else if (op == "min" && (isU || isS))
    d.out->fn = isU ? execRedux<U, [](U a, U b) { return a < b ? a : b; }>
                    : execRedux<S, [](S a, S b) { return a < b ? a : b; }>;
  else if (op == "max" && (isU || isS))
    d.out->fn = isU ? execRedux<U, [](U a, U b) { return a > b ? a : b; }>
                    : execRedux<S, [](S a, S b) { return a > b ? a : b; }>;
  else if (isB && op == "and")
    d.out->fn = execRedux<U, [](U a, U b) { return a & b; }>;
  else if (isB && op == "or")
    d.out->fn = execRedux<U, [](U a, U b) { return a | b; }>;
  else if (isB && op == "xor")
    d.out->fn = execRedux<U, [](U a, U b) { return a ^ b; }>;
}

static Step execElect(Warp &w, const Inst &i) {
  uint32_t mask = members(w, i, i.a);
  if (!mask)
    return Step::Fault;
  unsigned leader = std::countr_zero(w.exec);
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  forLanes(w.exec, [&](unsigned l) { d[l] = leader; });
  setPred(w, i.d, 1u << leader);
  return Step::Next;
}

static void decodeElect(Decoder &d) {
  if (!d.take("sync") || !d.expectOps(2) || d.op(0).kind != syntax::Operand::Pair) {
    d.unsupported();
    return;
  }
  d.out->dst = d.dst(d.op(0).parts[0], Type::B32);
  d.out->d = d.predDst(d.op(0).parts[1]);
  d.out->a = d.src(1, Type::B32);
  d.out->fn = execElect;
}

void mp::emulator::registerWarpOps(OpTable &table) {
  table["shfl"] = decodeShfl;
  table["vote"] = decodeVote;
  table["match"] = decodeMatch;
  table["activemask"] = decodeActivemask;
  table["redux"] = decodeRedux;
  table["elect"] = decodeElect;
}
