// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes of a warp that reach one warp-wide instruction on different ways, which meet only behind
// it.

#include "Warp.h"

using namespace mpcore::emulator;

/// True if a split is the current one or waits for it.
static bool holdsCurrent(const Warp &w, int split) {
  for (int s = w.current; s >= 0; s = w.splits[s].parent)
    if (s == split)
      return true;
  return false;
}

/// Lanes elsewhere that run, or wait for such that do.
static uint32_t lanesUnderWay(const Warp &w) {
  uint32_t lanes = 0;
  for (const Split &leaf : w.splits) {
    if (!leaf.runs())
      continue;
    for (int s = &leaf - w.splits.data(); !holdsCurrent(w, s); s = w.splits[s].parent)
      lanes |= w.splits[s].mask;
  }
  return lanes;
}

bool Warp::absorb(int other) {
  int common = other;
  for (; !holdsCurrent(*this, common); common = splits[common].parent)
    if (splits[common].rpc != kNoPc)
      return false;
  for (int s = current; s != common; s = splits[s].parent)
    if (splits[s].rpc != kNoPc)
      return false;
  const uint32_t lanes = splits[other].mask;
  for (int s = current; s != common; s = splits[s].parent)
    splits[s].mask |= lanes;
  for (int s = other; s != common; s = splits[s].parent)
    splits[s].mask &= ~lanes;
  active |= lanes;
  splits[other].alive = false;
  childDone(splits[other].parent);
  return true;
}

Step Warp::syncLanes(const Inst &inst, uint32_t &missing) {
  uint32_t come = 0;
  auto isHere = [&](const Split &s) {
    return s.alive && s.syncPoint == &inst && s.frame == frame && (s.syncMask & missing);
  };
  for (const Split &s : splits)
    if (isHere(s))
      come |= s.syncMask;
  if (!(missing & ~come)) {
    for (unsigned s = 0; s < splits.size(); ++s)
      if (isHere(splits[s])) {
        exec |= splits[s].syncMask;
        splits[s].syncPoint = nullptr;
        splits[s].pc = pc;
        if (!absorb(s))
          met.push_back(s);
      }
    return Step::Next;
  }
  missing &= ~come & ~lanesUnderWay(*this);
  if (missing)
    return Step::Fault;
  --pc; // comes back to it, and so do those met
  save();
  splits[current].syncMask = exec;
  for (int s : met)
    splits[current].syncMask &= ~splits[s].syncMask;
  met.push_back(current);
  for (int s : met) {
    splits[s].syncPoint = &inst;
    splits[s].pc = pc;
  }
  block->counters->warps[pc] -= 1;
  block->counters->lanes[pc] -= std::popcount(splits[current].syncMask);
  enter(pick());
  return Step::Leave;
}
