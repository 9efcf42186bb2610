// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Immediate post-dominators of the branches, by the algorithm of Cooper, Harvey and Kennedy ("A
// Simple, Fast Dominance Algorithm", 2001) on the reversed flow graph with the function's end as
// its root.

#include "../Decode/Decoder.h"

using namespace mpcore::emulator;

namespace {
constexpr uint32_t kNone = ~0u;

/// The flow graph of a function, and where the sides of its branches meet. Instructions are counted
/// from the function's first; the last is the implicit return.
class FlowGraph {
public:
  FlowGraph(Program &program, const FunctionCode &function)
      : program(program), function(function), size(function.end - function.begin + 1) {
    findBlocks();
    connect();
    number();
    findPostDominators();
  }

  /// Writes down where lanes that branch apart wait for each other.
  void writeReconvergence() {
    llvm::SmallVector<uint32_t, 4> targets;
    for (uint32_t b = 0; b < blocks(); ++b) {
      Inst &inst = at(last[b]);
      targets.clear();
      if (b == exit() || flowOf(inst, targets) != Flow::Branches)
        continue;
      uint32_t meeting = function.begin + first[idom[b] == kNone ? exit() : idom[b]];
      // Nobody waits for others in order to exit with them: a barrier may wait for those.
      const Inst &met = program.code[meeting];
      if (function.isEntry && !met.guarded && flowOf(met, targets) == Flow::Ends)
        continue;
      inst.rpc = meeting;
      program.code[meeting].join = true;
    }
  }

private:
  Inst &at(uint32_t k) { return program.code[function.begin + k]; }
  uint32_t blocks() const { return first.size(); }
  uint32_t exit() const { return blockOf[size - 1]; }

  void findBlocks() {
    std::vector<bool> leader(size, false);
    leader[0] = leader[size - 1] = true;
    llvm::SmallVector<uint32_t, 4> targets;
    for (uint32_t k = 0; k < size; ++k) {
      targets.clear();
      if (flowOf(at(k), targets) == Flow::Falls)
        continue;
      for (uint32_t t : targets)
        leader[t - function.begin] = true;
      if (k + 1 < size)
        leader[k + 1] = true;
    }
    blockOf.resize(size);
    for (uint32_t k = 0; k < size; ++k) {
      if (leader[k]) {
        first.push_back(k);
        last.push_back(k);
      }
      blockOf[k] = first.size() - 1;
      last.back() = k;
    }
  }

  void connect() {
    succ.resize(blocks());
    pred.resize(blocks());
    llvm::SmallVector<uint32_t, 4> targets;
    for (uint32_t b = 0; b < blocks(); ++b) {
      const Inst &inst = at(last[b]);
      targets.clear();
      Flow flow = b == exit() ? Flow::Ends : flowOf(inst, targets);
      for (uint32_t t : targets)
        succ[b].push_back(blockOf[t - function.begin]);
      bool falls = flow == Flow::Falls || inst.guarded;
      if (b != exit() && falls && b + 1 < blocks())
        succ[b].push_back(b + 1);
      if (b != exit() && flow == Flow::Ends)
        succ[b].push_back(exit());
      for (uint32_t s : succ[b])
        pred[s].push_back(b);
    }
  }

  /// Numbers the blocks in postorder of the reversed graph. Those that never reach the end (endless
  /// loops) get no number: they hang on the root.
  void number() {
    postorder.assign(blocks(), kNone);
    std::vector<bool> seen(blocks(), false);
    std::vector<std::pair<uint32_t, unsigned>> stack{{exit(), 0}};
    seen[exit()] = true;
    while (!stack.empty()) {
      auto &[b, k] = stack.back();
      if (k < pred[b].size()) {
        uint32_t p = pred[b][k++];
        if (!seen[p]) {
          seen[p] = true;
          stack.push_back({p, 0});
        }
      } else {
        postorder[b] = order.size();
        order.push_back(b);
        stack.pop_back();
      }
    }
  }

  uint32_t meet(uint32_t a, uint32_t b) const {
    while (a != b) {
      while (postorder[a] < postorder[b])
        a = idom[a];
      while (postorder[b] < postorder[a])
        b = idom[b];
    }
    return a;
  }

  void findPostDominators() {
    idom.assign(blocks(), kNone);
    idom[exit()] = exit();
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b : llvm::reverse(order)) {
        if (b == exit())
          continue;
        uint32_t best = kNone;
        for (uint32_t s : succ[b])
          if (postorder[s] != kNone && idom[s] != kNone)
            best = best == kNone ? s : meet(best, s);
        if (best != kNone && idom[b] != best) {
          idom[b] = best;
          changed = true;
        }
      }
    }
  }

  Program &program;
  const FunctionCode &function;
  const uint32_t size;
  std::vector<uint32_t> blockOf;     ///< of each instruction
  std::vector<uint32_t> first, last; ///< instructions of each block
  std::vector<llvm::SmallVector<uint32_t, 2>> succ, pred;
  std::vector<uint32_t> order, postorder, idom;
};
} // namespace

void mpcore::emulator::computeReconvergence(Program &program, const FunctionCode &function) {
  for (uint32_t pc = function.begin; pc < function.end; ++pc)
    if (program.code[pc].rpc != kNoPc) // calls, whose sides meet behind them
      program.code[program.code[pc].rpc].join = true;
  FlowGraph(program, function).writeReconvergence();
}
