// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarrier.
//
// A phase completes when no arrival and no bytes are missing. Bulk copies bound to an mbarrier
// arrive when somebody next looks at it: before that their destination is in flight.

#include "Async.h"
#include "LoadStore.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace mpcore::emulator;
using llvm::Twine;

static void phaseCheck(Block &owner, Mbarrier &b) {
  ++owner.progress;
  if (b.pending == 0 && b.tx == 0) {
    ++b.phase;
    b.pending = b.expected;
  }
}

void mpcore::emulator::mbarrierArrive(Block &owner, Mbarrier &b, uint32_t count) {
  b.pending -= std::min(b.pending, count);
  phaseCheck(owner, b);
}

void mpcore::emulator::mbarrierTx(Block &owner, Mbarrier &b, int64_t delta) {
  b.tx += delta;
  phaseCheck(owner, b);
}

Mbarrier *mpcore::emulator::mbarrierAt(Warp &w, const Inst &i, uint64_t address, bool ownOnly,
                                       unsigned lane, Block *&owner, uint32_t &offset) {
  owner = sharedBlock(w, i, sharedAddress(address), ownOnly, lane, offset);
  if (!owner)
    return nullptr;
  auto it = owner->mbarriers.find(offset);
  if (it == owner->mbarriers.end()) {
    w.fault(FaultKind::Uninitialized, i, "no mbarrier is initialised at offset " + Twine(offset),
            lane, "shared", address);
    return nullptr;
  }
  // Whoever uses it must be ordered after the thread that initialised it.
  if (!touchShared(w, i, *owner, offset, 8, Access::Mbarrier, {w.index, lane}))
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
enum : uint32_t {
  kParity = 1,
  kExpectTx = 2,
  kGivesCount = 4,
  kDrop = 8,
  kRelaxed = 16,
  kNoState = 32,
  kNoComplete = 64
};
constexpr int64_t kMostTx = (1 << 20) - 1; // of bytes, of arrivals
} // namespace

// The token of a phase: its number above, what is pending below.
static uint64_t token(const Mbarrier &b) { return uint64_t(b.phase) << 32 | b.pending; }

template <class F> static Step each(Warp &w, const Inst &i, F &&body) {
  uint64_t addresses[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, addresses);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    Block *owner;
    uint32_t offset;
    Mbarrier *b =
        mbarrierAt(w, i, addresses[l], MemSpace(i.space) == MemSpace::Shared, l, owner, offset);
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
    const uint64_t address = sharedAddress(addresses[l]);
    const uint32_t count = w.lanes<uint32_t>(i.b)[l];
    uint32_t at;
    if (address & 7)
      return w.fault(FaultKind::Misaligned, i, "an mbarrier is aligned to 8 bytes", l, "shared",
                     address);
    if (count == 0 || count > kMostTx)
      return w.fault(FaultKind::Misuse, i,
                     "an expected count of " + Twine(count) + ": 1 to 2^20 - 1 is allowed", l);
    if (!sharedBlock(w, i, address, /*ownOnly=*/true, l, at))
      return Step::Fault;
    if (w.block->mbarriers.count(at))
      return w.fault(FaultKind::Misuse, i,
                     "an mbarrier is initialised there already, and mbarrier.inval did not end it",
                     l, "shared", at);
    if (!touchShared(w, i, *w.block, at, 8, Access::Write, {w.index, l}))
      return Step::Fault;
    std::fill_n(w.block->shared.state.begin() + at, 8, kMbarrier);
    Mbarrier &b = w.block->mbarriers[at];
    b = Mbarrier();
    b.expected = b.pending = count;
    ++w.block->progress;
  }
  return Step::Next;
}

static Step execInval(Warp &w, const Inst &i) {
  return each(w, i, [&](unsigned l, Block &owner, uint32_t offset, Mbarrier &) {
    for (const BulkCopy &c : owner.bulk)
      if (c.barrier == offset) {
        w.fault(FaultKind::InFlight, i, "a copy that completes on this mbarrier was not waited for",
                l, "shared", offset);
        return false;
      }
    owner.mbarriers.erase(offset);
    // Ordered after everybody who used it, as a write is; what is left is no value.
    auto state = owner.shared.state.begin() + offset;
    std::fill_n(state, 8, kNever);
    const bool fine = touchShared(w, i, owner, offset, 8, Access::Write, {w.index, l});
    std::fill_n(state, 8, kNever);
    return fine;
  });
}

// Bytes that the phase waits for, between -(2^20 - 1) and 2^20 - 1.
static bool addTx(Warp &w, const Inst &i, Mbarrier &b, int64_t bytes, unsigned l) {
  if (std::abs(bytes) > kMostTx || std::abs(b.tx + bytes) > kMostTx) {
    w.fault(FaultKind::Misuse, i,
            Twine(bytes) + " bytes more to wait for make " + Twine(b.tx + bytes) +
                ", up to 2^20 - 1 are allowed",
            l, "shared");
    return false;
  }
  b.tx += bytes;
  return true;
}

static Step execArrive(Warp &w, const Inst &i) {
  return each(w, i, [&](unsigned l, Block &owner, uint32_t, Mbarrier &b) {
    auto bad = [&](const Twine &message) {
      w.fault(FaultKind::Misuse, i, message, l, "shared");
      return false;
    };
    const uint32_t count = i.flags & kGivesCount ? w.lanes<uint32_t>(i.b)[l] : 1;
    if (count == 0 || count > b.pending)
      return bad(Twine(count) + " arrivals where " + Twine(b.pending) +
                 " are pending in the phase");
    if (&owner != w.block && !(i.flags & kNoState))
      return bad("an arrival in another block of the cluster gives no state: write _");
    if (i.flags & kExpectTx && !addTx(w, i, b, w.lanes<uint32_t>(i.b)[l], l))
      return false;
    if (i.flags & kNoComplete && count == b.pending && b.tx == 0)
      return bad("an arrival with .noComplete completes the phase");
    if (owner.shared.races.enabled() && &owner == w.block && !(i.flags & kRelaxed))
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
    if (!addTx(w, i, b, i.flags & kExpectTx ? bytes : -bytes, l))
      return false;
    phaseCheck(owner, b);
    return true;
  });
}

static Step execTryWait(Warp &w, const Inst &i) {
  uint32_t passed = 0;
  Step step = each(w, i, [&](unsigned l, Block &owner, uint32_t offset, Mbarrier &b) {
    if (&owner != w.block) {
      w.fault(FaultKind::Misuse, i, "only the own block's mbarrier can be waited for", l);
      return false;
    }
    landCopies(owner, offset, b);
    const uint32_t since = b.phase - uint32_t(w.lanes<uint64_t>(i.b)[l] >> 32);
    if (!(i.flags & kParity) && since > 1) {
      w.fault(FaultKind::Misuse, i,
              "the state is not one of the mbarrier's current phase or of the one before", l,
              "shared", offset);
      return false;
    }
    if (i.flags & kParity ? (b.phase & 1) != (w.lanes<uint32_t>(i.b)[l] & 1) : since == 1) {
      passed |= 1u << l;
      if (owner.shared.races.enabled() && !(i.flags & kRelaxed))
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

// .ORDER.SCOPE, both or neither. The order is relaxed or \p strict.
static bool takeOrder(Decoder &d, llvm::StringRef strict, bool ctaOnly = false) {
  const bool relaxed = d.take("relaxed"), ordered = relaxed || (!strict.empty() && d.take(strict));
  const bool cta = d.take("cta"), cluster = !cta && d.take("cluster");
  if (ordered != (cta || cluster) || (ctaOnly && (relaxed || cluster)))
    return d.unsupported();
  if (relaxed)
    d.out->flags |= kRelaxed;
  return !ordered || d.requireTarget(relaxed || cluster ? 90 : 80, ~0u, false);
}

static void decodeArrive(Decoder &d, bool drop) {
  Inst &i = *d.out;
  const bool expect = d.take("expect_tx"), noComplete = d.take("noComplete");
  if (!takeOrder(d, "release", /*ctaOnly=*/noComplete))
    return;
  MemSpace space = takeSpace(d);
  const bool remote = space == MemSpace::SharedCluster;
  // The state comes first; remote mbarriers have none.
  const bool sink = d.numOps() && d.op(0).kind == syntax::Operand::Sink;
  if (d.takeType() != Type::B64 ||
      (space != MemSpace::Shared && space != MemSpace::Generic && !remote) || (remote && !sink) ||
      (noComplete && (expect || remote))) {
    d.unsupported();
    return;
  }
  if (!d.expectOps(expect || noComplete ? 3 : 2, 3) || !d.address(d.op(1), space))
    return;
  if (!sink)
    i.dst = d.dst(0, Type::B64);
  int64_t count = 1;
  if (!expect && d.numOps() == 3 && d.op(2).kind == syntax::Operand::Integer &&
      d.constant(d.op(2), count) && !count) {
    d.fail("a count of 0 arrivals");
    return;
  }
  if (d.numOps() == 3)
    i.b = d.src(2, Type::U32);
  i.flags |= (sink ? kNoState : 0) | (drop ? kDrop : 0) | (noComplete ? kNoComplete : 0) |
             (expect            ? kExpectTx
              : d.numOps() == 3 ? kGivesCount
                                : 0);
  i.space = uint8_t(space);
  i.fn = execArrive;
  if (expect || remote || (d.numOps() == 3 && !noComplete))
    d.requireTarget(90, ~0u, false);
}

static void decodeWait(Decoder &d, bool tries) {
  Inst &i = *d.out;
  const bool parity = d.take("parity");
  if (!takeOrder(d, "acquire") || !d.requireTarget(tries ? 90 : 80, ~0u, false))
    return;
  MemSpace space = takeSpace(d);
  if (d.takeType() != Type::B64 || (space != MemSpace::Shared && space != MemSpace::Generic)) {
    d.unsupported();
    return;
  }
  if (!d.expectOps(3, tries ? 4 : 3) || !d.address(d.op(1), space))
    return;
  i.dst = d.predDst(d.op(0));
  i.b = d.src(2, parity ? Type::U32 : Type::B64);
  if (d.numOps() == 4)
    d.src(3, Type::U32); // a limit of time
  i.flags |= parity ? kParity : 0;
  i.space = uint8_t(space);
  i.fn = execTryWait;
}

static void decodeMbarrier(Decoder &d) {
  Inst &i = *d.out;
  if (!d.requireTarget(80, ~0u, false))
    return;
  const bool drop = d.take("arrive_drop");
  if (drop || d.take("arrive"))
    return decodeArrive(d, drop);
  const bool tries = d.take("try_wait");
  if (tries || d.take("test_wait"))
    return decodeWait(d, tries);
  if (d.take("pending_count")) {
    if (d.takeType() != Type::B64 || !d.expectOps(2))
      return;
    i.dst = d.dst(0, Type::U32);
    i.a = d.src(1, Type::B64);
    i.fn = execPendingCount;
    return;
  }
  const bool init = d.take("init"), inval = !init && d.take("inval"), expect = d.take("expect_tx"),
             tx = expect || d.take("complete_tx");
  if (init + inval + tx != 1 || (tx && !(takeOrder(d, "") && d.requireTarget(90, ~0u, false)))) {
    d.unsupported();
    return;
  }
  MemSpace space = takeSpace(d);
  if (d.takeType() != Type::B64 || (space != MemSpace::Shared && space != MemSpace::Generic &&
                                    (!tx || space != MemSpace::SharedCluster))) {
    d.unsupported();
    return;
  }
  if (!d.expectOps(inval ? 1 : 2) || !d.address(d.op(0), space))
    return;
  if (!inval)
    i.b = d.src(1, Type::U32);
  i.flags |= expect ? kExpectTx : 0;
  i.space = uint8_t(space);
  i.fn = init ? execInit : inval ? execInval : execTx;
}

void mpcore::emulator::registerMbarrierOps(OpTable &table) { table["mbarrier"] = decodeMbarrier; }
