// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Basic blocks, dominators and natural loops of machine code.

#ifndef MP_CUBIN_CONTROLFLOW_H
#define MP_CUBIN_CONTROLFLOW_H

#include "mp/Cubin/Cubin.h"

#include "llvm/ADT/SmallVector.h"

#include <set>

namespace mpcore::cubin {

/// A graph whose nodes are numbered from 0.
using Graph = std::vector<llvm::SmallVector<unsigned, 2>>;

/// Immediate dominators of the nodes that `entry` reaches, the entry its own; ~0u for the others.
/// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", 2001.
std::vector<unsigned> immediateDominators(const Graph &successors, unsigned entry);

/// A node's dominators, itself first; empty for nodes that are not reached.
llvm::SmallVector<unsigned, 8> dominatorsOf(llvm::ArrayRef<unsigned> immediate, unsigned node);

struct Block {
  unsigned first, last; ///< instructions, `last` behind the end
};

struct Loop {
  unsigned head;
  std::set<unsigned> latches; ///< blocks that jump back to the head
  std::set<unsigned> blocks;  ///< of the loop and the loops inside it
  unsigned depth = 1;         ///< loops around it and itself
};

struct ControlFlow {
  std::vector<Block> blocks;
  Graph successors;
  std::vector<unsigned> immediateDominator;
  std::vector<Loop> loops;

  explicit ControlFlow(const Function &function);

  /// Blocks of the loop alone, without those of loops inside it.
  std::set<unsigned> ownBlocks(const Loop &loop) const;
  /// Blocks of a loop that each iteration which passes one of `through` must pass too: those that
  /// dominate all latches, dominate one of `through` or follow it on every way to the next
  /// iteration. Spinning and rare paths are left out.
  std::set<unsigned> everyIteration(const Loop &loop, const std::set<unsigned> &through) const;
};

} // namespace mpcore::cubin

#endif // MP_CUBIN_CONTROLFLOW_H
