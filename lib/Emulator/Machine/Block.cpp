// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks: the turn-taking of warps, barriers, deadlocks.

#include "../State/Lanes.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

static constexpr unsigned kTurn = 20000; // instructions a warp runs before others may

void Block::fillSpecials(Warp &w) {
  w.special.resize(kSpecialWords);
  auto set = [&](Special s, auto &&value) {
    for (unsigned l = 0; l < kLanes; ++l)
      w.special[unsigned(s) * kLanes + l] = value(l);
  };
  auto all = [&](Special s, uint32_t v) { set(s, [&](unsigned) { return v; }); };
  const Dim3 b = launch->block, g = launch->grid, c = launch->cluster;
  auto linear = [&](unsigned l) { return w.index * kLanes + l; };
  set(Special::TidX, [&](unsigned l) { return linear(l) % b.x; });
  set(Special::TidY, [&](unsigned l) { return linear(l) / b.x % b.y; });
  set(Special::TidZ, [&](unsigned l) { return linear(l) / (b.x * b.y); });
  all(Special::NtidX, b.x), all(Special::NtidY, b.y), all(Special::NtidZ, b.z);
  all(Special::CtaX, id[0]), all(Special::CtaY, id[1]), all(Special::CtaZ, id[2]);
  all(Special::NctaX, g.x), all(Special::NctaY, g.y), all(Special::NctaZ, g.z);
  set(Special::LaneId, [](unsigned l) { return l; });
  all(Special::WarpId, w.index), all(Special::NwarpId, warps.size());
  // One virtual multiprocessor per block keeps kernels that use %smid deterministic.
  all(Special::SmId, 0), all(Special::NsmId, 1);
  all(Special::GridId, 0), all(Special::GridIdHigh, 0), all(Special::Zero, 0);
  set(Special::MaskEq, [](unsigned l) { return 1u << l; });
  set(Special::MaskLt, [](unsigned l) { return (1u << l) - 1; });
  set(Special::MaskLe, [](unsigned l) { return (2u << l) - 1; });
  set(Special::MaskGe, [](unsigned l) { return ~((1u << l) - 1); });
  set(Special::MaskGt, [](unsigned l) { return ~((2u << l) - 1); });
  all(Special::DynamicShared, launch->dynamicBytes);
  all(Special::TotalShared, launch->sharedBytes),
      all(Special::AggregateShared, launch->sharedBytes);
  all(Special::ClusterX, id[0] / c.x), all(Special::ClusterY, id[1] / c.y);
  all(Special::ClusterZ, id[2] / c.z);
  all(Special::NclusterX, g.x / c.x), all(Special::NclusterY, g.y / c.y);
  all(Special::NclusterZ, g.z / c.z);
  all(Special::ClusterCtaX, id[0] % c.x), all(Special::ClusterCtaY, id[1] % c.y);
  all(Special::ClusterCtaZ, id[2] % c.z);
  all(Special::ClusterNctaX, c.x), all(Special::ClusterNctaY, c.y);
  all(Special::ClusterNctaZ, c.z);
  all(Special::ClusterRank, rank), all(Special::ClusterSize, c.x * c.y * c.z);
  all(Special::IsCluster, c.x * c.y * c.z > 1);
}

void Block::start(Launch &l, Counters &k, const uint32_t where[3]) {
  launch = &l;
  counters = &k;
  std::copy(where, where + 3, id);
  const unsigned threads = l.block.x * l.block.y * l.block.z;
  const unsigned count = (threads + kLanes - 1) / kLanes;
  shared.reset(l.sharedBytes, l.options.checkRaces ? 2 * count + (count + 3) / 4 : 0,
               l.program->sharedGranule);
  if (l.options.watch.bytes) {
    trace.writers.assign(l.sharedBytes, {});
    trace.reads.assign(count * kLanes, {});
  }
  for (Barrier &b : barriers)
    b = Barrier();
  mbarriers.clear();
  bulk.clear();
  meetings.clear();
  instructions = progress = 0;
  clusterBarrier = ClusterBarrier();
  clusterClock.clear();
  liveThreads = threads;
  liveWarps = count;
  warps.resize(count);
  clusterGoal.assign(count, {});
  meetings.resize((count + 3) / 4);
  for (unsigned n = 0; n < count; ++n) {
    if (!warps[n])
      warps[n] = std::make_unique<Warp>();
    Warp &w = *warps[n];
    w.block = this;
    w.launch = &l;
    w.index = n;
    w.lastAllocation = nullptr;
    fillSpecials(w);
    w.base[unsigned(Base::Pool)] = const_cast<uint32_t *>(l.program->pool.data());
    w.base[unsigned(Base::Special)] = w.special.data();
    w.localStride = llvm::alignTo(l.program->maxLocalBytes, 16);
    w.local.resize(size_t(kLanes) * w.localStride);
    unsigned lanes = std::min(kLanes, threads - n * kLanes);
    w.start(lanes == kLanes ? ~0u : (1u << lanes) - 1, *l.kernel);
  }
  ++counters->stats.sampledBlocks;
}

bool Block::round(bool &anyWork) {
  const unsigned count = warps.size();
  for (unsigned n = 0; n < count; ++n) {
    Warp &w = *warps[launch->options.reverse ? count - 1 - n : n];
    if (!w.done && !runWarp(w, anyWork))
      return false;
  }
  return true;
}

bool Block::runWarp(Warp &w, bool &anyWork) {
  if (w.current < 0)
    w.enter(w.pick());
  if (w.current < 0)
    return true;
  const Inst *code = launch->program->code.data();
  uint64_t *warpCounts = counters->warps.data(), *laneCounts = counters->lanes.data();
  for (unsigned turn = 0; turn < kTurn; ++turn) {
    const Inst &inst = code[w.pc];
    if (inst.join) {
      const Split &split = w.splits[w.current];
      if (split.rpc == w.pc && split.rpcFrame == w.frame) {
        w.reconverge();
        if (w.current < 0)
          return true;
        continue;
      }
    }
    uint32_t mask = w.active;
    if (inst.guarded) {
      uint32_t p = w.pred(inst.guard);
      mask &= inst.guardNegated ? ~p : p;
    }
    ++warpCounts[w.pc];
    laneCounts[w.pc] += mask == ~0u ? 32 : std::popcount(mask);
    w.exec = mask;
    ++w.pc;
    if (!mask)
      continue;
    if (inst.pending && !checkPending(w, inst))
      return false;
    Step step = inst.fn(w, inst);
    if (step == Step::Next)
      continue;
    if (step == Step::Fault)
      return false;
    if (step == Step::Leave) {
      if (!w.done && w.current >= 0)
        continue;
      instructions += turn;
      return !launch->stop;
    }
    instructions += turn;
    // Polled in vain: another split of this warp may be what it waits for.
    w.save();
    int self = w.current, next = self;
    for (unsigned k = 1; k <= w.splits.size(); ++k) {
      int s = (self + k) % w.splits.size();
      if (w.splits[s].runs()) {
        next = s;
        break;
      }
    }
    w.enter(next);
    return true;
  }
  anyWork = true;
  instructions += kTurn;
  if (launch->options.maxInstructions && instructions > launch->options.maxInstructions) {
    w.fault(FaultKind::Limit, code[w.pc],
            "the block executed more than " + Twine(launch->options.maxInstructions) +
                " warp instructions",
            std::countr_zero(w.active));
    return false;
  }
  if (launch->stop)
    return false;
  w.save();
  return true;
}

void Block::threadsExited(unsigned count) {
  liveThreads -= count;
  ++progress;
  for (unsigned b = 0; b < 16; ++b)
    barrierCheck(b);
  clusterCheck();
}

void Block::clusterArrive(uint32_t lanes, unsigned warp, bool releases) {
  const uint32_t generation = (*cluster)[0]->clusterBarrier.generation;
  for (uint32_t m = lanes; m; m &= m - 1)
    clusterGoal[warp][std::countr_zero(m)] = generation + 1;
  if (releases && shared.races.enabled())
    shared.races.release(warp, clusterClock);
  ++progress;
  clusterCheck();
}

// A generation ends when every thread that has not exited arrived in it.
void Block::clusterCheck() {
  ClusterBarrier &b = (*cluster)[0]->clusterBarrier;
  bool any = false;
  for (const Block *block : *cluster)
    for (unsigned n = 0; n < block->warps.size(); ++n)
      for (uint32_t m = block->warps[n]->live; m; m &= m - 1) {
        if (block->clusterGoal[n][std::countr_zero(m)] != b.generation + 1)
          return;
        any = true;
      }
  if (!any)
    return;
  ++b.generation;
  ++progress;
}

bool Block::clusterPassed(uint32_t lanes, unsigned warp) {
  const uint32_t generation = (*cluster)[0]->clusterBarrier.generation;
  for (uint32_t m = lanes; m; m &= m - 1)
    if (generation < clusterGoal[warp][std::countr_zero(m)])
      return false;
  for (uint32_t m = lanes; m; m &= m - 1)
    clusterGoal[warp][std::countr_zero(m)] = 0;
  if (shared.races.enabled())
    shared.races.acquire(warp, clusterClock);
  return true;
}

Step Block::barrierArrive(Warp &w, const Inst &inst, unsigned number, uint32_t count, bool wait,
                          uint32_t votes) {
  Barrier &b = barriers[number];
  if (count && (count % kLanes || count > 1024))
    return w.fault(FaultKind::Misuse, inst,
                   "a thread count of " + Twine(count) + " is no multiple of 32 up to 1024",
                   std::countr_zero(w.exec));
  if (b.arrivedLanes && b.expected != count)
    return w.fault(FaultKind::Misuse, inst,
                   "barrier " + Twine(number) + " is in use for " + Twine(b.expected) +
                       " threads, this asks for " + Twine(count) + " (0: all)",
                   std::countr_zero(w.exec));
  b.expected = count;
  b.arrivedLanes += std::popcount(w.exec);
  b.arrivedThreads += kLanes;
  b.trueCount += std::popcount(votes & w.exec);
  b.voters += std::popcount(w.exec);
  if (shared.races.enabled())
    shared.races.release(w.index, b.clock);
  if (count && b.arrivedThreads > count)
    return w.fault(FaultKind::Misuse, inst,
                   Twine(b.arrivedThreads) + " threads arrived at barrier " + Twine(number) +
                       " for " + Twine(count),
                   std::countr_zero(w.exec));
  if (wait) {
    w.save();
    w.met.push_back(w.current);
    for (int s : w.met) {
      w.splits[s].blocked = true;
      w.splits[s].barrier = number;
      b.waiting.push_back({w.index, s, &inst});
    }
  }
  barrierCheck(number);
  if (!wait)
    return Step::Next;
  w.enter(w.pick());
  return Step::Leave;
}

void Block::barrierCheck(unsigned number) {
  Barrier &b = barriers[number];
  if (!b.arrivedLanes)
    return;
  if (b.expected ? b.arrivedThreads < b.expected : b.arrivedLanes < liveThreads)
    return;
  ++progress;
  ++counters->stats.barriers;
  for (const Barrier::Waiter &waiter : b.waiting) {
    Warp &w = *warps[waiter.warp];
    finishReduction(w, waiter.split, *waiter.inst, b.trueCount, b.voters);
    w.unblock(waiter.split);
    if (shared.races.enabled())
      shared.races.acquire(waiter.warp, b.clock);
  }
  b = Barrier();
}

void Block::reportDeadlock() {
  std::string text = "no thread of the block can go on:";
  Warp *first = nullptr;
  const Inst *where = nullptr;
  uint32_t lane = 0;
  unsigned listed = 0;
  const Program &program = *launch->program;
  for (auto &w : warps) {
    if (w->done)
      continue;
    w->save();
    for (Split &s : w->splits) {
      if (!s.alive || s.children || !s.mask)
        continue;
      uint32_t pc = s.pc ? s.pc - (s.blocked ? 1 : 0) : 0;
      if (!first) {
        first = w.get();
        where = &program.code[pc];
        lane = std::countr_zero(s.mask);
      }
      if (++listed > 8)
        continue;
      text += (Twine("\n    warp ") + Twine(w->index) + " lanes 0x" +
               llvm::Twine::utohexstr(s.mask) + " at line " + Twine(program.where[pc].line) + ": ")
                  .str();
      text += program.where[pc].text.str();
      if (s.barrier >= 0) {
        const Barrier &b = barriers[s.barrier];
        uint32_t have = b.expected ? b.arrivedThreads : b.arrivedLanes;
        text += (Twine(" (barrier ") + Twine(s.barrier) + ": " + Twine(have) + " of " +
                 Twine(b.expected ? b.expected : liveThreads) + " threads)")
                    .str();
      } else if (s.waitMask) {
        text += (Twine(" (waits for lanes 0x") + llvm::Twine::utohexstr(s.waitMask) + ")").str();
      } else if (s.syncPoint) {
        text += " (waits for the other lanes it needs)";
      } else if (s.meeting) {
        text += " (waits for the other warps of its warpgroup)";
      } else {
        text += " (polls)";
      }
    }
  }
  for (char &c : text)
    if (c == '\t')
      c = ' ';
  if (first)
    first->fault(FaultKind::Deadlock, *where, text, lane);
}
