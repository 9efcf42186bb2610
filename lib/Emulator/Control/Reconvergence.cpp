// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Immediate post-dominators of the branches, by the algorithm of Cooper, Harvey and Kennedy ("A
// Simple, Fast Dominance Algorithm", 2001) on the reversed flow graph with the function's end as
// its root.

#include "../Decode/Decoder.h"

using namespace mpcore::emulator;

void mpcore::emulator::computeReconvergence(Program &program, const FunctionCode &function) {
  const uint32_t begin = function.begin, size = function.end - function.begin + 1;
  const uint32_t root = size - 1; // the implicit return
  for (uint32_t pc = begin; pc < function.end; ++pc)
    if (program.code[pc].rpc != kNoPc) // calls, whose sides meet behind them
      program.code[program.code[pc].rpc].join = true;
  // Leaders and blocks.
  std::vector<bool> leader(size, false);
  leader[0] = true;
  leader[root] = true;
  llvm::SmallVector<uint32_t, 4> targets;
  for (uint32_t k = 0; k < size; ++k) {
    targets.clear();
    if (flowOf(program.code[begin + k], targets) == Flow::Falls)
      continue;
    for (uint32_t t : targets)
      leader[t - begin] = true;
    if (k + 1 < size)
      leader[k + 1] = true;
  }
  std::vector<uint32_t> blockOf(size), first, last;
  for (uint32_t k = 0; k < size; ++k) {
    if (leader[k]) {
      first.push_back(k);
      last.push_back(k);
    }
    blockOf[k] = first.size() - 1;
    last.back() = k;
  }
  const uint32_t blocks = first.size(), exit = blockOf[root];
  std::vector<llvm::SmallVector<uint32_t, 2>> succ(blocks), pred(blocks);
  for (uint32_t b = 0; b < blocks; ++b) {
    const Inst &inst = program.code[begin + last[b]];
    targets.clear();
    Flow flow = b == exit ? Flow::Ends : flowOf(inst, targets);
    for (uint32_t t : targets)
      succ[b].push_back(blockOf[t - begin]);
    bool falls = flow == Flow::Falls || inst.guarded;
    if (b != exit && falls && b + 1 < blocks)
      succ[b].push_back(b + 1);
    if (b != exit && flow == Flow::Ends)
      succ[b].push_back(exit);
    for (uint32_t s : succ[b])
      pred[s].push_back(b);
  }
  // Order on the reversed graph. Blocks that never reach the end (endless loops) hang on the root.
  std::vector<uint32_t> order, number(blocks, ~0u);
  std::vector<bool> seen(blocks, false);
  auto visit = [&](uint32_t start) {
    std::vector<std::pair<uint32_t, unsigned>> stack{{start, 0}};
    seen[start] = true;
    while (!stack.empty()) {
      auto &[b, k] = stack.back();
      if (k < pred[b].size()) {
        uint32_t p = pred[b][k++];
        if (!seen[p]) {
          seen[p] = true;
          stack.push_back({p, 0});
        }
      } else {
        number[b] = order.size();
        order.push_back(b);
        stack.pop_back();
      }
    }
  };
  visit(exit);
  std::vector<uint32_t> idom(blocks, ~0u);
  idom[exit] = exit;
  auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b])
        a = idom[a];
      while (number[b] < number[a])
        b = idom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      uint32_t b = *it;
      if (b == exit)
        continue;
      uint32_t best = ~0u;
      for (uint32_t s : succ[b])
        if (number[s] != ~0u && idom[s] != ~0u)
          best = best == ~0u ? s : meet(best, s);
      if (best != ~0u && idom[b] != best) {
        idom[b] = best;
        changed = true;
      }
    }
  }
  for (uint32_t b = 0; b < blocks; ++b) {
    Inst &inst = program.code[begin + last[b]];
    targets.clear();
    if (b == exit || flowOf(inst, targets) != Flow::Branches)
      continue;
    uint32_t meetBlock = idom[b] == ~0u ? exit : idom[b];
    const Inst &meeting = program.code[begin + first[meetBlock]];
    // Nobody waits for others in order to exit with them: a barrier may wait for those.
    if (function.isEntry && !meeting.guarded && flowOf(meeting, targets) == Flow::Ends)
      continue;
    inst.rpc = begin + first[meetBlock];
    program.code[inst.rpc].join = true;
  }
}
