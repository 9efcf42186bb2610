// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bra, brx.idx, exit, trap and what does nothing here.

#include "../State/Lanes.h"
#include "Externs.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::StringRef;
using llvm::Twine;

static Step execBra(Warp &w, const Inst &i) {
  if (w.exec == w.active) {
    w.pc = i.target;
    return Step::Next;
  }
  return w.diverge(w.exec, i.target, w.pc, i.rpc);
}

static Step execBraUni(Warp &w, const Inst &i) {
  if (w.exec != w.active)
    return w.fault(FaultKind::Divergence, i, "bra.uni whose predicate differs between the lanes",
                   std::countr_zero(w.active & ~w.exec));
  w.pc = i.target;
  return Step::Next;
}

namespace {
struct Targets {
  const uint32_t *pcs;
  uint32_t count;
};
} // namespace

static Step execBrx(Warp &w, const Inst &i) {
  const auto &table = *static_cast<const Targets *>(i.aux);
  const uint32_t *index = w.lanes<uint32_t>(i.a);
  unsigned first = std::countr_zero(w.exec);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    if (index[l] >= table.count)
      return w.fault(FaultKind::Misuse, i,
                     "index " + Twine(index[l]) + " of " + Twine(table.count) + " targets", l);
  }
  uint32_t same = laneMask([&](unsigned l) { return index[l] == index[first]; }) & w.exec;
  if (same == w.active) {
    w.pc = table.pcs[index[first]];
    return Step::Next;
  }
  // One target at a time: the others come back to this instruction.
  uint32_t self = &i - w.launch->program->code.data();
  return w.diverge(same, table.pcs[index[first]], self, i.rpc);
}

static Step execExit(Warp &w, const Inst &) { return w.exitLanes(w.exec); }

static Step execTrap(Warp &w, const Inst &i) {
  return w.fault(FaultKind::Trap, i, "the kernel trapped", std::countr_zero(w.exec));
}

static Step execNothing(Warp &, const Inst &) { return Step::Next; }

Flow mpcore::emulator::flowOf(const Inst &i, llvm::SmallVectorImpl<uint32_t> &targets) {
  if (i.fn == execBra || i.fn == execBraUni) {
    targets.push_back(i.target);
    return Flow::Branches;
  }
  if (i.fn == execBrx) {
    const auto &table = *static_cast<const Targets *>(i.aux);
    targets.append(table.pcs, table.pcs + table.count);
    return Flow::Branches;
  }
  if (i.fn == execExit || isReturn(i.fn) || i.fn == execTrap || isNoReturn(i.fn))
    return Flow::Ends;
  return Flow::Falls;
}

static void decodeBra(Decoder &d) {
  bool uni = d.take("uni");
  if (!d.expectOps(1))
    return;
  Decoder::Resolved r = d.resolve(d.op(0).name);
  if (r.kind != Decoder::Resolved::Label) {
    d.fail("'" + d.op(0).name + "' is not a label of this function");
    return;
  }
  d.out->target = d.pcOf(r.index);
  d.out->fn = uni ? execBraUni : execBra;
}

static void decodeBrx(Decoder &d) {
  if (!d.take("idx"))
    d.fail("only brx.idx is supported");
  d.take("uni");
  if (!d.expectOps(2))
    return;
  d.out->a = d.src(0, Type::U32);
  Decoder::Resolved r = d.resolve(d.op(1).name);
  if (r.kind != Decoder::Resolved::Targets) {
    d.fail("'" + d.op(1).name + "' is not a .branchtargets list");
    return;
  }
  llvm::ArrayRef<StringRef> names = d.function().targetLists[r.index];
  uint32_t *pcs = d.program.allocator.Allocate<uint32_t>(names.size());
  for (unsigned k = 0; k < names.size(); ++k) {
    Decoder::Resolved label = d.resolve(names[k]);
    if (label.kind != Decoder::Resolved::Label) {
      d.fail("'" + names[k] + "' is not a label of this function");
      return;
    }
    pcs[k] = d.pcOf(label.index);
  }
  if (d.out->guarded) {
    d.fail("a guarded brx is not supported");
    return;
  }
  d.out->aux = d.program.keep(Targets{pcs, uint32_t(names.size())});
  d.out->fn = execBrx;
}

static void decodeExit(Decoder &d) {
  if (d.expectOps(0))
    d.out->fn = execExit;
}

static void decodeTrap(Decoder &d) {
  if (d.expectOps(0))
    d.out->fn = execTrap;
}

static void decodeNanosleep(Decoder &d) {
  d.src(0, d.takeType());
  d.out->fn = execNothing;
}

static void decodeGriddepcontrol(Decoder &d) {
  // Launches run one after the other: what a dependent launch waits for has happened.
  d.dropMods();
  d.out->fn = execNothing;
}

static void decodePmevent(Decoder &d) {
  d.take("mask");
  d.out->fn = execNothing;
}

void mpcore::emulator::registerControlOps(OpTable &table) {
  table["bra"] = decodeBra;
  table["brx"] = decodeBrx;
  table["exit"] = decodeExit;
  table["trap"] = decodeTrap;
  table["nanosleep"] = decodeNanosleep;
  table["griddepcontrol"] = decodeGriddepcontrol;
  table["pmevent"] = decodePmevent;
}
