// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions along rows by a tree that depends on shapes and schedules only: chains of a thread,
// lanes, warps.

#ifndef MP_LIB_KERNELS_BUILD_ROWREDUCE_H
#define MP_LIB_KERNELS_BUILD_ROWREDUCE_H

#include "KernelFunction.h"

namespace mlir::mp {

/// Says which threads of a block share a row.
struct RowThreads {
  unsigned perRow = 32, rows = 1; ///< powers of two
  /// Neighbouring lanes hold neighbouring columns; else neighbouring rows, and the threads of a row
  /// are `rows` apart.
  bool lanesAlongColumns = true;
  Value row, position; ///< of this thread: its row in the block, its place in the row (i32)

  unsigned threads() const { return perRow * rows; }
};

/// Several chains hide the latency of an addition; they are a part of the tree.
inline constexpr unsigned kChains = 4;

/// The value that changes nothing when `combiner` combines it with any other; null if it has none.
TypedAttr neutralElement(Operation *combiner);
/// True if the order in which values are combined cannot change the result.
bool isOrderFree(Operation *combiner);
/// `combiner` on two other values.
Value combine(OpBuilder &b, Operation *combiner, Value x, Value y);
/// Neighbours pairwise, and so on.
Value combineTree(OpBuilder &b, Operation *combiner, ArrayRef<Value> values);

/// Exchanges between the threads of rows, each at its own place in shared memory, so that one
/// barrier does for all reductions of a level.
class RowReduce {
public:
  RowReduce(KernelFunction &kernel, const RowThreads &threads) : k(kernel), threads(threads) {}

  /// Bytes of shared memory that one reduction takes; 0 if lanes can do without.
  int64_t bytesOf(Type type) const;
  /// Combines one partial value of each thread over the threads of a row, for several reductions
  /// at once; every thread of a row gets the results. `room` has the bytes of all of them.
  SmallVector<Value> reduce(ArrayRef<Operation *> combiners, ArrayRef<Value> partials, Value room);

private:
  Value overLanes(Operation *combiner, Value value);
  Value shuffled(Value value, unsigned distance);
  SmallVector<Value> overShared(ArrayRef<Operation *> combiners, ArrayRef<Value> values,
                                Value room);
  /// Parts of a row that meet in shared memory: its warps, or all its threads.
  unsigned parts() const {
    return threads.lanesAlongColumns ? threads.perRow / 32 : threads.perRow;
  }

  KernelFunction &k;
  const RowThreads &threads;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_ROWREDUCE_H
