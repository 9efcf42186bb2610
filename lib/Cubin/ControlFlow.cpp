// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds blocks, dominators and natural loops.

#include "mp/Cubin/ControlFlow.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace mpcore::cubin;

static constexpr unsigned kUnreached = ~0u;

static Graph reversed(const Graph &graph) {
  Graph result(graph.size());
  for (unsigned from = 0; from < graph.size(); ++from)
    for (unsigned to : graph[from])
      result[to].push_back(from);
  return result;
}

/// Nodes in the order in which a depth-first walk leaves them.
static std::vector<unsigned> postOrder(const Graph &successors, unsigned entry) {
  std::vector<unsigned> order;
  std::vector<bool> seen(successors.size());
  std::vector<std::pair<unsigned, unsigned>> stack = {{entry, 0}};
  seen[entry] = true;
  while (!stack.empty()) {
    auto &[node, next] = stack.back();
    if (next == successors[node].size()) {
      order.push_back(node);
      stack.pop_back();
    } else if (unsigned to = successors[node][next++]; !seen[to]) {
      seen[to] = true;
      stack.push_back({to, 0});
    }
  }
  return order;
}

std::vector<unsigned> mpcore::cubin::immediateDominators(const Graph &successors, unsigned entry) {
  const Graph predecessors = reversed(successors);
  const std::vector<unsigned> order = postOrder(successors, entry);
  std::vector<unsigned> number(successors.size(), kUnreached);
  for (unsigned k = 0; k < order.size(); ++k)
    number[order[k]] = k;
  std::vector<unsigned> dominator(successors.size(), kUnreached);
  dominator[entry] = entry;
  auto common = [&](unsigned a, unsigned b) {
    while (a != b) {
      while (number[a] < number[b])
        a = dominator[a];
      while (number[b] < number[a])
        b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned node : llvm::reverse(order)) {
      if (node == entry)
        continue;
      unsigned found = kUnreached;
      for (unsigned before : predecessors[node])
        if (dominator[before] != kUnreached)
          found = found == kUnreached ? before : common(before, found);
      if (found != dominator[node]) {
        dominator[node] = found;
        changed = true;
      }
    }
  }
  return dominator;
}

llvm::SmallVector<unsigned, 8> mpcore::cubin::dominatorsOf(llvm::ArrayRef<unsigned> immediate,
                                                           unsigned node) {
  llvm::SmallVector<unsigned, 8> result;
  while (immediate[node] != kUnreached) {
    result.push_back(node);
    if (immediate[node] == node)
      break;
    node = immediate[node];
  }
  return result;
}

/// Indices of instructions that begin a block: targets of branches, and what follows one.
static std::set<unsigned> leaders(const Function &function,
                                  const llvm::DenseMap<uint32_t, unsigned> &byAddress) {
  std::set<unsigned> result = {0};
  auto addTarget = [&](uint32_t address) {
    if (auto it = byAddress.find(address); it != byAddress.end())
      result.insert(it->second);
  };
  for (unsigned k = 0; k < function.instructions.size(); ++k) {
    const Instruction &i = function.instructions[k];
    if (i.flow != Flow::Next && i.flow != Flow::Call && k + 1 < function.instructions.size())
      result.insert(k + 1);
    if (i.target && i.flow == Flow::Branch)
      addTarget(*i.target);
  }
  for (auto &[address, targets] : function.indirectTargets)
    llvm::for_each(targets, addTarget);
  return result;
}

/// Hangs what nothing leads to (targets of calls, of branches nobody listed) off the entry.
static void connectUnreached(Graph &successors) {
  std::vector<bool> reached(successors.size());
  auto reach = [&](unsigned from) {
    for (unsigned node : postOrder(successors, from))
      reached[node] = true;
  };
  reach(0);
  for (unsigned node = 0; node < successors.size(); ++node)
    if (!reached[node]) {
      successors[0].push_back(node);
      reach(node);
    }
}

static std::vector<Loop> naturalLoops(const Graph &successors,
                                      llvm::ArrayRef<unsigned> immediateDominator) {
  const Graph predecessors = reversed(successors);
  std::map<unsigned, Loop> byHead;
  for (unsigned from = 0; from < successors.size(); ++from)
    for (unsigned head : successors[from]) {
      if (!llvm::is_contained(dominatorsOf(immediateDominator, from), head))
        continue;
      Loop &loop = byHead.try_emplace(head, Loop{head, {}, {head}}).first->second;
      loop.latches.insert(from);
      std::vector<unsigned> pending = {from};
      while (!pending.empty()) {
        const unsigned block = pending.back();
        pending.pop_back();
        if (loop.blocks.insert(block).second)
          pending.insert(pending.end(), predecessors[block].begin(), predecessors[block].end());
      }
    }
  std::vector<Loop> loops;
  for (auto &[head, loop] : byHead)
    loops.push_back(std::move(loop));
  for (Loop &loop : loops)
    loop.depth =
        llvm::count_if(loops, [&](const Loop &other) { return other.blocks.count(loop.head); });
  return loops;
}

ControlFlow::ControlFlow(const Function &function) {
  const std::vector<Instruction> &code = function.instructions;
  if (code.empty())
    return;
  llvm::DenseMap<uint32_t, unsigned> byAddress;
  for (unsigned k = 0; k < code.size(); ++k)
    byAddress[code[k].address] = k;
  const std::set<unsigned> starts = leaders(function, byAddress);
  std::map<unsigned, unsigned> blockAt; // by first instruction
  for (auto it = starts.begin(); it != starts.end(); ++it) {
    auto next = std::next(it);
    blockAt[*it] = unsigned(blocks.size());
    blocks.push_back({*it, next == starts.end() ? unsigned(code.size()) : *next});
  }
  successors.resize(blocks.size());
  for (unsigned b = 0; b < blocks.size(); ++b) {
    const Instruction &end = code[blocks[b].last - 1];
    auto goTo = [&](uint32_t address) {
      if (auto it = byAddress.find(address); it != byAddress.end())
        successors[b].push_back(blockAt.at(it->second));
    };
    if (end.flow == Flow::Branch && end.target)
      goTo(*end.target);
    if (end.flow == Flow::IndirectBranch)
      for (auto &[address, targets] : function.indirectTargets)
        if (address == end.address)
          llvm::for_each(targets, goTo);
    const bool goesOn = end.flow == Flow::Next || end.flow == Flow::Call || end.conditional;
    if (goesOn && b + 1 < blocks.size())
      successors[b].push_back(b + 1);
    llvm::sort(successors[b]);
    successors[b].erase(llvm::unique(successors[b]), successors[b].end());
  }
  connectUnreached(successors);
  immediateDominator = immediateDominators(successors, 0);
  loops = naturalLoops(successors, immediateDominator);
}

std::set<unsigned> ControlFlow::ownBlocks(const Loop &loop) const {
  std::set<unsigned> own = loop.blocks;
  for (const Loop &inner : loops)
    if (inner.head != loop.head && inner.blocks.size() < loop.blocks.size() &&
        std::includes(loop.blocks.begin(), loop.blocks.end(), inner.blocks.begin(),
                      inner.blocks.end()))
      for (unsigned block : inner.blocks)
        own.erase(block);
  return own;
}

std::set<unsigned> ControlFlow::everyIteration(const Loop &loop,
                                               const std::set<unsigned> &through) const {
  std::set<unsigned> result;
  auto inLoop = [&](unsigned block) { return loop.blocks.count(block) != 0; };
  // Every iteration passes the blocks that dominate all latches.
  std::map<unsigned, unsigned> dominated;
  for (unsigned latch : loop.latches)
    for (unsigned block : dominatorsOf(immediateDominator, latch))
      ++dominated[block];
  for (auto [block, latches] : dominated)
    if (latches == loop.latches.size() && inLoop(block))
      result.insert(block);
  for (unsigned block : through)
    for (unsigned dominator : dominatorsOf(immediateDominator, block))
      if (inLoop(dominator))
        result.insert(dominator);
  // Blocks that follow on every way to the head dominate in the reversed loop, from a node behind
  // it.
  const std::vector<unsigned> nodes(loop.blocks.begin(), loop.blocks.end());
  std::map<unsigned, unsigned> number;
  for (unsigned k = 0; k < nodes.size(); ++k)
    number[nodes[k]] = k;
  const unsigned next = unsigned(nodes.size());
  Graph backwards(nodes.size() + 1);
  for (unsigned node : nodes)
    for (unsigned to : successors[node]) {
      if (to == loop.head)
        backwards[next].push_back(number[node]);
      else if (inLoop(to))
        backwards[number[to]].push_back(number[node]);
    }
  const std::vector<unsigned> after = immediateDominators(backwards, next);
  for (unsigned block : through)
    for (unsigned dominator : dominatorsOf(after, number.at(block)))
      if (dominator != next)
        result.insert(nodes[dominator]);
  return result;
}
