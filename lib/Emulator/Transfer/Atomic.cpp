// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red on global, shared and generic memory. Lanes go one after the other, in lane order or
// reversed.

#include "Async.h"
#include "LoadStore.h"
#include "Reduction.h"

using namespace mpcore::emulator;

static bool inShared(MemSpace space, uint64_t address) {
  return space == MemSpace::Shared || space == MemSpace::SharedCluster ||
         (space == MemSpace::Generic && address >= kSharedWindow &&
          address < kSharedWindow + kWindowBytes);
}

/// Calls body(lane, its place, whether that is in shared memory) for each lane in turn, nobody else
/// at that place.
template <class F> static Step inTurn(Warp &w, const Inst &i, uint32_t bytes, F &&body) {
  uint64_t addresses[kLanes];
  uint8_t *pointers[kLanes];
  laneAddresses(w, i.a, i.imm, i.flags & kWideAddress, addresses);
  if (!resolveLanes(w, i, MemSpace(i.space), addresses, w.exec, bytes, Access::Atomic, pointers))
    return Step::Fault;
  const bool reverse = w.launch->options.reverse;
  for (uint32_t m = w.exec; m;) {
    unsigned l = takeLane(m, reverse);
    std::lock_guard<std::mutex> lock(atomicLock(pointers[l]));
    body(l, pointers[l], inShared(MemSpace(i.space), addresses[l]));
  }
  ++w.block->progress;
  return Step::Next;
}

template <class T, Rmw O> static Step execAtomic(Warp &w, const Inst &i) {
  using S = SlotOf<T>;
  S *d = w.lanes<S>(i.dst);
  const S *b = w.lanes<S>(i.b), *c = w.lanes<S>(i.c);
  return inTurn(w, i, sizeof(T), [&](unsigned l, uint8_t *at, bool shared) {
    T old;
    std::memcpy(&old, at, sizeof(T));
    T now = applyIn<T, O>(shared, old, fromSlot<T>(b[l]), fromSlot<T>(c[l]));
    std::memcpy(at, &now, sizeof(T));
    d[l] = toSlot<T>(old);
  });
}

// Vectors and pairs: elementwise, each element atomic by itself.
template <class T, Rmw O> static Step execVector(Warp &w, const Inst &i) {
  const unsigned n = i.count, perRegister = sizeof(T) == 2 && i.size == 4 ? 2 : 1;
  return inTurn(w, i, i.size * n, [&](unsigned l, uint8_t *place, bool shared) {
    for (unsigned k = 0; k < n; ++k) {
      uint32_t source = w.lanes<uint32_t>(i.list[2 * k + 1])[l], result = 0;
      for (unsigned e = 0; e < perRegister; ++e) {
        T old, add = std::bit_cast<T>(
                   static_cast<std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>>(source >>
                                                                                       (16 * e)));
        uint8_t *at = place + k * i.size + e * sizeof(T);
        std::memcpy(&old, at, sizeof(T));
        T now = applyIn<T, O>(shared, old, add, add);
        std::memcpy(at, &now, sizeof(T));
        result |= toSlot<T>(old) << (16 * e);
      }
      w.lanes<uint32_t>(i.list[2 * k])[l] = result;
    }
  });
}

template <class T> static ExecFn vectorOp(Rmw op) {
  return op == Rmw::Add   ? execVector<T, Rmw::Add>
         : op == Rmw::Min ? execVector<T, Rmw::Min>
                          : execVector<T, Rmw::Max>;
}

// exch and cas of 128 bits.
template <Rmw O> static Step execAtomic128(Warp &w, const Inst &i) {
  uint64_t *d = w.lanes<uint64_t>(i.dst);
  const uint64_t *b = w.lanes<uint64_t>(i.b), *c = w.lanes<uint64_t>(i.c);
  return inTurn(w, i, 16, [&](unsigned l, uint8_t *at, bool) {
    uint64_t old[2];
    std::memcpy(old, at, 16);
    if (O == Rmw::Exch)
      std::memcpy(at, b + 2 * l, 16);
    else if (std::memcmp(old, b + 2 * l, 16) == 0)
      std::memcpy(at, c + 2 * l, 16);
    std::memcpy(d + 2 * l, old, 16);
  });
}

template <class T> static ExecFn integerOp(Rmw op) {
  switch (op) {
  case Rmw::Add: return execAtomic<T, Rmw::Add>;
  case Rmw::Min: return execAtomic<T, Rmw::Min>;
  case Rmw::Max: return execAtomic<T, Rmw::Max>;
  default: return nullptr;
  }
}
template <class T> static ExecFn bitsOp(Rmw op) {
  switch (op) {
  case Rmw::And: return execAtomic<T, Rmw::And>;
  case Rmw::Or: return execAtomic<T, Rmw::Or>;
  case Rmw::Xor: return execAtomic<T, Rmw::Xor>;
  case Rmw::Cas: return execAtomic<T, Rmw::Cas>;
  case Rmw::Exch: return execAtomic<T, Rmw::Exch>;
  default: return nullptr;
  }
}

static ExecFn pick(Type t, Rmw op) {
  switch (t) {
  case Type::B32: return bitsOp<uint32_t>(op);
  case Type::B64: return bitsOp<uint64_t>(op);
  case Type::B128:
    return op == Rmw::Cas    ? execAtomic128<Rmw::Cas>
           : op == Rmw::Exch ? execAtomic128<Rmw::Exch>
                             : nullptr;
  case Type::B16: return op == Rmw::Cas ? execAtomic<uint16_t, Rmw::Cas> : nullptr;
  case Type::U32:
    return op == Rmw::Inc   ? execAtomic<uint32_t, Rmw::Inc>
           : op == Rmw::Dec ? execAtomic<uint32_t, Rmw::Dec>
                            : integerOp<uint32_t>(op);
  case Type::S32: return op == Rmw::Add ? integerOp<uint32_t>(op) : integerOp<int32_t>(op);
  case Type::U64: return integerOp<uint64_t>(op);
  case Type::S64: return op == Rmw::Add ? nullptr : integerOp<int64_t>(op);
  case Type::F32: return op == Rmw::Add ? execAtomic<float, Rmw::Add> : nullptr;
  case Type::F64: return op == Rmw::Add ? execAtomic<double, Rmw::Add> : nullptr;
  default: return nullptr;
  }
}

static void decodeAtomic(Decoder &d, bool result) {
  MemSpace space = takeSpace(d);
  // No order needs a scope here, nor a scope an order.
  if (!d.take("relaxed") && !d.take("release") && result && !d.take("acquire"))
    d.take("acq_rel");
  takeScope(d);
  bool noftz = d.take("noftz"), hint = d.take("L2::cache_hint");
  unsigned n = d.take("v2") ? 2 : d.take("v4") ? 4 : d.take("v8") ? 8 : 1;
  const std::optional<Rmw> op = takeRmw(d);
  Type t = d.takeType();
  if (d.failed())
    return;
  const bool cas = op && *op == Rmw::Cas;
  const unsigned at = result ? 1 : 0;
  if (!d.expectOps(at + 2 + cas + hint))
    return;
  if (!op ||
      (space != MemSpace::Global && space != MemSpace::Shared && space != MemSpace::Generic &&
       space != MemSpace::SharedCluster) ||
      (!result && (cas || *op == Rmw::Exch))) {
    d.unsupported();
    return;
  }
  if (!d.address(d.op(at), space))
    return;
  if (hint)
    d.src(at + 2 + cas, Type::B64);
  d.out->space = uint8_t(space);
  d.noteSharedAccess(std::min(4u, bitWidth(t) / 8), space);
  const bool half = t == Type::F16 || t == Type::BF16 || t == Type::F16x2 || t == Type::BF16x2;
  if (half || n > 1) {
    const bool extremum = half && n > 1 && (*op == Rmw::Min || *op == Rmw::Max);
    const bool global = space == MemSpace::Global || space == MemSpace::Generic;
    if (!(*op == Rmw::Add || extremum) || half != noftz || !(half || t == Type::F32) ||
        (n > 1 && !global) || n * bitWidth(t) > 128) {
      d.unsupported();
      return;
    }
    auto sources = d.elements(d.op(at + 1));
    if (sources.size() != n || (result && d.elements(d.op(0)).size() != n)) {
      d.fail("wrong number of elements");
      return;
    }
    llvm::SmallVector<Reg, 16> regs;
    for (unsigned k = 0; k < n; ++k) {
      regs.push_back(result ? d.dst(d.elements(d.op(0))[k], t) : d.scratch(kLanes));
      regs.push_back(d.src(sources[k], t));
    }
    d.out->list = d.keepList(regs);
    d.out->count = n;
    d.out->size = bitWidth(t) / 8;
    d.out->fn = t == Type::F32                       ? execVector<float, Rmw::Add>
                : t == Type::F16 || t == Type::F16x2 ? vectorOp<F16Bits>(*op)
                                                     : vectorOp<BF16Bits>(*op);
    if (n > 1)
      d.requireTarget(90, ~0u, false);
    return;
  }
  if (noftz || (hint && space != MemSpace::Global && space != MemSpace::Generic)) {
    d.unsupported();
    return;
  }
  if (t == Type::B128 && !d.requireTarget(90, ~0u, false))
    return;
  d.out->dst = result ? d.dst(0, t) : d.scratch(2 * kLanes);
  d.out->b = d.src(at + 1, t);
  d.out->c = cas ? d.src(at + 2, t) : d.out->b;
  d.out->fn = pick(t, *op);
}

static void decodeAtom(Decoder &d) { decodeAtomic(d, true); }
static void decodeRed(Decoder &d) {
  if (d.take("async"))
    return decodeAsyncReduction(d);
  decodeAtomic(d, false);
}

void mpcore::emulator::registerAtomicOps(OpTable &table) {
  table["atom"] = decodeAtom;
  table["red"] = decodeRed;
}
