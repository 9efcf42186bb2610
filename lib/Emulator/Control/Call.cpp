// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls and returns: direct, through registers, of the extern functions that CUDA code calls.

#include "../State/Lanes.h"
#include "Externs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::StringRef;
using llvm::Twine;

static void copyParams(Warp &w, uint32_t mask, uint32_t to, uint32_t from, uint32_t bytes) {
  forLanes(mask, [&](unsigned l) {
    uint8_t *lane = w.local.data() + size_t(l) * w.localStride;
    std::memcpy(lane + to, lane + from, bytes);
  });
}

static Step execRet(Warp &w, const Inst &i) {
  if (w.frame->fn->isEntry)
    return w.exitLanes(w.exec);
  // Every lane of the frame arrives here together: the end of the function is where its branches
  // meet.
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
    copyParams(w, w.active, caller->localBase + site.results[k].offset,
               callee->localBase + callee->fn->returns[k].localOffset,
               callee->fn->returns[k].bytes);
  w.pc = callee->callPc + 1;
  w.frame = caller;
  w.base[0] = caller->regs.data();
  w.dropFrame(callee);
  return Step::Next;
}

static bool agree(llvm::ArrayRef<CallSite::Slot> passed, llvm::ArrayRef<ParamSlot> slots) {
  return llvm::equal(passed, slots, [](const CallSite::Slot &a, const ParamSlot &b) {
    return a.bytes == b.bytes;
  });
}

/// Functions without local memory would recur until the host has none.
static constexpr uint32_t kMaxCalls = 4096;

static Step enter(Warp &w, const Inst &i, const FunctionCode &fn) {
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
    copyParams(w, w.exec, base + fn.params[k].localOffset, caller->localBase + site.args[k].offset,
               fn.params[k].bytes);
  w.frame = callee;
  w.base[0] = callee->regs.data();
  w.pc = fn.begin;
  return Step::Next;
}

static Step execCall(Warp &w, const Inst &i) {
  if (w.exec != w.active)
    return w.diverge(w.exec, w.pc - 1, w.pc, i.rpc);
  return enter(w, i, w.launch->program->functions[i.target]);
}

/// Functions go by their addresses; lanes that call one run together, each function in turn.
static Step execIndirectCall(Warp &w, const Inst &i) {
  const Program &program = *w.launch->program;
  const uint64_t *addresses = w.lanes<uint64_t>(i.a);
  const unsigned first = std::countr_zero(w.exec);
  const uint64_t address = addresses[first], number = (address - kFunctionWindow) / 16;
  if (address < kFunctionWindow || address % 16 || number >= program.functions.size())
    return w.fault(FaultKind::Misuse, i,
                   "a call of 0x" + Twine::utohexstr(address) + ", where no function is", first);
  const FunctionCode &fn = program.functions[number];
  const auto &site = *static_cast<const CallSite *>(i.aux);
  if (fn.isEntry || !fn.isDefined)
    return w.fault(
        FaultKind::Misuse, i,
        "a call of '" + fn.name +
            (fn.isEntry ? "', which is a kernel" : "', which this module does not define"),
        first);
  if (!agree(site.args, fn.params) || !agree(site.results, fn.returns))
    return w.fault(FaultKind::Misuse, i,
                   "the parameters of '" + fn.name + "' are not those of the call", first);
  uint32_t same = laneMask([&](unsigned l) { return addresses[l] == address; }) & w.exec;
  if (same != w.active)
    return w.diverge(same, w.pc - 1, w.pc - 1, i.rpc);
  return enter(w, i, fn);
}

bool mpcore::emulator::isReturn(ExecFn fn) { return fn == execRet; }

/// The places of the parameter variables in (a, b, …).
static llvm::ArrayRef<CallSite::Slot> slotsOf(Decoder &d, llvm::ArrayRef<syntax::Operand> list) {
  auto *slots = d.program.allocator.Allocate<CallSite::Slot>(list.size() + 1);
  for (unsigned k = 0; k < list.size(); ++k) {
    Decoder::Resolved r = d.resolve(list[k].name);
    if (r.kind != Decoder::Resolved::Variable || r.space != MemSpace::Local ||
        r.var->space != syntax::Space::Param) {
      d.fail("'" + list[k].name + "' is not a .param variable of this function");
      return {};
    }
    slots[k] = {uint32_t(r.address), uint32_t(r.var->bytes())};
  }
  return {slots, list.size()};
}

static void checkSlots(Decoder &d, llvm::ArrayRef<syntax::Operand> list,
                       llvm::ArrayRef<CallSite::Slot> passed, llvm::ArrayRef<ParamSlot> slots) {
  if (passed.size() != slots.size()) {
    d.fail("the call passes " + Twine(passed.size()) + " values where the function has " +
           Twine(slots.size()));
    return;
  }
  for (unsigned k = 0; k < slots.size(); ++k)
    if (passed[k].bytes != slots[k].bytes)
      d.fail("'" + list[k].name + "' has " + Twine(passed[k].bytes) +
             " bytes, the function's parameter has " + Twine(slots[k].bytes));
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
  const syntax::Operand &callee = d.op(k++);
  if (k < d.numOps() && d.op(k).kind == syntax::Operand::List)
    args = d.op(k++).parts;
  CallSite site{slotsOf(d, args), slotsOf(d, results)};
  if (d.failed())
    return;
  d.out->aux = d.program.keep(site);
  d.out->rpc = d.program.code.size(); // the next statement
  Decoder::Resolved r = d.resolve(callee.name);
  if (r.kind == Decoder::Resolved::Register) {
    if (k == d.numOps() || d.resolve(d.op(k).name).kind != Decoder::Resolved::Prototype) {
      d.fail("expected a .callprototype behind the arguments of a call through a register");
      return;
    }
    d.out->a = d.src(callee, Type::U64);
    d.out->fn = execIndirectCall;
    return;
  }
  if (r.kind != Decoder::Resolved::Function || k < d.numOps()) {
    d.fail("'" + callee.name + "' is not a function of this module");
    return;
  }
  const FunctionCode &fn = d.program.functions[r.index];
  checkSlots(d, args, site.args, fn.params);
  checkSlots(d, results, site.results, fn.returns);
  d.out->target = r.index;
  if (fn.isDefined)
    d.out->fn = execCall;
  else if (!(d.out->fn = externFunction(fn)))
    d.fail("extern function '" + callee.name + "' is not defined in this module");
}

static void decodeRet(Decoder &d) {
  d.take("uni");
  if (d.expectOps(0))
    d.out->fn = execRet;
}

void mpcore::emulator::registerCallOps(OpTable &table) {
  table["call"] = decodeCall;
  table["ret"] = decodeRet;
}
