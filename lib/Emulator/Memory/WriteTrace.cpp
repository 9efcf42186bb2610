// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces a value in global memory to its origin: who wrote it, and what that thread had read from
// shared memory before. It serves faults that no rule of the machine forbids, such as a swizzle
// that store and load do not share.

#include "../State/Warp.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;

void mpcore::emulator::traceShared(Warp &w, const Inst &inst, Block &block, uint32_t offset,
                                   uint32_t bytes, Access access, Actor who) {
  const unsigned warps = w.block->warps.size(),
                 warp = who.agent % warps; // of a wgmma the first of its warpgroup
  const uint32_t thread = warp * kLanes + who.lane;
  if (access == Access::Read)
    w.block->trace.reads[thread] = {&inst, offset, block.trace.writers[offset]};
  else if (access != Access::Mbarrier)
    std::fill_n(block.trace.writers.begin() + offset, bytes, SharedTrace::Site{&inst, thread});
}

void mpcore::emulator::traceGlobal(Warp &w, const Inst &inst, uint64_t address, uint64_t bytes,
                                   unsigned lane) {
  const Watch &watch = w.launch->options.watch;
  if (address >= watch.address + watch.bytes || watch.address >= address + bytes)
    return;
  std::string text;
  const SharedTrace::Read &read = w.block->trace.reads[w.index * kLanes + lane];
  auto describe = [&](const Inst *i, uint32_t thread) {
    const Fault f = w.block->warps[thread / kLanes]->describe(FaultKind::WrongValue, *i, "",
                                                              thread % kLanes, "", 0);
    return "line " + std::to_string(f.line) + ", " + f.instruction + ", thread (" +
           std::to_string(f.thread[0]) + ", " + std::to_string(f.thread[1]) + ", " +
           std::to_string(f.thread[2]) + "), lane " + std::to_string(f.lane);
  };
  if (read.inst) {
    text = "last read of shared memory: address 0x" + llvm::Twine::utohexstr(read.offset).str() +
           ", " + describe(read.inst, w.index * kLanes + lane);
    if (read.writer.inst)
      text += "\n  written there by: " + describe(read.writer.inst, read.writer.thread);
  }
  Fault found = w.describe(FaultKind::WrongValue, inst, text, lane, "global", address);
  std::lock_guard<std::mutex> lock(w.launch->mutex);
  w.launch->watched = std::move(found);
}
