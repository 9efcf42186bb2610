// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bra, brx.idx, call, ret, exit, trap and the extern functions that CUDA code calls.

#include "../Scalar/Lanes.h"
#include "Externs.h"
#include "llvm/ADT/Twine.h"

using namespace mp::emulator;
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

static void copyParams(Warp &w, uint32_t mask, uint32_t to, uint32_t from, uint32_t bytes) {
  forLanes(mask, [&](unsigned l) {
    uint8_t *lane = w.local.data() + size_t(l) * w.localStride;
    std::memcpy(lane + to, lane + from, bytes);
  });
}

static Step execRet(Warp &w, const Inst &i) {
  if (w.frame->fn->isEntry)
    return w.exitLanes(w.exec);
  // Every lane of the frame arrives here together: the end of the function is where its branches meet.
  if (w.exec != w.active)
    return w.diverge(w.exec, w.frame->fn->end, w.pc, w.frame->fn->end);
  uint32_t self = &i - w.launch->program->code.data();
  if (self != w.frame->fn->end) {
    w.pc = w.frame->fn->end;
    return Step::Next;
  }
  Frame *callee = w.frame, *caller = callee->caller;
  const Inst &call = w.launch->program->code[callee->callPc];
  const auto &site = *static_cast<const CallSite *>(call.aux);
  for (unsigned k = 0; k < callee->fn->returns.size(); ++k)
    copyParams(w, w.active, caller->localBase + site.results[k],
               callee->localBase + callee->fn->returns[k].localOffset,
               callee->fn->returns[k].bytes);
  w.pc = callee->callPc + 1;
  w.frame = caller;
  w.base[0] = caller->regs.data();
  w.dropFrame(callee);
  return Step::Next;
}

/// Functions without local memory would recur until the host has none.
static constexpr uint32_t kMaxCalls = 4096;

static Step execCall(Warp &w, const Inst &i) {
  if (w.exec != w.active)
    return w.fault(FaultKind::Divergence, i, "a call guarded by a predicate that differs between lanes",
                   std::countr_zero(w.exec));
  const FunctionCode &fn = w.launch->program->functions[i.target];
  Frame *caller = w.frame;
  uint32_t base = llvm::alignTo(caller->localBase + caller->fn->localBytes, 16);
  if (base + fn.localBytes > w.localStride || caller->depth >= kMaxCalls)
    return w.fault(FaultKind::OutOfBounds, i, "the call stack is deeper than the emulator allows",
                   std::countr_zero(w.exec), "local", base);
  Frame *callee = w.newFrame(fn);
  callee->localBase = base;
  auto *lanes = reinterpret_cast<uint64_t *>(callee->regs.data() + kFrameLocalBase);
  for (unsigned l = 0; l < kLanes; ++l)
    lanes[l] = base;
  callee->caller = caller;
  callee->depth = caller->depth + 1;
  callee->callPc = w.pc - 1;
  const auto &site = *static_cast<const CallSite *>(i.aux);
  for (unsigned k = 0; k < fn.params.size(); ++k)
    copyParams(w, w.exec, base + fn.params[k].localOffset, caller->localBase + site.args[k],
               fn.params[k].bytes);
  w.frame = callee;
  w.base[0] = callee->regs.data();
  w.pc = fn.begin;
  return Step::Next;
}

static Step execTrap(Warp &w, const Inst &i) {
  return w.fault(FaultKind::Trap, i, "the kernel trapped", std::countr_zero(w.exec));
}

static Step execNothing(Warp &, const Inst &) { return Step::Next; }

Flow mp::emulator::flowOf(const Inst &i, llvm::SmallVectorImpl<uint32_t> &targets) {
  if (i.fn == execBra || i.fn == execBraUni) {
    targets.push_back(i.target);
    return Flow::Branches;
  }
  if (i.fn == execBrx) {
    const auto &table = *static_cast<const Targets *>(i.aux);
    targets.append(table.pcs, table.pcs + table.count);
    return Flow::Branches;
  }
  if (i.fn == execExit || i.fn == execRet || i.fn == execTrap || isNoReturn(i.fn))
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

/// The local offsets of the parameter variables in (a, b, …).
static const uint32_t *paramOffsets(Decoder &d, llvm::ArrayRef<syntax::Operand> list,
                                    llvm::ArrayRef<ParamSlot> slots) {
  uint32_t *offsets = d.program.allocator.Allocate<uint32_t>(list.size() + 1);
  if (list.size() != slots.size()) {
    d.fail("the call passes " + Twine(list.size()) + " values where the function has " +
           Twine(slots.size()));
    return offsets;
  }
  for (unsigned k = 0; k < list.size(); ++k) {
    Decoder::Resolved r = d.resolve(list[k].name);
    if (r.kind != Decoder::Resolved::Variable || r.space != MemSpace::Local ||
        r.var->space != syntax::Space::Param) {
      d.fail("'" + list[k].name + "' is not a .param variable of this function");
      return offsets;
    }
    if (r.var->bytes() != slots[k].bytes) {
      d.fail("'" + list[k].name + "' has " + Twine(r.var->bytes()) +
             " bytes, the function's parameter has " + Twine(slots[k].bytes));
      return offsets;
    }
    offsets[k] = r.address;
  }
  return offsets;
}

static void decodeCall(Decoder &d) {
  d.take("uni");
  if (!d.expectOps(1, 4))
    return;
  unsigned k = 0;
  llvm::ArrayRef<syntax::Operand> results, args;
  if (d.op(0).kind == syntax::Operand::List)
    results = d.op(k++).parts;
  if (k >= d.numOps() || d.op(k).kind != syntax::Operand::Name) {
    d.fail("expected a function name");
    return;
  }
  StringRef name = d.op(k++).name;
  if (k < d.numOps() && d.op(k).kind == syntax::Operand::List)
    args = d.op(k++).parts;
  Decoder::Resolved r = d.resolve(name);
  if (r.kind == Decoder::Resolved::Register || k < d.numOps()) {
    d.fail("indirect calls are not supported");
    return;
  }
  if (r.kind != Decoder::Resolved::Function) {
    d.fail("'" + name + "' is not a function of this module");
    return;
  }
  const FunctionCode &fn = d.program.functions[r.index];
  CallSite site;
  site.args = paramOffsets(d, args, fn.params);
  site.results = paramOffsets(d, results, fn.returns);
  d.out->aux = d.program.keep(site);
  d.out->target = r.index;
  if (fn.isDefined)
    d.out->fn = execCall;
  else if (!(d.out->fn = externFunction(fn)))
    d.fail("extern function '" + name + "' is not defined in this module");
}

static void decodeRet(Decoder &d) {
  d.take("uni");
  if (d.expectOps(0))
    d.out->fn = execRet;
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
  if (!d.take("u32"))
    d.unsupported();
  d.src(0, Type::U32);
  d.out->fn = execNothing;
}

static void decodeGriddepcontrol(Decoder &d) {
  // Launches run one after the other: what a dependent launch waits for has happened.
  if (!d.take("launch_dependents") && !d.take("wait"))
    d.unsupported();
  d.out->fn = execNothing;
}

static void decodePmevent(Decoder &d) {
  d.take("mask");
  d.out->fn = execNothing;
}

void mp::emulator::registerControlOps(OpTable &table) {
  table["bra"] = decodeBra;
  table["brx"] = decodeBrx;
  table["call"] = decodeCall;
  table["ret"] = decodeRet;
  table["exit"] = decodeExit;
  table["trap"] = decodeTrap;
  table["nanosleep"] = decodeNanosleep;
  table["griddepcontrol"] = decodeGriddepcontrol;
  table["pmevent"] = decodePmevent;
}
