// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums on their way through shared memory: from the fragments of mma.sync, or from blocks of the
// scalar units, to runs of four columns, and from the slices of a sum to the whole.

#ifndef MP_LIB_KERNELS_BUILD_STAGEDSUMS_H
#define MP_LIB_KERNELS_BUILD_STAGEDSUMS_H

#include "DeviceBuilder.h"

namespace mlir::mp {

/// Adds neighbouring lists of equal length in pairs, then pairs of these, element by element.
SmallVector<Value> addParts(DeviceBuilder &d, SmallVector<SmallVector<Value>> parts);

/// A tile of m x n words for each slice. A row is n words; its chunks are exchanged by some bits of
/// the row, so that neither the stores nor the loads of rows meet a bank twice.
class StagedSums {
public:
  /// True if threads can share the tile evenly, and it fits.
  static bool suits(int m, int n, int threads, int slices, int64_t bytes) {
    return n % 32 == 0 && threads % (n / 4) == 0 && m % rowsAtOnce(m, n, threads) == 0 &&
           int64_t(slices) * m * n * 4 <= bytes;
  }

  /// Chunks of `words` words are exchanged by row / `rows` modulo `chunks`.
  struct Exchange {
    int rows, chunks, words;
  };
  /// Lanes of mma.sync store 8 bytes in each of 4 rows at once.
  static constexpr Exchange kOfFragments = {1, 4, 8};
  /// Lanes of the scalar units store 16 bytes in each of 8 rows at once, so many rows apart.
  static constexpr Exchange ofRuns(int rowsApart) { return {rowsApart, 8, 4}; }

  StagedSums(DeviceBuilder &device, Value base, int m, int n, int threads, int slices,
             Exchange exchange)
      : d(device), base(base), m(m), n(n), threads(threads), slices(slices), exchange(exchange) {}

  /// Stores what a lane has of its slice (null: the only one), by EpilogueStore::accumulator.
  void put(ArrayRef<Value> sums, int warpM, int warpN, Value warpRow, Value warpColumn, Value lane,
           Value slice) const;
  /// Stores row after row of the only slice, of which four columns at a time are neighbours.
  void put(ArrayRef<Value> sums, ArrayRef<Value> rows, ArrayRef<Value> columns) const;

  /// Lets only threads that get sums do what follows: the first ones, where the tile is small.
  void enterBusy(Value thread) const;

  /// A thread has one or two rows and four columns in each of `turns()`. What the slices have of a
  /// sum is added in pairs of neighbours, then pairs of these.
  struct Turn {
    SmallVector<Value> rows;    ///< i32, in the tile
    SmallVector<Value> columns; ///< four
    SmallVector<SmallVector<Value>> sums;
  };
  int turns() const { return m / (rowsAtOnce(m, n, threads) * rowsOfTurn()); }
  Turn get(Value number, Value thread, Type type) const;

private:
  static int rowsAtOnce(int m, int n, int threads) { return std::min(m, threads / (n / 4)); }
  int rowsOfTurn() const { return m % (2 * rowsAtOnce(m, n, threads)) == 0 ? 2 : 1; }
  Value pointer(Value row, Value column) const;
  SmallVector<Value> whole(Value pointer, Type type) const;

  DeviceBuilder &d;
  Value base; ///< i32
  int m, n, threads, slices;
  Exchange exchange;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_STAGEDSUMS_H
