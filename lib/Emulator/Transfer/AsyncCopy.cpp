// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async: copies of 4, 8 or 16 bytes whose bytes appear at the wait of the thread that issued
// them. Until then the destination may neither be read nor written.

#include "Async.h"
#include "LoadStore.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace mpcore::emulator;
using llvm::Twine;

void mpcore::emulator::beginAsync(Warp &w, unsigned agent) {
  RaceDetector &races = w.block->shared.races;
  if (!races.enabled())
    return;
  races.join(agent, w.index);
  races.tick(agent);
}

bool mpcore::emulator::beginAsyncWrite(Warp &w, const Inst &i, Block &target, uint32_t offset,
                                       uint32_t bytes, unsigned lane) {
  if (!touchShared(w, i, target, offset, bytes, Access::Write, {w.asyncAgent(), lane}))
    return false;
  std::fill_n(target.shared.state.begin() + offset, bytes, kInFlight);
  return true;
}

void mpcore::emulator::finishAsyncWrite(Block &target, uint32_t offset, const uint8_t *data,
                                        uint32_t bytes) {
  std::memcpy(target.shared.data.data() + offset, data, bytes);
  std::fill_n(target.shared.state.begin() + offset, bytes, kWritten);
}

bool mpcore::emulator::asyncRead(Warp &w, const Inst &i, uint32_t offset, uint32_t bytes,
                                 unsigned agent, unsigned lane) {
  if (!touchShared(w, i, *w.block, offset, bytes, Access::Read, {agent, lane}))
    return false;
  RaceDetector &races = w.block->shared.races;
  int writer = races.enabled() ? races.unfencedWriter(offset, bytes, w.block->warps.size()) : -1;
  if (writer < 0)
    return true;
  w.fault(FaultKind::Race, i,
          "the async proxy reads what warp " + Twine(writer) +
              " wrote with ordinary stores, and no fence.proxy.async follows them",
          lane, "shared", offset);
  return false;
}

void mpcore::emulator::finishCopies(Warp &w, unsigned lane, uint32_t end, bool tellWarp) {
  bool any = false;
  for (PendingCopy &c : w.copies) {
    if (c.lane != lane || c.group >= end)
      continue;
    finishAsyncWrite(*w.block, c.dst, c.data, c.bytes);
    if (tellWarp && w.block->shared.races.enabled())
      w.block->shared.races.learn(w.index, w.asyncAgent(), c.clock);
    c.bytes = 0;
    any = true;
  }
  if (any)
    w.copies.erase(std::remove_if(w.copies.begin(), w.copies.end(),
                                  [](const PendingCopy &c) { return c.bytes == 0; }),
                   w.copies.end());
}

namespace {
struct CopyOp {
  AddressOperand dst, src;
  uint32_t bytes = 0;
  Reg size; // bytes to take, the rest is zero
  bool hasSize = false;
  Reg ignore;
  bool hasIgnore = false, ignoreNegated = false;
};
} // namespace

bool mpcore::emulator::addressOperand(Decoder &d, const syntax::Operand &operand, MemSpace space,
                                      AddressOperand &out) {
  MemSpace s = space;
  return d.addressInto(operand, s, out.base, out.offset, out.wide);
}

uint64_t mpcore::emulator::addressOf(Warp &w, const AddressOperand &a, unsigned lane) {
  return a.wide ? w.lanes<uint64_t>(a.base)[lane] + a.offset
                : uint32_t(w.lanes<uint32_t>(a.base)[lane] + uint32_t(a.offset));
}

static Step execCopy(Warp &w, const Inst &i) {
  const CopyOp &op = *static_cast<const CopyOp *>(i.aux);
  beginAsync(w, w.asyncAgent());
  uint64_t sources[kLanes];
  uint32_t targets[kLanes], moved = 0;
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    uint64_t dst = addressOf(w, op.dst, l), src = addressOf(w, op.src, l);
    if ((dst | src) & (op.bytes - 1))
      return w.fault(FaultKind::Misaligned, i,
                     "addresses must be multiples of the " + Twine(op.bytes) + " bytes copied", l,
                     dst & (op.bytes - 1) ? "shared" : "global", dst & (op.bytes - 1) ? dst : src);
    if (dst >> kClusterShift)
      return w.fault(FaultKind::OutOfBounds, i,
                     "cp.async writes the own block's shared memory only", l, "shared", dst);
    uint32_t take = op.hasSize ? w.lanes<uint32_t>(op.size)[l] : op.bytes;
    if (op.hasIgnore && ((w.pred(op.ignore) >> l & 1) != op.ignoreNegated))
      take = 0;
    if (take > op.bytes)
      return w.fault(FaultKind::Misuse, i,
                     "src-size " + Twine(take) + " exceeds " + Twine(op.bytes), l);
    PendingCopy c;
    c.lane = l;
    c.dst = uint32_t(dst);
    c.bytes = op.bytes;
    c.group = w.copyGroup[l];
    std::memset(c.data, 0, sizeof(c.data));
    if (take) {
      uint8_t *p;
      if (!resolveGlobal(w, i, src, take, Access::Read, l, p))
        return Step::Fault;
      std::memcpy(c.data, p, take);
      moved |= 1u << l;
    }
    if (!beginAsyncWrite(w, i, *w.block, c.dst, c.bytes, l))
      return Step::Fault;
    if (w.block->shared.races.enabled())
      c.clock = w.block->shared.races.own(w.asyncAgent());
    w.copies.push_back(c);
    sources[l] = src;
    targets[l] = c.dst;
  }
  LaunchStats &stats = w.block->counters->stats;
  ++stats.globalRequests;
  ++stats.sharedRequests;
  stats.globalBytes += uint64_t(op.bytes) * std::popcount(moved);
  if (w.launch->options.countConflicts) {
    stats.globalSectors += globalSectors(sources, moved, op.bytes);
    unsigned needed, least;
    sharedWavefronts(targets, w.exec, op.bytes, needed, least);
    stats.sharedWavefronts += needed;
    stats.bankConflicts += needed - least;
  }
  return Step::Next;
}

static Step execCopyCommit(Warp &w, const Inst &) {
  forLanes(w.exec, [&](unsigned l) { ++w.copyGroup[l]; });
  return Step::Next;
}

static Step execCopyWait(Warp &w, const Inst &i) {
  for (uint32_t m = w.exec; m && !w.copies.empty(); m &= m - 1) {
    unsigned l = std::countr_zero(m);
    int64_t end = i.flags ? int64_t(w.copyGroup[l]) + 1 : int64_t(w.copyGroup[l]) - i.imm;
    if (end > 0)
      finishCopies(w, l, uint32_t(end), /*tellWarp=*/true);
  }
  if (i.flags) // wait_all also ends the open group
    forLanes(w.exec, [&](unsigned l) { ++w.copyGroup[l]; });
  return Step::Next;
}

static Step execMbarrierArrive(Warp &w, const Inst &i) {
  uint64_t addresses[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, addresses);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    Block *owner;
    uint32_t offset;
    Mbarrier *b = mbarrierAt(w, i, addresses[l], /*ownOnly=*/true, l, owner, offset);
    if (!b)
      return Step::Fault;
    // The copies complete first, and their completion arrives; the thread itself learns of it by
    // waiting.
    finishCopies(w, l, ~0u, /*tellWarp=*/false);
    if (owner->shared.races.enabled() && owner == w.block)
      owner->shared.races.release(w.asyncAgent(), b->clock);
    if (i.flags & 1) // .noinc: the count foresees this arrival
      mbarrierArrive(*owner, *b, 1);
  }
  return Step::Next;
}

static void decodeMbarrierArrive(Decoder &d) {
  bool fine = d.take("arrive");
  d.out->flags = d.take("noinc") ? 1 : 0;
  MemSpace space = takeSpace(d);
  fine = fine && (space == MemSpace::Shared || space == MemSpace::Generic);
  if (!fine || d.takeType() != Type::B64 || !d.expectOps(1)) {
    d.unsupported();
    return;
  }
  if (d.address(d.op(0), space))
    d.out->fn = execMbarrierArrive;
}

/// The copy itself, of 4, 8 or 16 bytes a lane.
static void decodeCopy(Decoder &d) {
  CopyOp op;
  bool ca = d.take("ca"), cg = d.take("cg");
  bool fine = ca != cg && (d.take("shared") || d.take("shared::cta")) && d.take("global");
  bool hint = d.take("L2::cache_hint");
  d.take("L2::64B"), d.take("L2::128B"), d.take("L2::256B");
  int64_t bytes = 0;
  if (!fine || !d.expectOps(3, 5)) {
    d.unsupported();
    return;
  }
  if (!addressOperand(d, d.op(0), MemSpace::Shared, op.dst) ||
      !addressOperand(d, d.op(1), MemSpace::Global, op.src) || !d.constant(d.op(2), bytes))
    return;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (cg && bytes != 16)) {
    d.fail("cp.async copies 4, 8 or 16 bytes, .cg only 16; found " + Twine(bytes));
    return;
  }
  int64_t size = 0;
  if (d.numOps() > 3 && d.op(3).kind == syntax::Operand::Integer && d.constant(d.op(3), size) &&
      size > bytes) {
    d.fail("a source of " + Twine(size) + " bytes for a copy of " + Twine(bytes));
    return;
  }
  op.bytes = bytes;
  unsigned at = 3;
  if (at < d.numOps() - hint) {
    if (d.regBits(d.op(at)) == 1) {
      op.ignore = d.pred(d.op(at), &op.ignoreNegated);
      op.hasIgnore = true;
    } else {
      op.size = d.src(at, Type::U32);
      op.hasSize = true;
    }
    ++at;
  }
  if (hint)
    d.src(at++, Type::B64);
  if (!d.expectOps(at))
    return;
  d.noteSharedAccess(4, MemSpace::Shared);
  d.out->aux = d.program.keep(op);
  d.out->fn = execCopy;
}

static void decodeCp(Decoder &d) {
  if (d.take("reduce"))
    return decodeReduceBulk(d);
  if (!d.take("async") || !d.requireTarget(80, ~0u, false)) {
    d.unsupported();
    return;
  }
  if (d.take("bulk"))
    return decodeBulk(d);
  if (d.take("commit_group")) {
    if (d.expectOps(0))
      d.out->fn = execCopyCommit;
    return;
  }
  if (d.take("wait_group")) {
    if (d.expectOps(1) && d.constant(d.op(0), d.out->imm))
      d.out->fn = execCopyWait;
    return;
  }
  if (d.take("wait_all")) {
    d.out->flags = 1;
    if (d.expectOps(0))
      d.out->fn = execCopyWait;
    return;
  }
  if (d.take("mbarrier"))
    return decodeMbarrierArrive(d);
  decodeCopy(d);
}

void mpcore::emulator::registerAsyncOps(OpTable &table) {
  table["cp"] = decodeCp;
  table["tensormap"] = decodeTensorMap;
}
