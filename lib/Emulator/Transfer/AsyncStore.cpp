// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// st.async and red.async: into shared memory of the cluster, with an mbarrier beside it that counts
// the bytes.

#include "Async.h"
#include "LoadStore.h"
#include "Reduction.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

namespace {
struct AsyncStore {
  AddressOperand address, mbarrier;
  Reg values[4];
  unsigned count = 1, bytes = 4; // of a value
  CombineFn combine = nullptr;
};
} // namespace

static bool storeLane(Warp &w, const Inst &i, const AsyncStore &op, unsigned l) {
  const uint64_t address = sharedAddress(addressOf(w, op.address, l));
  const uint32_t bytes = op.count * op.bytes;
  uint32_t at, barrier;
  Block *target = sharedBlock(w, i, address, false, l, at);
  Block *barBlock =
      target ? sharedBlock(w, i, sharedAddress(addressOf(w, op.mbarrier, l)), false, l, barrier)
             : nullptr;
  if (!barBlock)
    return false;
  if (target != barBlock) {
    w.fault(FaultKind::Misuse, i, "the address and its mbarrier lie in different blocks", l,
            "shared", address);
    return false;
  }
  if (at % bytes) {
    w.fault(FaultKind::Misaligned, i,
            "address 0x" + Twine::utohexstr(address) + " is no multiple of " + Twine(bytes), l,
            "shared", address);
    return false;
  }
  BulkCopy copy;
  copy.data.resize(bytes);
  for (unsigned k = 0; k < op.count; ++k) {
    if (op.bytes == 8)
      std::memcpy(copy.data.data() + 8 * k, &w.lanes<uint64_t>(op.values[k])[l], 8);
    else
      std::memcpy(copy.data.data() + 4 * k, &w.lanes<uint32_t>(op.values[k])[l], 4);
  }
  if (!op.combine) {
    copy.pieces.push_back({at, 0, bytes});
    return sendCopy(w, i, *target, barrier, std::move(copy), l);
  }
  // A reduction is done at once, as atomics are; its mbarrier hears of it later.
  if (!touchShared(w, i, *target, at, bytes, Access::Atomic, {w.asyncAgent(), l}))
    return false;
  op.combine(target->shared.data.data() + at, copy.data.data(), /*shared=*/true);
  return sendCopy(w, i, *target, barrier, std::move(copy), l);
}

static Step execStore(Warp &w, const Inst &i) {
  beginAsync(w, w.asyncAgent());
  const bool reverse = w.launch->options.reverse;
  for (uint32_t m = w.exec; m;) {
    const unsigned l = takeLane(m, reverse);
    if (!storeLane(w, i, *static_cast<const AsyncStore *>(i.aux), l))
      return Step::Fault;
  }
  return Step::Next;
}

// [address], values, [mbarrier] in .shared::cluster or generic memory, with
// .mbarrier::complete_tx::bytes.
static void decode(Decoder &d, AsyncStore op, Type type) {
  const MemSpace space = takeSpace(d);
  if (!d.take("mbarrier::complete_tx::bytes") ||
      (space != MemSpace::SharedCluster && space != MemSpace::Generic)) {
    d.fail(d.opcode().split('.').first +
           ".async without .shared::cluster and .mbarrier::complete_tx::bytes is not supported");
    return;
  }
  op.bytes = bitWidth(type) / 8;
  if (!d.expectOps(3) || !addressOperand(d, d.op(0), space, op.address) ||
      !addressOperand(d, d.op(2), space, op.mbarrier))
    return;
  auto values = d.elements(d.op(1));
  if (values.size() != op.count) {
    d.fail("expected " + Twine(op.count) + " elements, found " + Twine(values.size()));
    return;
  }
  for (unsigned k = 0; k < op.count; ++k)
    op.values[k] = d.src(values[k], type);
  if (!d.requireTarget(90, ~0u, false))
    return;
  d.noteSharedAccess(4, MemSpace::SharedCluster);
  d.out->aux = d.program.keep(op);
  d.out->fn = execStore;
}

void mpcore::emulator::decodeAsyncStore(Decoder &d) {
  AsyncStore op;
  d.take("weak");
  op.count = d.take("v2") ? 2 : d.take("v4") ? 4 : 1;
  const Type type = d.takeType();
  const unsigned bits = bitWidth(type);
  if (d.take("release") || d.take("relaxed") || d.take("mmio")) {
    d.fail("st.async without .shared::cluster and an mbarrier is not supported");
    return;
  }
  if (d.failed() || (bits != 32 && bits != 64) || (bits == 64 && op.count == 4) ||
      type == Type::F16x2 || type == Type::BF16x2 || type == Type::TF32) {
    d.unsupported();
    return;
  }
  decode(d, op, type);
}

void mpcore::emulator::decodeAsyncReduction(Decoder &d) {
  AsyncStore op;
  const bool relaxed = d.take("relaxed") && d.take("cluster");
  const std::optional<Rmw> rmw = takeRmw(d);
  const Type type = d.takeType();
  op.combine = rmw ? combineFor(type, *rmw) : nullptr;
  const bool fine = bitWidth(type) == 32 || (type == Type::U64 && rmw == Rmw::Add);
  if (d.failed() || !relaxed || !op.combine || !fine || isFloat(type)) {
    d.fail("red.async of this order, operation and type is not supported");
    return;
  }
  decode(d, op, type);
}
