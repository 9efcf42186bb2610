// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma, dense and sparse: matrix products of a warpgroup on operands in shared memory. The last of
// the four warps to arrive computes for all; until a wait_group the accumulators may be used by
// other wgmma only.

#include "Wgmma.h"
#include "../Transfer/Async.h"
#include "Fragments.h"
#include "Sparsity.h"
#include "mp/Emulator/TensorMap.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace mpcore::emulator;
using llvm::Twine;

namespace {
/// The 64-bit matrix descriptor (PTX ISA, "Matrix Descriptor Format").
struct Descriptor {
  uint32_t start, leading, stride;
  TensorMap::Swizzle swizzle;
  explicit Descriptor(uint64_t bits)
      : start(uint32_t(bits & 0x3fff) << 4), leading(uint32_t(bits >> 16 & 0x3fff) << 4),
        stride(uint32_t(bits >> 32 & 0x3fff) << 4) {
    static const TensorMap::Swizzle modes[] = {TensorMap::Swizzle::None, TensorMap::Swizzle::B128,
                                               TensorMap::Swizzle::B64, TensorMap::Swizzle::B32};
    swizzle = modes[bits >> 62];
  }
  uint32_t span() const {
    const uint32_t spans[] = {16, 32, 64, 128};
    return spans[unsigned(swizzle)];
  }
  /// Shared memory address of 16-byte chunk: `outer` is the row (M or N), `k` in bytes, K
  /// contiguous in memory.
  uint32_t kMajor(uint32_t outer, uint32_t kBytes) const {
    uint32_t at = start + outer / 8 * stride + outer % 8 * span();
    at += swizzle == TensorMap::Swizzle::None ? kBytes / 16 * leading + kBytes % 16 : kBytes;
    return swizzled(swizzle, at);
  }
  /// The same with M or N contiguous, 16-bit elements.
  uint32_t mnMajor(uint32_t outer, uint32_t k) const {
    uint32_t bytes = outer * 2, at = start + bytes % span();
    if (swizzle == TensorMap::Swizzle::None)
      at += bytes / 16 * stride + k / 8 * leading + k % 8 * 16;
    else
      at += bytes / span() * leading + k / 8 * stride + k % 8 * span();
    return swizzled(swizzle, at);
  }
};
} // namespace

static bool overlaps(Reg a, Reg b) { return a.bits == b.bits; }

bool mpcore::emulator::checkPending(Warp &w, const Inst &i) {
  w.wgmmaFenced = false; // the registers changed hands: a fence is needed before the next wgmma
  auto touches = [&](Reg r) {
    if (overlaps(r, i.dst) || overlaps(r, i.a) || overlaps(r, i.b) || overlaps(r, i.c) ||
        overlaps(r, i.d))
      return true;
    for (unsigned k = 0; i.list && k < i.count; ++k)
      if (overlaps(r, i.list[k]))
        return true;
    return false;
  };
  auto inGroup = [&](const AsyncGroup &g) { return llvm::any_of(g.registers, touches); };
  if (!inGroup(w.wgmmaOpen) && !llvm::any_of(w.wgmmaGroups, inGroup))
    return true;
  w.fault(FaultKind::InFlight, i,
          "uses an accumulator of a wgmma that was not waited for (wgmma.wait_group)",
          std::countr_zero(w.exec));
  return false;
}

/// Reads one operand from shared memory into row-major values: rows of M for A, of N for B. Tracks
/// the bytes once per chunk.
static bool fetch(Warp &w, const Inst &i, const WgmmaOp &x, bool isA, uint64_t descriptor,
                  unsigned agent, MatrixValues &v) {
  const MatrixOp &op = x.op;
  const Descriptor desc(descriptor);
  const Element e = isA ? op.a : op.b;
  const unsigned outer = isA ? 64 : op.n, depth = isA ? op.storedK() : op.k, bits = elementBits(e);
  const bool trans = isA ? x.transA : x.transB;
  if (descriptor >> 49 & 7) {
    w.fault(FaultKind::Misuse, i, "a base offset in the matrix descriptor is not supported", 0);
    return false;
  }
  const uint8_t *data = w.block->shared.data.data();
  // Element `element` of the 16 bytes at `at`.
  auto put = [&](unsigned o, unsigned k, uint32_t at, unsigned element) {
    uint32_t word = 0;
    std::memcpy(&word, data + at + element * bits / 32 * 4, 4);
    word = cutElement(word, element % (32 / bits), bits);
    size_t index = isA ? size_t(o) * depth + k : size_t(k) * op.n + o;
    if (isFloatElement(e))
      (isA ? v.a : v.b)[index] = floatElement(e, word);
    else
      (isA ? v.ia : v.ib)[index] = intElement(e, word);
  };
  auto isPlacedSo = [&](uint32_t at) {
    auto placed = w.block->shared.swizzleAt(at);
    if (!placed || *placed == desc.swizzle)
      return true;
    auto name = [](TensorMap::Swizzle s) {
      return s == TensorMap::Swizzle::None
                 ? std::string("no swizzle")
                 : "a swizzle of " + std::to_string(16 << unsigned(s)) + " bytes";
    };
    w.fault(FaultKind::Misuse, i,
            Twine("the descriptor of operand ") + (isA ? "A" : "B") + " says " +
                name(desc.swizzle) + ", but the tensor copy that wrote these bytes had " +
                name(*placed),
            0, "shared", at);
    return false;
  };
  const unsigned perChunk = 128 / bits;
  for (unsigned o = 0; o < outer; o += trans ? perChunk : 1)
    for (unsigned k = 0; k < depth; k += trans ? 1 : perChunk) {
      uint32_t at = trans ? desc.mnMajor(o, k) : desc.kMajor(o, k * bits / 8);
      if (!asyncRead(w, i, at, 16, agent, 0) || !isPlacedSo(at))
        return false;
      for (unsigned c = 0; c < perChunk; ++c)
        trans ? put(o + c, k, at, c) : put(o, k + c, at, c);
    }
  return true;
}

static bool uniform64(Warp &w, Reg r, uint64_t &value) {
  const uint64_t *v = w.lanes<uint64_t>(r);
  value = v[0];
  return std::all_of(v, v + kLanes, [&](uint64_t x) { return x == value; });
}

namespace {
/// One product of a warpgroup, made by the last of its warps to arrive.
class WarpgroupProduct {
public:
  WarpgroupProduct(Warp &w, const Inst &i)
      : w(w), i(i), x(*static_cast<const WgmmaOp *>(i.aux)), op(x.op), block(*w.block),
        races(block.shared.races), first(w.index / 4 * 4),
        agent(2 * block.warps.size() + first / 4), v(matrixScratch()) {}

  Step run() {
    if (Step step = check(); step != Step::Next)
      return step;
    if (Step step = meet(); step != Step::Next)
      return step;
    joinRaces();
    v.resize(op, 64);
    if (Step step = fetchOperands(); step != Step::Next)
      return step;
    keep = w.pred(x.scaleD) & 1;
    std::optional<BadMetadata> bad;
    forWarps([&](Warp &other, unsigned k) {
      forAccumulators(other, k, [&](uint32_t &word, unsigned e, size_t at) { load(word, e, at); });
      if (op.sparsity != Sparsity::None && !bad)
        bad = readMetadata(other.lanes<uint32_t>(op.metadata), op, 16 * k, v);
      if (x.aInRegisters)
        gatherA(other, k);
    });
    if (bad)
      return badMetadata(w, i, op, *bad);
    if (!multiply(w, i, op, v, 64))
      return Step::Fault;
    forWarps([&](Warp &other, unsigned k) {
      forAccumulators(other, k, [&](uint32_t &word, unsigned e, size_t at) { store(word, e, at); });
      leave(other, k);
    });
    meeting() = WarpgroupMeeting();
    ++block.progress;
    return Step::Next;
  }

private:
  Step check() {
    if (w.exec != ~0u)
      return w.fault(FaultKind::Divergence, i,
                     "wgmma needs all 32 lanes of each warp; lanes 0x" + Twine::utohexstr(~w.exec) +
                         " are elsewhere",
                     std::countr_zero(~w.exec));
    if (block.warps.size() < first + 4)
      return w.fault(FaultKind::Misuse, i, "wgmma needs a warpgroup of four whole warps", 0);
    if (!w.wgmmaFenced)
      return w.fault(
          FaultKind::Misuse, i,
          "no wgmma.fence since the accumulators were last touched by other instructions", 0);
    if (meeting().arrived && meeting().inst != &i)
      return w.fault(FaultKind::Divergence, i, "other warps of the warpgroup are at another wgmma",
                     0);
    return Step::Next;
  }

  /// Waits for the others: Step::Next when all four are here.
  Step meet() {
    meeting().inst = &i;
    meeting().arrived |= 1u << (w.index - first);
    meeting().split[w.index - first] = w.current;
    if (meeting().arrived == 15)
      return Step::Next;
    w.save();
    w.splits[w.current].blocked = true;
    w.splits[w.current].meeting = true;
    w.enter(w.pick());
    return Step::Leave;
  }

  void joinRaces() {
    for (unsigned k = 0; k < 4 && races.enabled(); ++k)
      races.join(agent, first + k);
    if (races.enabled())
      races.tick(agent);
  }

  Step fetchOperands() {
    uint64_t a = 0, b = 0;
    if (!uniform64(w, x.descB, b) || (!x.aInRegisters && !uniform64(w, x.descA, a)))
      return w.fault(FaultKind::Misuse, i, "the matrix descriptor differs between the lanes", 0);
    if (!fetch(w, i, x, false, b, agent, v) ||
        (!x.aInRegisters && !fetch(w, i, x, true, a, agent, v)))
      return Step::Fault;
    return Step::Next;
  }

  /// body(warp, index in the warpgroup), with the frame of each at hand: a blocked warp's is in its
  /// split.
  template <class F> void forWarps(F &&body) {
    for (unsigned k = 0; k < 4; ++k) {
      Warp &other = *block.warps[first + k];
      uint32_t *saved = other.base[0];
      if (&other != &w)
        other.base[0] = other.splits[meeting().split[k]].frame->regs.data();
      body(other, k);
      other.base[0] = saved;
    }
  }

  /// body(register, index in it, place in the values) for every accumulator of a warp.
  template <class F> void forAccumulators(Warp &other, unsigned k, F &&body) {
    const unsigned packed = op.d == Element::F16 ? 2 : 1;
    for (unsigned r = 0; r < op.dCount; ++r)
      for (unsigned l = 0; l < kLanes; ++l)
        for (unsigned e = 0; e < packed; ++e) {
          unsigned index = r * packed + e;
          unsigned row = 16 * k + l / 4 + 8 * (index / 2 % 2),
                   col = index / 4 * 8 + l % 4 * 2 + index % 2;
          body(other.lanes<uint32_t>(op.dRegs[r])[l], e, size_t(row) * op.n + col);
        }
  }

  void load(uint32_t word, unsigned e, size_t at) {
    if (op.d == Element::S32)
      v.ic[at] = keep ? int32_t(word) : 0;
    else if (op.d == Element::F32)
      v.c[at] = keep ? std::bit_cast<float>(word) : 0.0f;
    else
      v.c[at] = keep ? widenF16(uint16_t(word >> (16 * e))) : 0.0f;
  }

  void store(uint32_t &word, unsigned e, size_t at) const {
    if (op.d == Element::S32) {
      word = uint32_t(v.ic[at]);
    } else if (op.d == Element::F32) {
      word = std::bit_cast<uint32_t>(v.c[at]);
    } else {
      uint32_t half = narrowF16(v.c[at]);
      word = e ? (word & 0xffff) | half << 16 : half;
    }
  }

  /// The rows of A that a warp holds in registers.
  void gatherA(Warp &other, unsigned k) {
    MatrixOp part = op;
    part.m = 16;
    const unsigned bits = elementBits(op.a);
    for (unsigned r = 0; r < 4; ++r) {
      const uint32_t *words = other.lanes<uint32_t>(op.aRegs[r]);
      forFragmentA(part, r, [&](unsigned l, unsigned e, unsigned row, unsigned col) {
        uint32_t word = cutElement(words[l], e, bits);
        size_t at = size_t(16 * k + row) * op.storedK() + col;
        if (isFloatElement(op.a))
          v.a[at] = floatElement(op.a, word);
        else
          v.ia[at] = intElement(op.a, word);
      });
    }
  }

  /// The accumulators of a warp are in flight until it waits; it goes on.
  void leave(Warp &other, unsigned k) {
    for (unsigned r = 0; r < op.dCount; ++r)
      other.wgmmaOpen.registers.push_back(op.dRegs[r]);
    other.wgmmaOpen.agent = agent;
    other.wgmmaOpen.clock = races.enabled() ? races.own(agent) : 0;
    if (&other != &w)
      other.unblock(meeting().split[k]);
  }

  WarpgroupMeeting &meeting() { return block.meetings[w.index / 4]; }

  Warp &w;
  const Inst &i;
  const WgmmaOp &x;
  const MatrixOp &op;
  Block &block;
  RaceDetector &races;
  const unsigned first, agent; ///< the first warp of the group; the group, to the race detector
  MatrixValues &v;
  bool keep = false; ///< the accumulators are added to, not replaced
};
} // namespace

Step mpcore::emulator::execWgmma(Warp &w, const Inst &i) { return WarpgroupProduct(w, i).run(); }
