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
  bool paired;         ///< elements of columns 2j and 2j + 1 are one aligned access
};

/// The part of a tile of the result that one lane of mma.sync holds: `rows()` x `columns()` points.
/// Columns 2j and 2j + 1 are neighbours.
class EpilogueStore {
public:
  struct Tile {
    ArrayRef<StridedLoop> m, n;
    int tileM, tileN; ///< of the block
    int warpM, warpN;
    Value row, column; ///< the warp's first
    Value lane;
  };
  EpilogueStore(DeviceBuilder &device, const Tile &tile);

  unsigned rows() const { return unsigned(tile.warpM) / 8; }
  unsigned columns() const { return unsigned(tile.warpN) / 4; }
  /// The number of the accumulator that belongs to a point.
  unsigned accumulator(Point point) const {
    unsigned tilesN = unsigned(tile.warpN) / 8;
    return (point.row / 2 * tilesN + point.column / 2) * 4 + point.row % 2 * 2 + point.column % 2;
  }

  /// Reads the elements of columns 2j and 2j + 1 around a point; the second is null where the
  /// operand is not paired. Beyond the end, those of the last row or column.
  std::pair<Value, Value> load(const ResultOperand &from, Point point);
  /// Computes and stores a result: `value` gives its element at a point.
  void store(ArrayRef<ResultOperand> to, function_ref<Value(unsigned result, Point)> value);

private:
  using Offsets = DenseMap<unsigned, Value>; ///< by operand
  /// A row or column of the lane.
  struct Line {
    Value position, clamped;
    Value inside; ///< null: certainly
    Offsets offsets;
  };
  Line line(Value position, ArrayRef<StridedLoop> loops, int tile, bool even);
  Value address(const ResultOperand &operand, unsigned row, unsigned column);
  void enterIf(Value condition);
  void storePair(const ResultOperand &to, unsigned column, ArrayRef<Value> values,
                 ArrayRef<Value> places);

  DeviceBuilder &d;
  Tile tile;
  SmallVector<Line> lineOfRow, lineOfColumn;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_EPILOGUESTORE_H
