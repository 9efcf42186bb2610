// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accumulators on their way to global memory: which elements of the result a lane holds, what an
// epilogue reads beside them, and guarded stores.

#ifndef MP_LIB_KERNELS_BUILD_EPILOGUESTORE_H
#define MP_LIB_KERNELS_BUILD_EPILOGUESTORE_H

#include "Evaluate.h"
#include "StridedLoops.h"

namespace mlir::mp {

/// A buffer that has an element for each element of the result, or for each row or column of it.
struct ResultOperand {
  unsigned operand; ///< the index of its steps
  Type element;
  Value pointer, base; ///< its element for the first row and column of this batch: `base` elements
                       ///< beyond `pointer`
  unsigned width;      ///< neighbouring columns that are one aligned access: 1, 2 or 4
};

/// The row and the column, within a tile of mma.sync, of the first sum that a lane holds.
std::pair<Value, Value> placeOfLane(DeviceBuilder &device, Value lane);

/// Points of a tile of the result that a thread has: `rows()` x `columns()`, of which runs of two
/// or four columns are neighbours.
class EpilogueStore {
public:
  struct Tile {
    ArrayRef<StridedLoop> m, n;
    int tileM, tileN; ///< of the block
  };
  /// The part that one lane of mma.sync holds.
  struct WarpTile : Tile {
    int warpM, warpN;
    Value row, column; ///< the warp's first
    Value lane;
  };
  EpilogueStore(DeviceBuilder &device, const WarpTile &tile);
  /// These columns (i32), of which four from a multiple of four on are neighbours, in each of
  /// `rows`, of a tile that begins at `row` and `column`.
  EpilogueStore(DeviceBuilder &device, const Tile &tile, Value row, ArrayRef<Value> rows,
                Value column, ArrayRef<Value> columns);

  unsigned rows() const { return lineOfRow.size(); }
  unsigned columns() const { return lineOfColumn.size(); }
  /// The number of the accumulator of mma.sync that belongs to a point.
  unsigned accumulator(Point point) const {
    return (point.row / 2 * (columns() / 2) + point.column / 2) * 4 + point.row % 2 * 2 +
           point.column % 2;
  }

  /// Reads the elements of an aligned run of columns around a point: one, or as many as the operand
  /// gives in one access. Beyond the end, those of the last row or column.
  SmallVector<Value> load(const ResultOperand &from, Point point);
  /// Computes and stores a result: `value` gives its element at a point.
  void store(ArrayRef<ResultOperand> to, function_ref<Value(unsigned result, Point)> value);

private:
  using Offsets = DenseMap<unsigned, Value>; ///< by operand
  /// A row or column of the thread.
  struct Line {
    Value position, clamped;
    Value inside; ///< null: certainly
    Offsets offsets;
  };
  void addRow(Value position);
  void addColumn(Value position);
  Line line(Value position, ArrayRef<StridedLoop> loops, int tile, int64_t alignment);
  Value address(const ResultOperand &operand, unsigned row, unsigned column);
  void enterIf(Value condition);
  void storeRun(const ResultOperand &to, unsigned column, ArrayRef<Value> values,
                ArrayRef<Value> places);

  DeviceBuilder &d;
  Tile tile;
  unsigned run; ///< neighbouring columns
  SmallVector<Line> lineOfRow, lineOfColumn;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_EPILOGUESTORE_H
