// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that blocks share: each block of a tile leaves its part in a buffer and counts itself; the
// last one adds the parts by a tree and goes on with the epilogue.

#ifndef MP_LIB_KERNELS_EMIT_SPLITSUMS_H
#define MP_LIB_KERNELS_EMIT_SPLITSUMS_H

#include "../Build/Raster.h"
#include "GemmKernel.h"

namespace mlir::mp {

/// Tiles of a launch whose blocks can share sums: words that a call clears.
inline constexpr int64_t kMostSharedTiles = 1024;

/// True if blocks could share the sums of the plan, with tiles of this schedule: every size and
/// step of the results is known; the length of the sums need not be.
bool canSplitSums(const GemmPlan &plan, const mpcore::performance::MatmulSchedule &schedule);

/// A new buffer for the parts of all sums, part after part.
GemmOperand allocateParts(OpBuilder &builder, Location loc, const Contraction &contraction,
                          ArrayRef<OpFoldResult> sizes, unsigned parts);

/// Counters for all tiles of a launch, as an operand. Zero at the start of a call, and each launch
/// leaves them so: all of a function share one buffer.
GemmOperand countersOf(func::FuncOp function, Value &buffer, const Contraction &contraction);

/// A block's side of it. The last two of the plan's operands are parts and counters.
class SharedSums {
public:
  SharedSums(DeviceBuilder &device, const GemmPlan &plan, const EpilogueStore::Tile &tile,
             Value row, Value column, Value thread, ArrayRef<ResultOperand> operands)
      : d(device), plan(plan), tile(tile), row(row), column(column), thread(thread),
        parts(operands.end()[-2]), counters(operands.back()), others(operands.drop_back(2)) {}

  /// Stores the sums of a block that has part `part` (i32).
  void leave(EpilogueStore &store, function_ref<Value(Point)> sum, Value part) const;
  /// In the last block of the tile at `position`, of `product` (null: the only one): adds the parts
  /// of all, and goes on with the epilogue.
  void finish(const TilePosition &position, Value product, ValueRange scalars,
              const GemmEnds &ends) const;

private:
  /// Runs of four columns, each of a row, of which a thread has `rows` at once.
  struct Turns {
    int64_t count, rows;
    bool isPartial; ///< some threads have none
  };
  Turns turns() const;
  SmallVector<Value> add(EpilogueStore &store) const;
  Value isLastBlock(const TilePosition &position, Value product) const;

  DeviceBuilder &d;
  const GemmPlan &plan;
  EpilogueStore::Tile tile;
  Value row, column; ///< the tile's first
  Value thread;
  ResultOperand parts, counters;
  ArrayRef<ResultOperand> others;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_SPLITSUMS_H
