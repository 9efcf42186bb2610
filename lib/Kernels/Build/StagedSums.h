// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums on their way through shared memory: from the fragments of mma.sync to runs of four columns.

#ifndef MP_LIB_KERNELS_BUILD_STAGEDSUMS_H
#define MP_LIB_KERNELS_BUILD_STAGEDSUMS_H

#include "DeviceBuilder.h"

namespace mlir::mp {

/// A tile of m x n words. A row is n words; its chunks of 32 bytes are exchanged by the row modulo
/// 4, so that neither the stores of fragments nor the loads of rows meet a bank twice.
class StagedSums {
public:
  /// True if threads can share the tile evenly, and it fits.
  static bool suits(int m, int n, int threads, int64_t bytes) {
    return n % 32 == 0 && threads % (n / 4) == 0 && m % rowsAtOnce(n, threads) == 0 &&
           int64_t(m) * n * 4 <= bytes;
  }

  StagedSums(DeviceBuilder &device, Value base, int m, int n, int threads)
      : d(device), base(base), m(m), n(n), threads(threads) {}

  /// Stores what a lane has, by EpilogueStore::accumulator.
  void put(ArrayRef<Value> sums, int warpM, int warpN, Value warpRow, Value warpColumn,
           Value lane) const;

  /// A thread has one or two rows and four columns in each of `turns()`.
  struct Turn {
    SmallVector<Value> rows; ///< i32, in the tile
    Value column;            ///< the first
    SmallVector<SmallVector<Value>> sums;
  };
  int turns() const { return m / (rowsAtOnce(n, threads) * rowsOfTurn()); }
  Turn get(Value number, Value thread, Type type) const;

private:
  static int rowsAtOnce(int n, int threads) { return threads / (n / 4); }
  int rowsOfTurn() const { return m % (2 * rowsAtOnce(n, threads)) == 0 ? 2 : 1; }
  Value pointer(Value row, Value column) const;

  DeviceBuilder &d;
  Value base; ///< i32
  int m, n, threads;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_STAGEDSUMS_H
