// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma, dense and sparse: matrix products of a warpgroup on operands in shared memory. The last of
// the four warps to arrive computes for all; until a wait_group the accumulators may be used by
// other wgmma only.

#include "../Transfer/Async.h"
#include "Fragments.h"
#include "Sparsity.h"
#include "mp/Emulator/TensorMap.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace mpcore::emulator;
using llvm::Twine;

namespace {
struct WgmmaOp {
  MatrixOp op;
  Reg descA, descB, scaleD;
  bool aInRegisters = false, transA = false, transB = false;
};

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

// One operand from shared memory into row-major values; `rows` of M for A, of N for B. Tracks the
// bytes once per chunk.
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

static Step execMma(Warp &w, const Inst &i) {
  const WgmmaOp &x = *static_cast<const WgmmaOp *>(i.aux);
  const MatrixOp &op = x.op;
  Block &block = *w.block;
  const unsigned first = w.index / 4 * 4;
  if (w.exec != ~0u)
    return w.fault(FaultKind::Divergence, i,
                   "wgmma needs all 32 lanes of each warp; lanes 0x" + Twine::utohexstr(~w.exec) +
                       " are elsewhere",
                   std::countr_zero(~w.exec));
  if (block.warps.size() < first + 4)
    return w.fault(FaultKind::Misuse, i, "wgmma needs a warpgroup of four whole warps", 0);
  if (!w.wgmmaFenced)
    return w.fault(FaultKind::Misuse, i,
                   "no wgmma.fence since the accumulators were last touched by other instructions",
                   0);
  WarpgroupMeeting &meeting = block.meetings[w.index / 4];
  if (meeting.arrived && meeting.inst != &i)
    return w.fault(FaultKind::Divergence, i, "other warps of the warpgroup are at another wgmma",
                   0);
  meeting.inst = &i;
  meeting.arrived |= 1u << (w.index - first);
  meeting.split[w.index - first] = w.current;
  if (meeting.arrived != 15) {
    w.save();
    w.splits[w.current].blocked = true;
    w.splits[w.current].meeting = true;
    w.enter(w.pick());
    return Step::Leave;
  }
  // All four are here.
  RaceDetector &races = block.shared.races;
  const unsigned agent = 2 * block.warps.size() + first / 4;
  for (unsigned k = 0; k < 4 && races.enabled(); ++k)
    races.join(agent, first + k);
  if (races.enabled())
    races.tick(agent);
  MatrixValues &v = matrixScratch();
  v.resize(op, 64);
  uint64_t a = 0, b = 0;
  if (!uniform64(w, x.descB, b) || (!x.aInRegisters && !uniform64(w, x.descA, a)))
    return w.fault(FaultKind::Misuse, i, "the matrix descriptor differs between the lanes", 0);
  if (!fetch(w, i, x, false, b, agent, v) ||
      (!x.aInRegisters && !fetch(w, i, x, true, a, agent, v)))
    return Step::Fault;
  const bool keep = w.pred(x.scaleD) & 1;
  auto forWarps = [&](auto &&body) {
    for (unsigned k = 0; k < 4; ++k) {
      Warp &other = *block.warps[first + k];
      // A blocked warp's frame is in its split.
      uint32_t *saved = other.base[0];
      if (&other != &w)
        other.base[0] = other.splits[meeting.split[k]].frame->regs.data();
      body(other, k);
      other.base[0] = saved;
    }
  };
  const unsigned perRow = op.n;
  auto accumulators = [&](Warp &other, unsigned k, bool load) {
    for (unsigned r = 0; r < op.dCount; ++r) {
      const unsigned packed = op.d == Element::F16 ? 2 : 1;
      for (unsigned l = 0; l < kLanes; ++l)
        for (unsigned e = 0; e < packed; ++e) {
          unsigned index = r * packed + e;
          unsigned row = 16 * k + l / 4 + 8 * (index / 2 % 2),
                   col = index / 4 * 8 + l % 4 * 2 + index % 2;
          size_t at = size_t(row) * perRow + col;
          uint32_t &word = other.lanes<uint32_t>(op.dRegs[r])[l];
          if (op.d == Element::S32) {
            if (load)
              v.ic[at] = keep ? int32_t(word) : 0;
            else
              word = uint32_t(v.ic[at]);
          } else if (op.d == Element::F32) {
            if (load)
              v.c[at] = keep ? std::bit_cast<float>(word) : 0.0f;
            else
              word = std::bit_cast<uint32_t>(v.c[at]);
          } else if (load) {
            v.c[at] = keep ? widenF16(uint16_t(word >> (16 * e))) : 0.0f;
          } else {
            uint32_t half = narrowF16(v.c[at]);
            word = e ? (word & 0xffff) | half << 16 : half;
          }
        }
    }
  };
  std::optional<BadMetadata> bad;
  forWarps([&](Warp &other, unsigned k) {
    accumulators(other, k, true);
    if (op.sparsity != Sparsity::None && !bad)
      bad = readMetadata(other.lanes<uint32_t>(op.metadata), op, 16 * k, v);
    if (!x.aInRegisters)
      return;
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
  });
  if (bad)
    return badMetadata(w, i, op, *bad);
  if (!multiply(w, i, op, v, 64))
    return Step::Fault;
  forWarps([&](Warp &other, unsigned k) {
    accumulators(other, k, false);
    for (unsigned r = 0; r < op.dCount; ++r)
      other.wgmmaOpen.registers.push_back(op.dRegs[r]);
    other.wgmmaOpen.agent = agent;
    other.wgmmaOpen.clock = races.enabled() ? races.own(agent) : 0;
    if (&other != &w)
      other.unblock(meeting.split[k]);
  });
  meeting = WarpgroupMeeting();
  ++block.progress;
  return Step::Next;
}

static Step execFence(Warp &w, const Inst &) {
  w.wgmmaFenced = true;
  return Step::Next;
}

static Step execCommit(Warp &w, const Inst &) {
  w.wgmmaGroups.push_back(std::move(w.wgmmaOpen));
  w.wgmmaOpen = AsyncGroup();
  return Step::Next;
}

static Step execWait(Warp &w, const Inst &i) {
  while (w.wgmmaGroups.size() > size_t(i.imm)) {
    AsyncGroup &g = w.wgmmaGroups.front();
    if (w.block->shared.races.enabled() && !g.registers.empty())
      w.block->shared.races.learn(w.index, g.agent, g.clock);
    w.wgmmaGroups.erase(w.wgmmaGroups.begin());
  }
  return Step::Next;
}

static bool immediateSign(Decoder &d, unsigned at, bool &negative) {
  int64_t v = 0;
  if (!d.constant(d.op(at), v))
    return false;
  negative = v == -1;
  return v == 1 || v == -1 || d.fail("an operand scale is 1 or -1");
}

static bool isWgmmaForm(const MatrixOp &op, bool sparse, bool bitAnd) {
  auto is = [&](Element e) { return op.a == e && op.b == e; };
  auto isFp8 = [](Element e) { return e == Element::E4M3 || e == Element::E5M2; };
  auto isInt8 = [](Element e) { return e == Element::S8 || e == Element::U8; };
  const bool fp8 = isFp8(op.a) && isFp8(op.b), int8 = isInt8(op.a) && isInt8(op.b);
  const bool half = is(Element::F16) || is(Element::BF16), b1 = is(Element::B1);
  const unsigned depth = half                ? 16
                         : is(Element::TF32) ? 8
                         : fp8 || int8       ? 32
                         : b1 && !sparse     ? 256
                                             : 0;
  if (op.m != 64 || !depth || op.storedK() != depth || b1 != bitAnd || (op.satfinite && !int8))
    return false;
  const bool wide = int8 || b1;
  if (op.n < 8 || op.n > 256 || op.n % 8 || (wide && op.n != 8 && op.n != 24 && op.n % 16))
    return false;
  return wide ? op.d == Element::S32
              : op.d == Element::F32 || (op.d == Element::F16 && (is(Element::F16) || fp8));
}

static void decodeMma(Decoder &d) {
  WgmmaOp x;
  MatrixOp &op = x.op;
  op.wgmma = true;
  const bool sparse = d.take("sp");
  bool fine = d.take("sync") && d.take("aligned");
  if (!takeShape(d, op.m, op.n, op.k))
    return;
  op.satfinite = d.take("satfinite");
  const bool bitAnd = d.take("and") && d.take("popc");
  op.bitAnd = bitAnd;
  Type td = d.takeType(), ta = d.takeType(), tb = d.takeType();
  if (d.failed())
    return;
  fine = fine && elementOf(td, op.d) && elementOf(ta, op.a) && elementOf(tb, op.b);
  op.c = op.d;
  if (sparse)
    op.sparsity = sparsityOf(op.a);
  if (!fine || !isWgmmaForm(op, sparse, bitAnd)) {
    d.unsupported();
    return;
  }
  if (d.numOps() < 4) {
    d.expectOps(4);
    return;
  }
  const bool ints = op.d == Element::S32, half = op.a == Element::F16 || op.a == Element::BF16;
  x.aInRegisters = d.op(1).kind == syntax::Operand::Vector;
  // D, A, B, metadata and selector, scale-d, signs, transpositions.
  const unsigned scale = sparse ? 5 : 3, extra = ints ? 0 : half ? (x.aInRegisters ? 3 : 4) : 2;
  if (!d.expectOps(scale + 1 + extra))
    return;
  auto list = [&](unsigned at, unsigned count, bool result) -> const Reg * {
    auto parts = d.elements(d.op(at));
    if (parts.size() != count) {
      d.fail("operand " + Twine(at + 1) + " has " + Twine(parts.size()) +
             " registers, the shape needs " + Twine(count));
      return nullptr;
    }
    llvm::SmallVector<Reg, 128> regs;
    for (const syntax::Operand &p : parts) {
      regs.push_back(result ? d.dst(p, Type::B32) : d.src(p, Type::B32));
      if (result)
        d.useAccumulator(regs.back());
    }
    return d.keepList(regs);
  };
  op.dCount = op.n / (op.d == Element::F16 ? 4 : 2);
  op.dRegs = list(0, op.dCount, true);
  if (x.aInRegisters)
    op.aRegs = list(1, 4, false);
  else
    x.descA = d.src(1, Type::B64);
  x.descB = d.src(2, Type::B64);
  if (sparse)
    decodeMetadata(d, 3, op);
  x.scaleD = d.pred(d.op(scale));
  if (!ints) {
    immediateSign(d, scale + 1, op.negateA);
    immediateSign(d, scale + 2, op.negateB);
  }
  if (half) {
    int64_t ta = 0, tb = 0;
    if (!x.aInRegisters)
      d.constant(d.op(scale + 3), ta);
    d.constant(d.op(scale + (x.aInRegisters ? 3 : 4)), tb);
    x.transA = ta, x.transB = tb;
  }
  d.out->aux = d.program.keep(x);
  d.out->fn = execMma;
}

static void decodeWgmma(Decoder &d) {
  d.requireTarget(90, 90, /*specific=*/true);
  if (d.take("mma_async"))
    return decodeMma(d);
  if (d.take("fence")) {
    if (d.take("sync") && d.take("aligned") && d.expectOps(0))
      d.out->fn = execFence;
  } else if (d.take("commit_group")) {
    if (d.take("sync") && d.take("aligned") && d.expectOps(0))
      d.out->fn = execCommit;
  } else if (d.take("wait_group")) {
    if (d.take("sync") && d.take("aligned") && d.expectOps(1) && d.constant(d.op(0), d.out->imm))
      d.out->fn = execWait;
  }
}

void mpcore::emulator::registerWgmmaOps(OpTable &table) { table["wgmma"] = decodeWgmma; }
