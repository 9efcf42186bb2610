// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums on their way through shared memory: from the fragments of mma.sync to runs of four columns,
// and from the slices of a sum to the whole.

#ifndef MP_LIB_KERNELS_BUILD_STAGEDSUMS_H
#define MP_LIB_KERNELS_BUILD_STAGEDSUMS_H

#include "DeviceBuilder.h"

namespace mlir::mp {

/// Adds neighbouring lists of equal length in pairs, then pairs of these, element by element.
SmallVector<Value> addParts(DeviceBuilder &d, SmallVector<SmallVector<Value>> parts);

/// A tile of m x n words for each slice. A row is n words; its chunks of 32 bytes are exchanged by
/// the row modulo 4, so that neither the stores of fragments nor the loads of rows meet a bank
/// twice.
class StagedSums {
public:
  /// True if threads can share the tile evenly, and it fits.
  static bool suits(int m, int n, int threads, int slices, int64_t bytes) {
    return n % 32 == 0 && threads % (n / 4) == 0 && m % rowsAtOnce(m, n, threads) == 0 &&
           int64_t(slices) * m * n * 4 <= bytes;
  }

  StagedSums(DeviceBuilder &device, Value base, int m, int n, int threads, int slices)
      : d(device), base(base), m(m), n(n), threads(threads), slices(slices) {}

  /// Stores what a lane has of its slice (null: the only one), by EpilogueStore::accumulator.
  void put(ArrayRef<Value> sums, int warpM, int warpN, Value warpRow, Value warpColumn, Value lane,
           Value slice) const;

  /// Lets only threads that get sums do what follows: the first ones, where the tile is small.
  void enterBusy(Value thread) const;

  /// A thread has one or two rows and four columns in each of `turns()`. What the slices have of a
  /// sum is added in pairs of neighbours, then pairs of these.
  struct Turn {
    SmallVector<Value> rows; ///< i32, in the tile
    Value column;            ///< the first
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
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_STAGEDSUMS_H
