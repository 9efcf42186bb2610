// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarrier, mapa, getctarank and setmaxnreg.
//
// A phase completes when no arrival and no bytes are missing. Bulk copies bound to an mbarrier arrive when somebody
// next looks at it: before that their destination is in flight.

#include "Async.h"
#include "LoadStore.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace mp::emulator;
using llvm::Twine;

static void phaseCheck(Block &owner, Mbarrier &b) {
  ++owner.progress;
  if (b.pending == 0 && b.tx == 0) {
    ++b.phase;
    b.pending = b.expected;
  }
}

void mp::emulator::mbarrierArrive(Block &owner, Mbarrier &b, uint32_t count) {
  b.pending -= std::min(b.pending, count);
  phaseCheck(owner, b);
}

void mp::emulator::mbarrierTx(Block &owner, Mbarrier &b, int64_t delta) {
  b.tx += delta;
  phaseCheck(owner, b);
}

Mbarrier *mp::emulator::mbarrierAt(Warp &w, const Inst &i, uint64_t address, unsigned lane, Block *&owner,
                                   uint32_t &offset) {
  if (address >= kSharedWindow && address < kSharedWindow + kWindowBytes)
    address -= kSharedWindow;
  owner = address >> 32 ? nullptr : clusterTarget(w, address, offset);
  if (!owner || offset + 8 > owner->shared.size()) {
    w.fault(FaultKind::OutOfBounds, i, "no shared memory there", lane, "shared", address);
    return nullptr;
  }
  auto it = owner->mbarriers.find(offset);
  if (it == owner->mbarriers.end()) {
    w.fault(FaultKind::Uninitialized, i, "no mbarrier is initialised at offset " + Twine(offset), lane, "shared", address);
    return nullptr;
  }
  // Whoever uses it must be ordered after the thread that initialised it.
  if (owner == w.block && !touchShared(w, i, *owner, offset, 8, Access::Read, {w.index, lane}))
    return nullptr;
  return &it->second;
}

// Copies on their way to this barrier land.
static void landCopies(Block &block, uint32_t offset, Mbarrier &b) {
  bool any = false;
  for (BulkCopy &c : block.bulk) {
    if (c.barrier != offset)
      continue;
    any = true;
    for (const BulkCopy::Piece &p : c.pieces) {
      finishAsyncWrite(block, p.dst, c.data.data() + p.from, p.bytes);
      block.shared.setSwizzle(p.dst, p.bytes, c.swizzle);
    }
    if (c.ownBlock && block.shared.races.enabled()) {
      if (b.clock.size() <= c.agent)
        b.clock.resize(c.agent + 1, 0);
      b.clock[c.agent] = std::max(b.clock[c.agent], c.clock);
    }
    mbarrierTx(block, b, -int64_t(c.data.size()));
    c.pieces.clear();
    c.barrier = ~0u;
  }
  if (any)
    block.bulk.erase(std::remove_if(block.bulk.begin(), block.bulk.end(),
                                    [](const BulkCopy &c) { return c.barrier == ~0u; }),
                     block.bulk.end());
}

namespace {
enum : uint32_t { kParity = 1, kExpectTx = 2, kHasCount = 4, kDrop = 8, kTest = 16, kNoState = 32 };
}

// The token of a phase: its number above, what is pending below.
static uint64_t token(const Mbarrier &b) { return uint64_t(b.phase) << 32 | b.pending; }

template <class F> static Step each(Warp &w, const Inst &i, F &&body) {
  uint64_t addresses[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, addresses);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    Block *owner;
    uint32_t offset;
    Mbarrier *b = mbarrierAt(w, i, addresses[l], l, owner, offset);
    if (!b || !body(l, *owner, offset, *b))
      return Step::Fault;
  }
  return Step::Next;
}

static Step execInit(Warp &w, const Inst &i) {
  uint64_t addresses[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, addresses);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    uint64_t at = addresses[l] >= kSharedWindow ? addresses[l] - kSharedWindow : addresses[l];
    uint32_t count = w.lanes<uint32_t>(i.b)[l];
    if (at & 7)
      return w.fault(FaultKind::Misaligned, i, "an mbarrier is aligned to 8 bytes", l, "shared", at);
    if (count == 0 || count >= 1u << 20)
      return w.fault(FaultKind::Misuse, i, "an expected count of " + Twine(count) + ": 1 to 2^20 - 1 is allowed", l);
    if (at >> 32 || !touchShared(w, i, *w.block, uint32_t(at), 8, Access::Write, {w.index, l}))
      return Step::Fault;
    Mbarrier &b = w.block->mbarriers[uint32_t(at)];
    b = Mbarrier();
    b.expected = b.pending = count;
    ++w.block->progress;
  }
  return Step::Next;
}

static Step execInval(Warp &w, const Inst &i) {
  return each(w, i, [&](unsigned, Block &owner, uint32_t offset, Mbarrier &) {
    owner.mbarriers.erase(offset);
    return true;
  });
}

static Step execArrive(Warp &w, const Inst &i) {
  return each(w, i, [&](unsigned l, Block &owner, uint32_t, Mbarrier &b) {
    uint32_t count = 1;
    if (i.flags & kHasCount)
      count = w.lanes<uint32_t>(i.b)[l];
    else if (i.flags & kExpectTx)
      b.tx += w.lanes<uint32_t>(i.b)[l];
    if (count > b.pending) {
      w.fault(FaultKind::Misuse, i,
              Twine(count) + " arrivals where " + Twine(b.pending) + " are pending in the phase", l, "shared");
      return false;
    }
    if (owner.shared.races.enabled() && &owner == w.block)
      owner.shared.races.release(w.index, b.clock);
    uint64_t state = token(b);
    if (i.flags & kDrop)
      b.expected -= std::min(b.expected, count);
    mbarrierArrive(owner, b, count);
    if (!(i.flags & kNoState))
      w.lanes<uint64_t>(i.dst)[l] = state;
    return true;
  });
}

static Step execTx(Warp &w, const Inst &i) { // expect_tx and complete_tx
  return each(w, i, [&](unsigned l, Block &owner, uint32_t, Mbarrier &b) {
    int64_t bytes = w.lanes<uint32_t>(i.b)[l];
    mbarrierTx(owner, b, i.flags & kExpectTx ? bytes : -bytes);
    return true;
  });
}

static Step execWait(Warp &w, const Inst &i) {
  uint32_t passed = 0;
  Step step = each(w, i, [&](unsigned l, Block &owner, uint32_t offset, Mbarrier &b) {
    if (&owner != w.block) {
      w.fault(FaultKind::Misuse, i, "only the own block's mbarrier can be waited for", l);
      return false;
    }
    landCopies(owner, offset, b);
    bool done = i.flags & kParity ? (b.phase & 1) != (w.lanes<uint32_t>(i.b)[l] & 1)
                                  : b.phase != uint32_t(w.lanes<uint64_t>(i.b)[l] >> 32);
    if (done) {
      passed |= 1u << l;
      if (owner.shared.races.enabled())
        owner.shared.races.acquire(w.index, b.clock);
    }
    return true;
  });
  if (step == Step::Fault)
    return step;
  setPred(w, i.dst, passed);
  return passed == w.exec ? Step::Next : Step::Yield;
}

static Step execPendingCount(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  const uint64_t *a = w.lanes<uint64_t>(i.a);
  forLanes(w.exec, [&](unsigned l) { d[l] = uint32_t(a[l]); });
  return Step::Next;
}

static void decodeMbarrier(Decoder &d) {
  bool init = d.take("init"), inval = d.take("inval"), drop = d.take("arrive_drop");
  bool arrive = d.take("arrive") || drop;
  bool test = d.take("test_wait") || d.take("try_wait"), parity = test && d.take("parity");
  bool expect = d.take("expect_tx"), complete = d.take("complete_tx"), pending = d.take("pending_count");
  bool noComplete = arrive && d.take("noComplete");
  d.take("release") || d.take("acquire") || d.take("relaxed");
  takeScope(d);
  MemSpace space = takeSpace(d);
  bool fine = space == MemSpace::Shared || space == MemSpace::SharedCluster || space == MemSpace::Generic;
  if (!fine || d.takeType() != Type::B64 || init + inval + arrive + test + pending + (!arrive && (expect || complete)) != 1) {
    d.unsupported();
    return;
  }
  Inst &i = *d.out;
  if (pending) {
    if (!d.expectOps(2))
      return;
    i.dst = d.dst(0, Type::U32);
    i.a = d.src(1, Type::B64);
    i.fn = execPendingCount;
    return;
  }
  if (init || inval || (!arrive && !test)) {
    if (!d.expectOps(inval ? 1 : 2) || !d.address(d.op(0), space))
      return;
    if (!inval)
      i.b = d.src(1, Type::U32);
    i.flags |= expect ? kExpectTx : 0;
    i.fn = init ? execInit : inval ? execInval : execTx;
    return;
  }
  if (test) {
    if (!d.expectOps(3, 4) || !d.address(d.op(1), space))
      return;
    i.dst = d.predDst(d.op(0));
    i.b = d.src(2, parity ? Type::U32 : Type::B64);
    if (d.numOps() == 4)
      d.src(3, Type::U32);
    i.flags |= parity ? kParity : 0;
    i.fn = execWait;
    return;
  }
  // arrive: the state comes first, unless it is left out (remote barriers and expect_tx of newer PTX).
  bool hasState = d.numOps() && d.op(0).kind != syntax::Operand::Address;
  unsigned at = hasState ? 1 : 0;
  if (!d.expectOps(at + 1, at + 2) || !d.address(d.op(at), space))
    return;
  if (hasState && d.op(0).kind != syntax::Operand::Sink)
    i.dst = d.dst(0, Type::B64);
  else
    i.flags |= kNoState;
  if (d.numOps() == at + 2) {
    i.b = d.src(at + 1, Type::U32);
    i.flags |= expect ? kExpectTx : kHasCount;
  } else if (expect || noComplete) {
    d.fail("a count is missing");
    return;
  }
  i.flags |= drop ? kDrop : 0;
  i.fn = execArrive;
}

template <class T> static Step execMapa(Warp &w, const Inst &i) {
  T *d = w.lanes<T>(i.dst);
  const T *a = w.lanes<T>(i.a);
  const uint32_t *rank = w.lanes<uint32_t>(i.b);
  const uint64_t window = i.flags ? 0 : kSharedWindow;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    if (rank[l] >= w.block->cluster->size())
      return w.fault(FaultKind::Misuse, i, "rank " + Twine(rank[l]) + " of a cluster of " + Twine(w.block->cluster->size()), l);
    uint64_t offset = (uint64_t(a[l]) - window) & ((1u << kClusterShift) - 1);
    d[l] = T(window + (uint64_t(rank[l] + 1) << kClusterShift | offset));
  }
  return Step::Next;
}

static void decodeMapa(Decoder &d) {
  bool shared = d.take("shared::cluster");
  Type t = d.takeType();
  if (d.failed() || !d.expectOps(3))
    return;
  d.out->flags = shared;
  d.out->dst = d.dst(0, t);
  if (d.op(1).kind == syntax::Operand::Name && d.resolve(d.op(1).name).kind == Decoder::Resolved::Variable) {
    Decoder::Resolved r = d.resolve(d.op(1).name);
    if (r.space != MemSpace::Shared || !shared) {
      d.unsupported();
      return;
    }
    d.out->a = t == Type::U32 ? d.constant32(r.address) : d.constant64(r.address);
  } else {
    d.out->a = d.src(1, t);
  }
  d.out->b = d.src(2, Type::U32);
  d.out->fn = t == Type::U32 && shared ? execMapa<uint32_t> : t == Type::U64 ? execMapa<uint64_t> : nullptr;
}

static Step execGetctarank(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    uint64_t a = i.size == 8 ? w.lanes<uint64_t>(i.a)[l] : w.lanes<uint32_t>(i.a)[l];
    uint32_t rank = uint32_t((a & 0xffffffff) >> kClusterShift);
    d[l] = rank ? rank - 1 : w.block->rank;
  }
  return Step::Next;
}

static void decodeGetctarank(Decoder &d) {
  d.take("shared::cluster");
  Type t = d.takeType();
  if (d.failed() || !d.expectOps(2) || (t != Type::U32 && t != Type::U64))
    return;
  d.out->dst = d.dst(0, Type::U32);
  d.out->a = d.src(1, t);
  d.out->size = t == Type::U64 ? 8 : 4;
  d.out->fn = execGetctarank;
}

static Step execSetmaxnreg(Warp &w, const Inst &i) {
  if (w.exec != w.live)
    return w.fault(FaultKind::Divergence, i, "setmaxnreg met by a part of the warp", std::countr_zero(w.live & ~w.exec));
  return Step::Next;
}

static void decodeSetmaxnreg(Decoder &d) {
  bool fine = d.take("inc") != d.take("dec");
  fine = d.take("sync") && d.take("aligned") && fine;
  int64_t n = 0;
  if (!fine || d.takeType() != Type::U32 || !d.expectOps(1) || !d.constant(d.op(0), n)) {
    d.unsupported();
    return;
  }
  if (n < 24 || n > 256 || n % 8) {
    d.fail("a register count of " + Twine(n) + ": multiples of 8 from 24 to 256 are allowed");
    return;
  }
  d.out->fn = execSetmaxnreg;
}

void mp::emulator::registerMbarrierOps(OpTable &table) {
  table["mbarrier"] = decodeMbarrier;
  table["mapa"] = decodeMapa;
  table["getctarank"] = decodeGetctarank;
  table["setmaxnreg"] = decodeSetmaxnreg;
}
