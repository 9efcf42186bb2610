// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mov (with packing and unpacking), cvta, isspacep, selp, slct, prefetches and hints that change no
// value.

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;
using syntax::Operand;

template <class T> static Step execMov(Warp &w, const Inst &i) {
  T *d = w.lanes<T>(i.dst);
  const T *a = w.lanes<T>(i.a);
  forLanes(w.exec, [&](unsigned l) { d[l] = a[l]; });
  return Step::Next;
}

static Step execMov128(Warp &w, const Inst &i) {
  uint64_t *d = w.lanes<uint64_t>(i.dst);
  const uint64_t *a = w.lanes<uint64_t>(i.a);
  forLanes(w.exec, [&](unsigned l) { d[2 * l] = a[2 * l], d[2 * l + 1] = a[2 * l + 1]; });
  return Step::Next;
}

static Step execMovPred(Warp &w, const Inst &i) {
  setPred(w, i.dst, w.pred(i.a));
  return Step::Next;
}

template <class T> static Step execAddImm(Warp &w, const Inst &i) { // address of a local variable
  T *d = w.lanes<T>(i.dst);
  const uint64_t *a = w.lanes<uint64_t>(i.a);
  forLanes(w.exec, [&](unsigned l) { d[l] = T(a[l] + i.imm); });
  return Step::Next;
}

static Step execClock(Warp &w, const Inst &i) {
  uint32_t *d = w.lanes<uint32_t>(i.dst);
  uint32_t now = uint32_t(w.block->instructions);
  forLanes(w.exec, [&](unsigned l) { d[l] = now; });
  return Step::Next;
}

static Step execClock64(Warp &w, const Inst &i) {
  uint64_t *d = w.lanes<uint64_t>(i.dst);
  uint64_t now = w.block->instructions;
  forLanes(w.exec, [&](unsigned l) { d[l] = now; });
  return Step::Next;
}

// One wide register and count narrow ones of size bytes.
static uint64_t readSlot(Warp &w, Reg r, unsigned bytes, unsigned l) {
  return bytes > 4 ? w.lanes<uint64_t>(r)[l] : w.lanes<uint32_t>(r)[l];
}

static Step execPack(Warp &w, const Inst &i) {
  const unsigned bytes = i.size, total = bytes * i.count;
  forLanes(w.exec, [&](unsigned l) {
    uint64_t words[2] = {0, 0};
    for (unsigned k = 0; k < i.count; ++k) {
      uint64_t v = readSlot(w, i.list[k], bytes, l);
      if (bytes < 8)
        v &= (uint64_t(1) << (8 * bytes)) - 1;
      words[k * bytes / 8] |= v << (8 * (k * bytes % 8));
    }
    if (total > 8) {
      w.lanes<uint64_t>(i.dst)[2 * l] = words[0];
      w.lanes<uint64_t>(i.dst)[2 * l + 1] = words[1];
    } else if (total > 4) {
      w.lanes<uint64_t>(i.dst)[l] = words[0];
    } else {
      w.lanes<uint32_t>(i.dst)[l] = uint32_t(words[0]);
    }
  });
  return Step::Next;
}

static Step execUnpack(Warp &w, const Inst &i) {
  const unsigned bytes = i.size, total = bytes * i.count;
  forLanes(w.exec, [&](unsigned l) {
    uint64_t words[2] = {0, 0};
    if (total > 8) {
      words[0] = w.lanes<uint64_t>(i.a)[2 * l];
      words[1] = w.lanes<uint64_t>(i.a)[2 * l + 1];
    } else {
      words[0] = readSlot(w, i.a, total, l);
    }
    for (unsigned k = 0; k < i.count; ++k) {
      uint64_t v = words[k * bytes / 8] >> (8 * (k * bytes % 8));
      if (bytes > 4)
        w.lanes<uint64_t>(i.list[k])[l] = v;
      else
        w.lanes<uint32_t>(i.list[k])[l] = uint32_t(bytes == 4 ? v : v & ((1u << (8 * bytes)) - 1));
    }
  });
  return Step::Next;
}

static Type bitsOf(unsigned bits) {
  switch (bits) {
  case 8: return Type::B8;
  case 16: return Type::B16;
  case 32: return Type::B32;
  case 64: return Type::B64;
  default: return Type::B128;
  }
}

static void decodePacking(Decoder &d, Type type, bool pack) {
  const Operand &vector = d.op(pack ? 1 : 0);
  unsigned count = vector.parts.size(), bits = bitWidth(type);
  if (count < 2 || bits % count || (bits / count) < 8) {
    d.fail("cannot split " + Twine(bits) + " bits into " + Twine(count));
    return;
  }
  Type part = bitsOf(bits / count);
  llvm::SmallVector<Reg, 4> regs;
  for (const Operand &p : vector.parts)
    regs.push_back(pack ? d.src(p, part) : d.dst(p, part));
  d.out->list = d.keepList(regs);
  d.out->count = count;
  d.out->size = bits / count / 8;
  if (pack) {
    d.out->dst = d.dst(0, type);
    d.out->fn = execPack;
  } else {
    d.out->a = d.src(1, type);
    d.out->fn = execUnpack;
  }
}

static void decodeMov(Decoder &d) {
  Type type = d.takeType();
  if (d.failed() || !d.expectOps(2))
    return;
  Inst &i = *d.out;
  if (type == Type::Pred) {
    i.dst = d.predDst(d.op(0));
    i.a = d.pred(d.op(1));
    i.fn = execMovPred;
    return;
  }
  if (d.op(1).kind == Operand::Vector)
    return decodePacking(d, type, true);
  if (d.op(0).kind == Operand::Vector)
    return decodePacking(d, type, false);
  unsigned bits = bitWidth(type);
  i.dst = d.dst(0, type);
  if (d.op(1).kind == Operand::Name) {
    llvm::StringRef name = d.op(1).name;
    if (name == "%clock" || name == "%clock_hi" || name == "%globaltimer_lo") {
      i.fn = bits == 32 ? execClock : nullptr;
      return;
    }
    if (name == "%clock64" || name == "%globaltimer") {
      i.fn = bits == 64 ? execClock64 : nullptr;
      return;
    }
    Decoder::Resolved r = d.resolve(name);
    if (r.kind == Decoder::Resolved::Variable || r.kind == Decoder::Resolved::Function) {
      if (r.address == ~uint64_t(0)) {
        d.fail("'" + name + "' has no place: an extern shared array in a device function");
        return;
      }
      int64_t value = int64_t(r.address) + d.op(1).offset;
      if (r.kind == Decoder::Resolved::Variable && r.space == MemSpace::Local) {
        i.a = Reg::make(Base::Frame, kFrameLocalBase);
        i.imm = value;
        i.fn = bits == 64 ? execAddImm<uint64_t> : bits == 32 ? execAddImm<uint32_t> : nullptr;
        return;
      }
      if (bits == 32 && r.space != MemSpace::Shared && r.space != MemSpace::Param) {
        d.fail("the address of '" + name + "' needs 64 bits");
        return;
      }
      i.a = bits == 64 ? d.constant64(value) : d.constant32(value);
      i.fn = bits == 64 ? execMov<uint64_t> : bits == 32 ? execMov<uint32_t> : nullptr;
      return;
    }
  }
  i.a = d.src(1, type);
  i.fn = bits == 128 ? execMov128 : bits == 64 ? execMov<uint64_t> : execMov<uint32_t>;
}

/// The first generic address of a space.
static uint64_t windowOf(Decoder &d) {
  if (d.take("shared") || d.take("shared::cta") || d.take("shared::cluster"))
    return kSharedWindow;
  if (d.take("local"))
    return kLocalWindow;
  if (d.take("param") || d.take("param::entry"))
    return kParamWindow;
  d.take("global"), d.take("const"); // Forms.cpp lists no other space
  return 0;
}

static Step execCvta(Warp &w, const Inst &i) {
  uint64_t *d = w.lanes<uint64_t>(i.dst);
  const uint64_t *a = w.lanes<uint64_t>(i.a);
  forLanes(w.exec, [&](unsigned l) { d[l] = a[l] + i.imm; });
  return Step::Next;
}

static Step execCvtaTo(Warp &w, const Inst &i) {
  uint64_t *d = w.lanes<uint64_t>(i.dst);
  const uint64_t *a = w.lanes<uint64_t>(i.a);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    if (i.imm ? a[l] - uint64_t(i.imm) >= kWindowBytes
              : a[l] >= kSharedWindow && a[l] < kFunctionWindow)
      return w.fault(FaultKind::Misuse, i, "the generic address points into another state space", l,
                     "generic", a[l]);
    d[l] = a[l] - i.imm;
  }
  return Step::Next;
}

static void decodeCvta(Decoder &d) {
  bool to = d.take("to");
  d.out->imm = int64_t(windowOf(d));
  d.takeType();
  d.out->dst = d.dst(0, Type::U64);
  if (d.numOps() == 2 && d.op(1).kind == Operand::Name) {
    Decoder::Resolved r = d.resolve(d.op(1).name);
    if (r.kind == Decoder::Resolved::Variable && !to && r.space != MemSpace::Local) {
      d.out->a = d.constant64(r.address + d.op(1).offset);
      d.out->fn = execCvta;
      return;
    }
  }
  d.out->a = d.src(1, Type::U64);
  d.out->fn = to ? execCvtaTo : execCvta;
}

static Step execIsspacep(Warp &w, const Inst &i) {
  const uint64_t *a = w.lanes<uint64_t>(i.a);
  uint64_t window = i.imm;
  setPred(w, i.dst, laneMask([&](unsigned l) {
            return window ? a[l] - window < kWindowBytes
                          : a[l] < kSharedWindow || a[l] >= kFunctionWindow;
          }));
  return Step::Next;
}

static void decodeIsspacep(Decoder &d) {
  d.out->imm = int64_t(windowOf(d));
  if (!d.expectOps(2))
    return;
  d.out->dst = d.predDst(d.op(0));
  d.out->a = d.src(1, Type::U64);
  d.out->fn = execIsspacep;
}

static Step execHint(Warp &, const Inst &) { return Step::Next; }

// prefetch, prefetchu and applypriority: hints about caches, without a value.
static void decodeHint(Decoder &d) {
  const bool sized = d.opcode().starts_with("applypriority");
  MemSpace space = d.take("local")    ? MemSpace::Local
                   : d.take("global") ? MemSpace::Global
                                      : MemSpace::Generic;
  d.dropMods();
  int64_t bytes = 128;
  if (!d.expectOps(sized ? 2 : 1) || !d.address(d.op(0), space) ||
      (sized && !d.constant(d.op(1), bytes)))
    return;
  if (bytes != 128)
    d.fail("a priority is for 128 bytes, found " + Twine(bytes));
  d.out->fn = execHint;
}

// Policies say how long lines stay in a cache, which is not modelled.
static void decodeCreatepolicy(Decoder &d) {
  const bool range = d.take("range"), fractional = d.take("fractional");
  d.dropMods();
  MemSpace space = MemSpace::Generic;
  if (!(range        ? d.expectOps(4) && d.address(d.op(1), space)
        : fractional ? d.expectOps(1, 2)
                     : d.expectOps(2)))
    return;
  if (range)
    d.src(2, Type::U32), d.src(3, Type::U32);
  else if (d.numOps() == 2)
    d.src(1, fractional ? Type::F32 : Type::B64);
  d.out->dst = d.dst(0, Type::B64);
  d.out->a = d.constant64(0);
  d.out->fn = execMov<uint64_t>;
}

template <class T> static Step execSelp(Warp &w, const Inst &i) {
  T *d = w.lanes<T>(i.dst);
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  uint32_t p = w.pred(i.c);
  forLanes(w.exec, [&](unsigned l) { d[l] = (p >> l & 1) ? a[l] : b[l]; });
  return Step::Next;
}

static void decodeSelp(Decoder &d) {
  const Type type = d.takeType();
  if (!d.expectOps(4))
    return;
  d.out->dst = d.dst(0, type);
  d.out->a = d.src(1, type);
  d.out->b = d.src(2, type);
  d.out->c = d.pred(d.op(3));
  d.out->fn = bitWidth(type) == 64 ? execSelp<uint64_t> : execSelp<uint32_t>;
}

template <class T, class C> static Step execSlct(Warp &w, const Inst &i) {
  T *d = w.lanes<T>(i.dst);
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  const uint32_t *c = w.lanes<uint32_t>(i.c);
  // NaN selects b; -0 selects a, and with .ftz (imm) so do negative subnormals.
  const C least = std::is_floating_point_v<C> && i.imm ? C(-0x1.fffffcp-127f) : C(0);
  forLanes(w.exec, [&](unsigned l) { d[l] = fromSlot<C>(c[l]) >= least ? a[l] : b[l]; });
  return Step::Next;
}

static void decodeSlct(Decoder &d) {
  const bool ftz = d.take("ftz");
  const Type type = d.takeType(), control = d.takeType();
  const unsigned bits = bitWidth(type);
  if (!d.operands(type, {type, type, control}))
    return;
  d.out->imm = ftz;
  if (control == Type::S32)
    d.out->fn = bits == 64 ? execSlct<uint64_t, int32_t> : execSlct<uint32_t, int32_t>;
  else
    d.out->fn = bits == 64 ? execSlct<uint64_t, float> : execSlct<uint32_t, float>;
}

void mpcore::emulator::registerMoveOps(OpTable &table) {
  table["mov"] = decodeMov;
  table["cvta"] = decodeCvta;
  table["isspacep"] = decodeIsspacep;
  table["selp"] = decodeSelp;
  table["slct"] = decodeSlct;
  table["prefetch"] = decodeHint;
  table["prefetchu"] = decodeHint;
  table["applypriority"] = decodeHint;
  table["createpolicy"] = decodeCreatepolicy;
}
