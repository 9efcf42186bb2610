// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// shfl, vote, match, activemask, redux and elect: exchanges inside a warp. A lane that the member
// mask names must be at the instruction with the others; one that has exited does not count.

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

/// Waits until every group of lanes that names one member mask, as the halves of a warp may do, has
/// arrived as a whole.
static Step syncGroups(Warp &w, const Inst &i, const uint32_t *m) {
  w.met.clear();
  for (uint32_t rest = w.exec; rest;) {
    unsigned first = std::countr_zero(rest);
    const uint32_t value = m[first], group = value & w.live;
    uint32_t missing = group & ~w.exec;
    if (!(value >> first & 1))
      return w.fault(FaultKind::Misuse, i,
                     "the member mask 0x" + Twine::utohexstr(value) + " lacks the executing lane",
                     first);
    if (missing) {
      Step step = w.syncLanes(i, missing);
      if (step == Step::Fault)
        return w.fault(FaultKind::Divergence, i,
                       "lanes 0x" + Twine::utohexstr(missing) +
                           " are named by the member mask but are elsewhere",
                       std::countr_zero(missing));
      if (step == Step::Leave)
        return step;
      rest = w.exec;
      continue;
    }
    for (uint32_t g = group; g; g &= g - 1)
      if (m[std::countr_zero(g)] != value)
        return w.fault(FaultKind::Misuse, i, "lanes of one group name different member masks",
                       std::countr_zero(g));
    rest &= ~group;
  }
  return Step::Next;
}

/// body(lanes) for every group.
template <class F> static Step forGroups(Warp &w, const Inst &i, Reg mask, F &&body) {
  const uint32_t *m = w.lanes<uint32_t>(mask);
  Step step = syncGroups(w, i, m);
  if (step != Step::Next)
    return step;
  for (uint32_t rest = w.exec; rest;) {
    const uint32_t group = m[std::countr_zero(rest)] & w.live;
    body(group);
    rest &= ~group;
  }
  return Step::Next;
}

static void setPredIn(Warp &w, Reg r, uint32_t lanes, uint32_t value) {
  uint32_t &p = w.pred(r);
  p = (p & ~lanes) | (value & lanes);
}

namespace {
enum Mode : uint32_t { Up, Down, Bfly, Idx, kHasPred = 8 };
}

static Step execShfl(Warp &w, const Inst &i) {
  const uint32_t *members = w.lanes<uint32_t>(*i.list);
  if (Step step = syncGroups(w, i, members); step != Step::Next)
    return step;
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint32_t *a = w.lanes<uint32_t>(i.a), *b = w.lanes<uint32_t>(i.b),
                 *c = w.lanes<uint32_t>(i.c);
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
    if (!((w.exec & members[l]) >> j & 1))
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
  d.out->flags = d.take("up") ? Up : d.take("down") ? Down : d.take("bfly") ? Bfly : Idx;
  d.dropMods();
  if (!d.expectOps(5))
    return;
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
enum Vote : uint32_t { All, Any, Uni, Ballot, kVoteNegated = 8 };
}

static Step execVote(Warp &w, const Inst &i) {
  uint32_t all = w.pred(i.a);
  if (i.flags & kVoteNegated)
    all = ~all;
  return forGroups(w, i, i.b, [&](uint32_t group) {
    const uint32_t votes = all & group;
    switch (i.flags & 3) {
    case All: setPredIn(w, i.dst, group, votes == group ? ~0u : 0); break;
    case Any: setPredIn(w, i.dst, group, votes ? ~0u : 0); break;
    case Uni: setPredIn(w, i.dst, group, votes == group || !votes ? ~0u : 0); break;
    case Ballot: {
      uint32_t *d = w.lanes<uint32_t>(i.dst);
      forLanes(group, [&](unsigned l) { d[l] = votes; });
      break;
    }
    }
  });
}

static void decodeVote(Decoder &d) {
  const uint32_t mode = d.take("all") ? All : d.take("any") ? Any : d.take("uni") ? Uni : Ballot;
  d.dropMods();
  if (!d.expectOps(3))
    return;
  bool negated;
  d.out->dst = mode == Ballot ? d.dst(0, Type::B32) : d.predDst(d.op(0));
  d.out->a = d.pred(d.op(1), &negated);
  d.out->b = d.src(2, Type::B32);
  d.out->flags = mode | (negated ? kVoteNegated : 0);
  d.out->fn = execVote;
}

template <class T, bool All> static Step execMatch(Warp &w, const Inst &i) {
  const T *a = w.lanes<T>(i.a);
  uint32_t *d = w.lanes<uint32_t>(i.dst), result[kLanes], agree = 0;
  Step step = forGroups(w, i, i.b, [&](uint32_t group) {
    for (uint32_t rest = group; rest; rest &= rest - 1) {
      unsigned l = std::countr_zero(rest);
      uint32_t same = laneMask([&](unsigned k) { return a[k] == a[l]; }) & group;
      bool all = same == group;
      result[l] = All ? (all ? group : 0) : same;
      agree |= uint32_t(all) << l;
    }
  });
  if (step != Step::Next)
    return step;
  forLanes(w.exec, [&](unsigned l) { d[l] = result[l]; });
  if (All && (i.flags & 1))
    setPred(w, i.d, agree);
  return Step::Next;
}

static void decodeMatch(Decoder &d) {
  const bool all = d.take("all");
  const Type t = d.takeType();
  d.dropMods();
  if (!d.expectOps(3))
    return;
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
  if (d.operands(d.takeType(), {}))
    d.out->fn = execActivemask;
}

template <class T, auto F> static Step execRedux(Warp &w, const Inst &i) {
  const uint32_t *a = w.lanes<uint32_t>(i.a);
  uint32_t *d = w.lanes<uint32_t>(i.dst), result[kLanes];
  Step step = forGroups(w, i, i.b, [&](uint32_t group) {
    T r = T(a[std::countr_zero(group)]);
    for (uint32_t rest = group & (group - 1); rest; rest &= rest - 1)
      r = F(r, T(a[std::countr_zero(rest)]));
    forLanes(group, [&](unsigned l) { result[l] = uint32_t(r); });
  });
  if (step != Step::Next)
    return step;
  forLanes(w.exec, [&](unsigned l) { d[l] = result[l]; });
  return Step::Next;
}

static constexpr auto smaller = [](auto a, auto b) { return a < b ? a : b; };
static constexpr auto greater = [](auto a, auto b) { return a > b ? a : b; };

static void decodeRedux(Decoder &d) {
  using U = uint32_t;
  using S = int32_t;
  llvm::StringRef op;
  for (const char *name : {"add", "min", "max", "and", "or", "xor"})
    if (op.empty() && d.take(name))
      op = name;
  const Type t = d.takeType();
  d.dropMods();
  if (!d.operands(t, {t, Type::B32}))
    return;
  const bool isU = t == Type::U32;
  if (op == "add")
    d.out->fn = execRedux<U, [](U a, U b) { return a + b; }>;
  else if (op == "min")
    d.out->fn = isU ? execRedux<U, smaller> : execRedux<S, smaller>;
  else if (op == "max")
    d.out->fn = isU ? execRedux<U, greater> : execRedux<S, greater>;
  else if (op == "and")
    d.out->fn = execRedux<U, [](U a, U b) { return a & b; }>;
  else if (op == "or")
    d.out->fn = execRedux<U, [](U a, U b) { return a | b; }>;
  else
    d.out->fn = execRedux<U, [](U a, U b) { return a ^ b; }>;
}

static Step execElect(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  return forGroups(w, i, i.a, [&](uint32_t group) {
    unsigned leader = std::countr_zero(group);
    forLanes(group, [&](unsigned l) { d[l] = leader; });
    setPredIn(w, i.d, group, 1u << leader);
  });
}

static void decodeElect(Decoder &d) {
  d.dropMods();
  if (!d.expectOps(2))
    return;
  if (d.op(0).kind != syntax::Operand::Pair) {
    d.fail("expected d|p, a lane and a predicate");
    return;
  }
  d.out->dst = d.dst(d.op(0).parts[0], Type::B32);
  d.out->d = d.predDst(d.op(0).parts[1]);
  d.out->a = d.src(1, Type::B32);
  d.out->fn = execElect;
}

void mpcore::emulator::registerWarpOps(OpTable &table) {
  table["shfl"] = decodeShfl;
  table["vote"] = decodeVote;
  table["match"] = decodeMatch;
  table["activemask"] = decodeActivemask;
  table["redux"] = decodeRedux;
  table["elect"] = decodeElect;
}
