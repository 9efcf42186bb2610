// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays a kernel of rows or of a map over its loops: which loops count as one, which threads
// share a row, how much of it they hold at once.

#ifndef MP_LIB_KERNELS_FAMILIES_STREAMSHAPE_H
#define MP_LIB_KERNELS_FAMILIES_STREAMSHAPE_H

#include "../Plan/StreamPlan.h"
#include "mp/Performance/Schedule.h"

namespace mlir::mp {

/// An operand of a dispatch and the loop of each of its dimensions.
struct StreamAccess {
  unsigned operand; ///< of the dispatch
  MemRefType type;  ///< null for scalars and what is not read along loops
  SmallVector<int> dims;
  bool isConstant = false; ///< nothing the kernel writes is the same memory

  /// The dimension that runs along `loop`, or -1.
  int dimensionOf(unsigned loop) const;
};

/// The operands that a body reads and those that it writes.
struct StreamOperands {
  SmallVector<StreamAccess> reads, writes;
};

/// Operands of these types (inputs, then outputs) of a body. On failure `reason` says which
/// elements no kernel loads.
FailureOr<StreamOperands> accessesOf(const StreamPlan &plan, Block &body, TypeRange operands,
                                     std::string &reason);

/// Loops that are one to every operand, outermost first: the last one's step is that of all.
using LoopGroup = SmallVector<unsigned, 2>;

/// Holds what a user or a schedule asks of a kernel.
struct StreamChoice {
  std::optional<mpcore::performance::RowSchedule> rows;
  std::optional<mpcore::performance::MapSchedule> map;
  bool ordered = false; ///< sums run in ascending order: one thread a row
};

struct StreamShape : StreamOperands {
  StreamPlan plan; ///< of a map: its last group made columns
  SmallVector<LoopGroup> rowGroups, columnGroups;
  unsigned threadsPerRow = 32, rowsPerBlock = 4;
  bool lanesAlongColumns = true;
  unsigned vector = 1; ///< neighbouring columns of a thread
  unsigned chunks = 1; ///< vectors that a thread holds at once
  bool whole = true;   ///< a row is held as a whole, by one block
  /// Blocks that share the reductions of a row (rows without other results): each leaves what it
  /// found, and a second kernel combines that in their order.
  unsigned splits = 1;
  bool tiled = false;    ///< blocks share a row (maps only): each takes threads * vector * chunks
  int64_t rows, columns; ///< kDynamic where not known

  unsigned threads() const { return threadsPerRow * rowsPerBlock; }
  /// Columns that the threads of a row hold at once.
  int64_t span() const { return int64_t(threadsPerRow) * vector * chunks; }
  void print(llvm::raw_ostream &os) const;
};

/// Lays `plan` over operands.
StreamShape shapeStream(const StreamPlan &plan, const StreamOperands &operands,
                        const StreamChoice &choice);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_STREAMSHAPE_H
