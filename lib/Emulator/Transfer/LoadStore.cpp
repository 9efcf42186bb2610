// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld, ldu and st of every space, width and vector length.

#include "LoadStore.h"
#include "Async.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;

MemSpace mpcore::emulator::takeSpace(Decoder &d) {
  if (d.take("global"))
    return MemSpace::Global;
  if (d.take("shared") || d.take("shared::cta"))
    return MemSpace::Shared;
  if (d.take("shared::cluster"))
    return MemSpace::SharedCluster;
  if (d.take("local"))
    return MemSpace::Local;
  if (d.take("param") || d.take("param::entry") || d.take("param::func"))
    return MemSpace::Param;
  if (d.take("const"))
    return MemSpace::Const;
  return MemSpace::Generic;
}

bool mpcore::emulator::takeScope(Decoder &d) {
  return d.take("cta") || d.take("cluster") || d.take("gpu") || d.take("sys");
}

namespace {
/// The modifiers between the opcode and the type.
struct AccessForm {
  MemSpace space = MemSpace::Generic;
  bool ordered = false, isVolatile = false, nonCoherent = false;
  bool cop = false, evict = false, evictL2 = false, prefetch = false, hint = false;
};
} // namespace

static bool takeAny(Decoder &d, std::initializer_list<const char *> words) {
  for (const char *word : words)
    if (d.take(word))
      return true;
  return false;
}

static bool takeAccessForm(Decoder &d, bool load, AccessForm &f) {
  f.space = takeSpace(d);
  f.isVolatile = d.take("volatile");
  f.ordered = f.isVolatile;
  if (!f.ordered && (d.take("relaxed") || d.take(load ? "acquire" : "release"))) {
    f.ordered = true;
    if (!takeScope(d))
      return d.fail("expected a scope among the modifiers: .cta, .cluster, .gpu or .sys");
  }
  if (f.ordered)
    d.out->flags |= kOrderedAccess;
  else
    d.take("weak");
  f.nonCoherent = load && d.take("nc");
  f.cop = load ? takeAny(d, {"ca", "cg", "cs", "lu", "cv"}) : takeAny(d, {"wb", "cg", "cs", "wt"});
  f.evict = takeAny(d, {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                        "L1::evict_last", "L1::no_allocate"});
  f.evictL2 = takeAny(d, {"L2::evict_last", "L2::evict_normal", "L2::evict_first"});
  f.prefetch = load && takeAny(d, {"L2::64B", "L2::128B", "L2::256B"});
  f.hint = d.take("L2::cache_hint");
  const bool global = f.space == MemSpace::Global || f.space == MemSpace::Generic;
  const bool shared = f.space == MemSpace::Shared || f.space == MemSpace::SharedCluster;
  bool fine = !f.ordered || global || shared;
  fine = fine && (!f.cop || !f.ordered) &&
         (!f.nonCoherent || (f.space == MemSpace::Global && !f.ordered));
  fine = fine && (!(f.evict || f.hint || f.evictL2) || (global && !f.isVolatile)) &&
         (!f.prefetch || global);
  return fine || d.unsupported();
}

/// Finds where each lane's `bytes` lie; false after a fault.
static bool resolve(Warp &w, const Inst &i, uint32_t bytes, Access access, uint8_t **pointers) {
  uint64_t addresses[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, addresses);
  return resolveLanes(w, i, MemSpace(i.space), addresses, w.exec, bytes, access, pointers);
}

// T: the element in memory, S: the register's slot.
template <class T, class S> static Step execLoad(Warp &w, const Inst &i) {
  uint8_t *pointers[kLanes];
  const unsigned n = i.count;
  if (!resolve(w, i, sizeof(T) * n, Access::Read, pointers))
    return Step::Fault;
  if (n == 1) {
    S *d = w.lanes<S>(i.dst);
    for (uint32_t m = w.exec; m; m &= m - 1) {
      unsigned l = std::countr_zero(m);
      T v;
      std::memcpy(&v, pointers[l], sizeof(T));
      d[l] = S(v); // signed types extend
    }
    return Step::Next;
  }
  for (unsigned k = 0; k < n; ++k) {
    S *d = w.lanes<S>(i.list[k]);
    for (uint32_t m = w.exec; m; m &= m - 1) {
      unsigned l = std::countr_zero(m);
      T v;
      std::memcpy(&v, pointers[l] + k * sizeof(T), sizeof(T));
      d[l] = S(v);
    }
  }
  return Step::Next;
}

template <class T, class S> static Step execStore(Warp &w, const Inst &i) {
  uint8_t *pointers[kLanes];
  const unsigned n = i.count;
  if (!resolve(w, i, sizeof(T) * n, Access::Write, pointers))
    return Step::Fault;
  // Lanes that store to one place: the last one wins, the first in reverse mode.
  const bool reverse = w.launch->options.reverse;
  for (unsigned k = 0; k < n; ++k) {
    const S *s = w.lanes<S>(n == 1 ? i.dst : i.list[k]);
    for (uint32_t m = w.exec; m;) {
      unsigned l = takeLane(m, reverse);
      T v = T(s[l]);
      std::memcpy(pointers[l] + k * sizeof(T), &v, sizeof(T));
    }
  }
  return Step::Next;
}

template <bool Load> static Step exec128(Warp &w, const Inst &i) {
  uint8_t *pointers[kLanes];
  if (!resolve(w, i, 16, Load ? Access::Read : Access::Write, pointers))
    return Step::Fault;
  uint64_t *d = w.lanes<uint64_t>(i.dst);
  forLanes(w.exec, [&](unsigned l) {
    if (Load)
      std::memcpy(d + 2 * l, pointers[l], 16);
    else
      std::memcpy(pointers[l], d + 2 * l, 16);
  });
  return Step::Next;
}

static ExecFn loadFor(Type t, bool wide) {
  switch (t) {
  case Type::S8: return wide ? execLoad<int8_t, uint64_t> : execLoad<int8_t, uint32_t>;
  case Type::S16: return wide ? execLoad<int16_t, uint64_t> : execLoad<int16_t, uint32_t>;
  case Type::S32: return wide ? execLoad<int32_t, uint64_t> : execLoad<int32_t, uint32_t>;
  default: break;
  }
  switch (bitWidth(t)) {
  case 8: return wide ? execLoad<uint8_t, uint64_t> : execLoad<uint8_t, uint32_t>;
  case 16: return wide ? execLoad<uint16_t, uint64_t> : execLoad<uint16_t, uint32_t>;
  case 32: return wide ? execLoad<uint32_t, uint64_t> : execLoad<uint32_t, uint32_t>;
  case 64: return wide ? execLoad<uint64_t, uint64_t> : nullptr;
  case 128: return exec128<true>;
  default: return nullptr;
  }
}

static ExecFn storeFor(Type t, bool wide) {
  switch (bitWidth(t)) {
  case 8: return wide ? execStore<uint8_t, uint64_t> : execStore<uint8_t, uint32_t>;
  case 16: return wide ? execStore<uint16_t, uint64_t> : execStore<uint16_t, uint32_t>;
  case 32: return wide ? execStore<uint32_t, uint64_t> : execStore<uint32_t, uint32_t>;
  case 64: return wide ? execStore<uint64_t, uint64_t> : nullptr;
  case 128: return exec128<false>;
  default: return nullptr;
  }
}

// A signed load into a 16-bit register leaves bits above it set; later reads take the low 16 only.

static void decodeLoadStore(Decoder &d, bool load) {
  AccessForm form;
  if (!takeAccessForm(d, load, form))
    return;
  MemSpace space = form.space;
  unsigned n = d.take("v2") ? 2 : d.take("v4") ? 4 : d.take("v8") ? 8 : 1;
  Type t = d.takeType();
  unsigned bytes = bitWidth(t) / 8;
  if (d.failed() || !d.expectOps(form.hint ? 3 : 2))
    return;
  if (form.hint)
    d.src(2, Type::B64);
  const bool isHalf = t == Type::F16 || t == Type::BF16 || t == Type::F16x2 || t == Type::BF16x2;
  const bool widest = bytes * n == 32,
             global = space == MemSpace::Global || space == MemSpace::Generic;
  if (bytes == 0 || isHalf || bytes * n > 32 || (n > 1 && bytes == 16) || (n == 8 && bytes != 4) ||
      (widest && !global) || (form.evictL2 && !widest) || (!load && space == MemSpace::Const)) {
    d.unsupported();
    return;
  }
  if (widest && !d.requireTarget(100, ~0u, false))
    return;
  const syntax::Operand &data = d.op(load ? 0 : 1);
  if (!d.address(d.op(load ? 1 : 0), space))
    return;
  d.out->space = uint8_t(space);
  d.out->size = bytes;
  d.out->count = n;
  d.noteSharedAccess(bytes * n >= 4 ? 4 : bytes * n, space);
  llvm::ArrayRef<syntax::Operand> parts = d.elements(data);
  if (parts.size() != n) {
    d.fail("expected " + llvm::Twine(n) + " elements, found " + llvm::Twine(parts.size()));
    return;
  }
  llvm::SmallVector<Reg, 8> regs;
  bool wide = bytes == 8;
  for (const syntax::Operand &part : parts) {
    regs.push_back(load ? d.dst(part, t, true)
                   : part.kind == syntax::Operand::Integer && isFloat(t)
                       ? d.src(part, bytes == 8   ? Type::B64
                                     : bytes == 4 ? Type::B32
                                                  : Type::B16)
                       : d.src(part, t, true));
    unsigned bits = d.regBits(part);
    bool partWide = bits ? bits == 64 : bytes == 8;
    // A sink or constant takes the width of the others.
    if (bits && partWide != wide && &part != &parts[0]) {
      d.fail("a register of " + llvm::Twine(bits) + " bits behind one of " +
             llvm::Twine(wide ? "64" : "less than 64") + ": elements need registers of one width");
      return;
    }
    if (bits)
      wide = partWide;
  }
  if (wide && bytes < 8)
    for (const syntax::Operand &part : parts)
      if (!d.regBits(part)) {
        d.fail("elements of " + llvm::Twine(8 * bytes) +
               " bits in 64-bit registers: the others have to be registers, too");
        return;
      }
  d.out->dst = regs[0];
  if (n > 1)
    d.out->list = d.keepList(regs);
  d.out->flags |= load ? 0 : kRegisterStore | (wide ? kWideData : 0);
  d.out->fn = load ? loadFor(t, wide) : storeFor(t, wide);
}

static void decodeLd(Decoder &d) { decodeLoadStore(d, true); }
static void decodeLdu(Decoder &d) {
  for (llvm::StringRef mod : d.restMods())
    if (mod != "global" && mod != "v2" && mod != "v4" && !parseType(mod)) {
      d.unsupported();
      return;
    }
  decodeLoadStore(d, true);
}
static void decodeSt(Decoder &d) {
  if (d.take("async"))
    decodeAsyncStore(d);
  else
    decodeLoadStore(d, false);
}

void mpcore::emulator::registerMemoryOps(OpTable &table) {
  table["ld"] = decodeLd;
  table["ldu"] = decodeLdu;
  table["st"] = decodeSt;
}
