// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of splits of a warp, its frames, and faults.

#include "Warp.h"
#include "llvm/ADT/Twine.h"
#include <bit>

using namespace mpcore::emulator;

Frame *Warp::newFrame(const FunctionCode &fn) {
  Frame *f;
  if (freeFrames.empty()) {
    frames.emplace_back();
    f = &frames.back();
  } else {
    f = freeFrames.back();
    freeFrames.pop_back();
  }
  f->fn = &fn;
  if (f->regs.size() < fn.frameWords)
    f->regs.resize(fn.frameWords);
  f->caller = nullptr;
  f->depth = 0;
  return f;
}

void Warp::dropFrame(Frame *f) { freeFrames.push_back(f); }

static void setLocalBase(Frame &frame, uint32_t base) {
  frame.localBase = base;
  auto *lanes = reinterpret_cast<uint64_t *>(frame.regs.data() + kFrameLocalBase);
  for (unsigned l = 0; l < kLanes; ++l)
    lanes[l] = base;
}

void Warp::start(uint32_t lanes, const FunctionCode &fn) {
  members = live = lanes;
  carry = 0;
  done = false;
  splits.clear();
  freeFrames.clear();
  for (Frame &f : frames)
    freeFrames.push_back(&f);
  copies.clear();
  std::fill(std::begin(copyGroup), std::end(copyGroup), 0);
  wgmmaGroups.clear();
  wgmmaOpen = AsyncGroup();
  wgmmaFenced = false;
  bulkGroups.clear();
  Frame *f = newFrame(fn);
  setLocalBase(*f, 0);
  splits.emplace_back();
  Split &root = splits[0];
  root.alive = true;
  root.mask = lanes;
  root.pc = fn.begin;
  root.frame = f;
  enter(0);
}

void Warp::enter(int s) {
  current = s;
  if (s < 0)
    return;
  Split &split = splits[s];
  active = split.mask;
  pc = split.pc;
  frame = split.frame;
  base[0] = frame->regs.data();
}

void Warp::save() {
  if (current < 0)
    return;
  splits[current].pc = pc;
  splits[current].frame = frame;
}

int Warp::pick() {
  // The newest first, as a hardware stack would.
  for (int s = splits.size() - 1; s >= 0; --s)
    if (splits[s].runs())
      return s;
  // Nobody comes any more, unless a barrier holds somebody back: the instruction says who is
  // missing.
  int syncPoint = -1;
  for (int s = 0; s < int(splits.size()); ++s) {
    if (splits[s].alive && splits[s].blocked)
      return -1;
    if (splits[s].alive && splits[s].syncPoint)
      syncPoint = s;
  }
  if (syncPoint >= 0)
    splits[syncPoint].syncPoint = nullptr;
  return syncPoint;
}

int Warp::newSplit() {
  for (unsigned s = 0; s < splits.size(); ++s)
    if (!splits[s].alive) {
      splits[s] = Split();
      return s;
    }
  splits.emplace_back();
  return splits.size() - 1;
}

Step Warp::diverge(uint32_t taken, uint32_t target, uint32_t fall, uint32_t rpc) {
  int self = current;
  uint32_t rest = active & ~taken;
  save();
  // A loop whose lanes leave one by one: the leavers wait in the parent already.
  if (splits[self].parent >= 0 && splits[self].rpc == rpc && splits[self].rpcFrame == frame &&
      (target == rpc || fall == rpc)) {
    splits[self].mask = target == rpc ? rest : taken;
    splits[self].pc = target == rpc ? fall : target;
    enter(self);
    return Step::Next;
  }
  splits[self].pc = rpc;
  unsigned sides = 0;
  auto child = [&](uint32_t mask, uint32_t pc) {
    if (pc == rpc)
      return;
    int c = newSplit();
    Split &split = splits[c];
    split.alive = true;
    split.mask = mask;
    split.pc = pc;
    split.rpc = rpc;
    split.frame = split.rpcFrame = frame;
    split.parent = self;
    ++sides;
  };
  if (launch->options.reverse) {
    child(rest, fall);
    child(taken, target);
  } else {
    child(taken, target);
    child(rest, fall);
  }
  splits[self].children = sides;
  enter(sides ? pick() : self);
  return Step::Leave;
}

void Warp::childDone(int parent) {
  while (parent >= 0) {
    Split &p = splits[parent];
    if (--p.children)
      return;
    if (p.mask)
      return; // it may run now
    int up = p.parent;
    p.alive = false;
    parent = up;
  }
}

Step Warp::reconverge() {
  Split &split = splits[current];
  split.alive = false;
  int parent = split.parent;
  childDone(parent);
  enter(pick());
  return Step::Leave;
}

Step Warp::exitLanes(uint32_t mask) {
  unsigned count = std::popcount(live & mask);
  live &= ~mask;
  save();
  for (Split &s : splits)
    if (s.alive)
      s.mask &= ~mask;
  // Leaves without lanes end; their parents may follow.
  for (unsigned s = 0; s < splits.size(); ++s)
    if (splits[s].alive && splits[s].children == 0 && splits[s].mask == 0) {
      splits[s].alive = false;
      childDone(splits[s].parent);
    }
  if (live == 0) {
    done = true;
    current = -1;
    --block->liveWarps;
  }
  block->threadsExited(count);
  if (done)
    return Step::Leave;
  if (current >= 0 && splits[current].alive && splits[current].children == 0) {
    active = splits[current].mask;
    return Step::Leave;
  }
  enter(pick());
  return Step::Leave;
}

unsigned Warp::asyncAgent() const { return block->warps.size() + index; }

void Warp::unblock(int s) {
  splits[s].blocked = false;
  splits[s].barrier = -1;
  splits[s].waitMask = 0;
  splits[s].meeting = false;
}

Fault Warp::describe(FaultKind kind, const Inst &inst, const llvm::Twine &text, uint32_t lane,
                     llvm::StringRef space, uint64_t address) const {
  Fault f;
  const Program &program = *launch->program;
  f.kind = kind;
  f.kernel = launch->info->name;
  f.file = program.file;
  uint32_t at = &inst - program.code.data();
  if (at < program.where.size()) {
    f.line = program.where[at].line;
    f.instruction = program.where[at].text.str();
    for (char &c : f.instruction)
      if (c == '\n' || c == '\t')
        c = ' ';
  }
  for (unsigned k = 0; k < 3; ++k)
    f.block[k] = block->id[k];
  uint32_t linear = index * kLanes + lane;
  f.thread = {linear % launch->block.x, linear / launch->block.x % launch->block.y,
              linear / (launch->block.x * launch->block.y)};
  f.warp = index;
  f.lane = lane;
  f.space = space.str();
  f.address = address;
  f.message = text.str();
  return f;
}

Step Warp::fault(FaultKind kind, const Inst &inst, const llvm::Twine &text, uint32_t lane,
                 llvm::StringRef space, uint64_t address) {
  std::lock_guard<std::mutex> lock(launch->mutex);
  launch->stop = true;
  if (launch->hasFault)
    return Step::Fault;
  launch->hasFault = true;
  launch->fault = describe(kind, inst, text, lane, space, address);
  return Step::Fault;
}

llvm::StringRef mpcore::emulator::faultName(FaultKind kind) {
  switch (kind) {
  case FaultKind::OutOfBounds: return "out of bounds";
  case FaultKind::Misaligned: return "misaligned";
  case FaultKind::Uninitialized: return "uninitialized read";
  case FaultKind::InFlight: return "not waited for";
  case FaultKind::Race: return "race";
  case FaultKind::Deadlock: return "deadlock";
  case FaultKind::Divergence: return "divergence";
  case FaultKind::Trap: return "trap";
  case FaultKind::Limit: return "instruction limit";
  case FaultKind::Misuse: return "misuse";
  case FaultKind::WrongValue: return "wrong value";
  }
  return "fault";
}

char FaultError::ID = 0;

std::error_code FaultError::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

void FaultError::log(llvm::raw_ostream &os) const {
  os << fault.file << ":" << fault.line << ": " << faultName(fault.kind) << ": " << fault.message
     << "\n  kernel " << fault.kernel << ", block (" << fault.block[0] << ", " << fault.block[1]
     << ", " << fault.block[2] << "), thread (" << fault.thread[0] << ", " << fault.thread[1]
     << ", " << fault.thread[2] << "), warp " << fault.warp << " lane " << fault.lane;
  if (!fault.space.empty()) {
    os << ", " << fault.space << " address 0x";
    os.write_hex(fault.address);
  }
  os << "\n  " << fault.instruction;
}
