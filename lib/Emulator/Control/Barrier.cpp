// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bar, barrier (block, warp and cluster).

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

namespace {
enum : uint32_t {
  kAligned = 1,
  kHasCount = 2,
  kWaits = 4,
  kReduces = 8,
  kNegated = 16,
  kPopc = 32,
  kAnd = 64,
  kOr = 128
};
}

static bool uniform(Warp &w, Reg r, uint32_t &value) {
  const uint32_t *v = w.lanes<uint32_t>(r);
  value = v[std::countr_zero(w.exec)];
  for (uint32_t rest = w.exec; rest; rest &= rest - 1)
    if (v[std::countr_zero(rest)] != value)
      return false;
  return true;
}

static Step execBarrier(Warp &w, const Inst &i) {
  uint32_t number, count = 0;
  unsigned lane = std::countr_zero(w.exec);
  if (!uniform(w, i.a, number) || ((i.flags & kHasCount) && !uniform(w, i.b, count)))
    return w.fault(FaultKind::Misuse, i, "lanes name different barriers or counts", lane);
  if (number > 15)
    return w.fault(FaultKind::Misuse, i, "barrier " + Twine(number) + " of 16", lane);
  w.met.clear();
  if (uint32_t missing = w.live & ~w.exec; (i.flags & kAligned) && missing) {
    Step step = w.syncLanes(i, missing);
    if (step == Step::Leave)
      return step;
    if (step == Step::Fault)
      return w.fault(FaultKind::Divergence, i,
                     "lanes 0x" + Twine::utohexstr(missing) + " of the warp are not at the barrier",
                     std::countr_zero(missing));
    if (!uniform(w, i.a, number) || ((i.flags & kHasCount) && !uniform(w, i.b, count)))
      return w.fault(FaultKind::Misuse, i, "lanes name different barriers or counts", lane);
  }
  if ((i.flags & kHasCount) && count == 0)
    return w.fault(FaultKind::Misuse, i, "a barrier for 0 threads", lane);
  uint32_t votes = 0;
  if (i.flags & kReduces)
    votes = i.flags & kNegated ? ~w.pred(i.c) : w.pred(i.c);
  return w.block->barrierArrive(w, i, number, count, i.flags & kWaits, votes);
}

void mpcore::emulator::finishReduction(Warp &w, int split, const Inst &i, uint32_t trueCount,
                                       uint32_t voters) {
  if (i.fn != execBarrier || !(i.flags & kReduces))
    return;
  const Split &s = w.splits[split];
  uint32_t *regs = s.frame->regs.data() + i.dst.offset();
  if (i.flags & kPopc) {
    forLanes(s.mask, [&](unsigned l) { regs[l] = trueCount; });
    return;
  }
  bool result = i.flags & kAnd ? trueCount == voters : trueCount != 0;
  *regs = (*regs & ~s.mask) | (result ? s.mask : 0);
}

static Step execWarpBarrier(Warp &w, const Inst &i) {
  const uint32_t *m = w.lanes<uint32_t>(i.a);
  uint32_t mask = m[std::countr_zero(w.exec)];
  if (w.exec & ~mask)
    return w.fault(FaultKind::Misuse, i, "the member mask lacks the executing lane",
                   std::countr_zero(w.exec & ~mask));
  auto tick = [&] {
    if (w.block->shared.races.enabled())
      w.block->shared.races.tick(w.index);
    ++w.block->progress;
  };
  uint32_t here = w.exec;
  for (const Split &s : w.splits)
    if (s.alive && s.blocked && s.waitMask == mask)
      here |= s.mask;
  if (!(mask & w.live & ~here)) {
    for (unsigned s = 0; s < w.splits.size(); ++s)
      if (w.splits[s].alive && w.splits[s].blocked && w.splits[s].waitMask == mask)
        w.unblock(s);
    tick();
    return Step::Next;
  }
  if (w.exec != w.active)
    return w.fault(FaultKind::Divergence, i,
                   "a guarded bar.warp.sync whose predicate differs between the lanes",
                   std::countr_zero(w.active & ~w.exec));
  w.save();
  w.splits[w.current].blocked = true;
  w.splits[w.current].waitMask = mask;
  w.enter(w.pick());
  return Step::Leave;
}

static void decodeBarrier(Decoder &d) {
  bool isBar = d.opcode().starts_with("bar.");
  if (d.take("warp")) {
    if (!isBar || !d.take("sync") || !d.expectOps(1)) {
      d.unsupported();
      return;
    }
    d.out->a = d.src(0, Type::B32);
    d.out->fn = execWarpBarrier;
    return;
  }
  if (!isBar && d.take("cluster"))
    return decodeClusterBarrier(d);
  bool aligned = isBar || d.take("aligned"); // .aligned is no modifier of bar
  d.take("cta");
  bool sync = d.take("sync"), arrive = d.take("arrive"), red = d.take("red");
  if (sync + arrive + red != 1) {
    d.unsupported();
    return;
  }
  uint32_t flags = (aligned ? kAligned : 0) | (arrive ? 0 : kWaits);
  unsigned at = 0;
  if (red) {
    bool popc = d.take("popc"), all = d.take("and"), any = d.take("or");
    Type t = d.takeType();
    if (popc + all + any != 1 || t != (popc ? Type::U32 : Type::Pred) || !d.expectOps(3, 4)) {
      d.unsupported();
      return;
    }
    flags |= kReduces | (popc ? kPopc : all ? kAnd : kOr);
    d.out->dst = popc ? d.dst(0, Type::U32) : d.predDst(d.op(0));
    bool negated;
    d.out->c = d.pred(d.op(d.numOps() - 1), &negated);
    flags |= negated ? kNegated : 0;
    at = 1;
  } else if (!d.expectOps(1, 2)) {
    return;
  }
  unsigned last = d.numOps() - (red ? 1 : 0);
  d.out->a = d.src(at, Type::U32);
  if (at + 1 < last) {
    d.out->b = d.src(at + 1, Type::U32);
    flags |= kHasCount;
  }
  if (arrive && !(flags & kHasCount)) {
    d.fail("expected a barrier and the number of threads that meet there, found the barrier alone");
    return;
  }
  d.out->flags = flags;
  d.out->fn = execBarrier;
}

void mpcore::emulator::registerBarrierOps(OpTable &table) {
  table["bar"] = decodeBarrier;
  table["barrier"] = decodeBarrier;
}
