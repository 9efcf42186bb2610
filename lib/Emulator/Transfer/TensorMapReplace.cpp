// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensormap.replace and tensormap.cp_fenceproxy (sm_90a and its like): kernels that fit a tensor
// map to their own problem.

#include "Async.h"
#include "LoadStore.h"
#include "mp/Emulator/TensorMap.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;
using Field = TensorMapField;

namespace {
struct ReplaceOp {
  AddressOperand map;
  MemSpace space = MemSpace::Generic;
  Field field = Field::Rank;
  unsigned dim = 0;
  Reg value;
  bool wide = false;
};
struct TensorMapCopyOp {
  AddressOperand to, from;
};

struct FieldForm {
  const char *name;
  Field field;
  bool wide, ordered;
  int64_t most; // of a field that takes a constant; -1 for others
};
} // namespace

static const FieldForm forms[] = {{"global_address", Field::Address, true, false, -1},
                                  {"global_stride", Field::Stride, true, true, -1},
                                  {"rank", Field::Rank, false, false, -1},
                                  {"box_dim", Field::Box, false, true, -1},
                                  {"global_dim", Field::Dim, false, true, -1},
                                  {"element_stride", Field::ElementStride, false, true, -1},
                                  {"elemtype", Field::ElementType, false, false, 15},
                                  {"interleave_layout", Field::Interleave, false, false, 2},
                                  {"swizzle_mode", Field::Swizzle, false, false, 4},
                                  {"fill_mode", Field::Fill, false, false, 1}};

/// The 128 bytes at the address of a lane, which is in shared memory of the block or in global
/// memory; null after a fault.
static uint8_t *bytesAt(Warp &w, const Inst &i, uint64_t address, MemSpace space, Access access,
                        unsigned lane) {
  if (address % 128) {
    w.fault(FaultKind::Misaligned, i, "a tensor map's address is a multiple of 128", lane,
            "generic", address);
    return nullptr;
  }
  if (space == MemSpace::Shared || address - kSharedWindow < kWindowBytes) {
    uint32_t offset;
    Block *owner = sharedBlock(w, i, sharedAddress(address), /*ownOnly=*/true, lane, offset);
    return owner && touchShared(w, i, *owner, offset, 128, access, {w.index, lane})
               ? owner->shared.data.data() + offset
               : nullptr;
  }
  uint8_t *bytes;
  return resolveGlobal(w, i, address, 128, access, lane, bytes) ? bytes : nullptr;
}

static Step execReplace(Warp &w, const Inst &i) {
  const ReplaceOp &op = *static_cast<const ReplaceOp *>(i.aux);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    const unsigned l = std::countr_zero(m);
    const uint64_t value =
                       op.wide ? w.lanes<uint64_t>(op.value)[l] : w.lanes<uint32_t>(op.value)[l],
                   at = addressOf(w, op.map, l);
    uint8_t *bytes = bytesAt(w, i, at, op.space, Access::Read, l);
    if (!bytes || !bytesAt(w, i, at, op.space, Access::Write, l))
      return Step::Fault;
    if (const char *wrong = replaceField(bytes, op.field, op.dim, value))
      return w.fault(FaultKind::Misuse, i, wrong, l, "generic", at);
  }
  return Step::Next;
}

static void decodeReplace(Decoder &d) {
  ReplaceOp op;
  const FieldForm *form = nullptr;
  if (!d.requireTarget(90, ~0u, /*specific=*/true))
    return;
  const bool tile = d.take("tile");
  for (const FieldForm &candidate : forms)
    if (!form && d.take(candidate.name))
      form = &candidate;
  const bool shared = d.take("shared::cta");
  if (!shared)
    d.take("global");
  if (!tile || !form || !d.take("b1024") || !d.take(form->wide ? "b64" : "b32")) {
    d.unsupported();
    return;
  }
  op.space = shared ? MemSpace::Shared : MemSpace::Generic;
  op.field = form->field;
  op.wide = form->wide;
  if (!d.expectOps(form->ordered ? 3 : 2) || !addressOperand(d, d.op(0), op.space, op.map))
    return;
  int64_t dim = 0, constant = 0;
  if (form->ordered && (!d.constant(d.op(1), dim) || dim < 0 || dim > 4)) {
    d.fail("expected a dimension from 0 to 4, found " + Twine(dim));
    return;
  }
  const unsigned last = d.numOps() - 1;
  if (form->most >= 0 &&
      (!d.constant(d.op(last), constant) || constant < 0 || constant > form->most)) {
    d.fail(Twine("expected a constant from 0 to ") + Twine(form->most));
    return;
  }
  op.dim = dim;
  op.value = d.src(last, form->wide ? Type::B64 : Type::B32);
  d.out->aux = d.program.keep(op);
  d.out->fn = execReplace;
}

// The warp copies one map; what a later fence.proxy.tensormap acquires.
static Step execCopyMap(Warp &w, const Inst &i) {
  const TensorMapCopyOp &op = *static_cast<const TensorMapCopyOp *>(i.aux);
  const unsigned first = std::countr_zero(w.exec);
  if (w.exec != w.live)
    return w.fault(FaultKind::Divergence, i, "not all lanes of the warp are here",
                   std::countr_zero(w.live & ~w.exec));
  const uint64_t to = addressOf(w, op.to, first), from = addressOf(w, op.from, first);
  for (uint32_t m = w.exec; m; m &= m - 1)
    if (const unsigned l = std::countr_zero(m);
        addressOf(w, op.to, l) != to || addressOf(w, op.from, l) != from)
      return w.fault(FaultKind::Misuse, i, "lanes name different tensor maps", l);
  const uint8_t *source = bytesAt(w, i, from, MemSpace::Shared, Access::Read, first);
  uint8_t *target = source ? bytesAt(w, i, to, MemSpace::Global, Access::Write, first) : nullptr;
  if (!target)
    return Step::Fault;
  std::memcpy(target, source, 128);
  return Step::Next;
}

static void decodeCopyMap(Decoder &d) {
  TensorMapCopyOp op;
  if (!d.requireTarget(90, ~0u, false))
    return;
  for (const char *word :
       {"global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"})
    if (!d.take(word)) {
      d.unsupported();
      return;
    }
  if (!d.take("cluster") && !takeScope(d)) {
    d.unsupported();
    return;
  }
  int64_t bytes = 0;
  if (!d.expectOps(3) || !addressOperand(d, d.op(0), MemSpace::Global, op.to) ||
      !addressOperand(d, d.op(1), MemSpace::Shared, op.from) || !d.constant(d.op(2), bytes))
    return;
  if (bytes != 128) {
    d.fail("a tensor map has 128 bytes, found " + Twine(bytes));
    return;
  }
  d.out->aux = d.program.keep(op);
  d.out->fn = execCopyMap;
}

void mpcore::emulator::decodeTensorMap(Decoder &d) {
  if (d.take("replace"))
    decodeReplace(d);
  else if (d.take("cp_fenceproxy"))
    decodeCopyMap(d);
  else
    d.unsupported();
}
