// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Query, key and value of attention in shared memory: copies, fragments and products of a warp.

#ifndef MP_LIB_KERNELS_FAMILIES_ATTENTIONTILES_H
#define MP_LIB_KERNELS_FAMILIES_ATTENTIONTILES_H

#include "../Build/MatrixUnit.h"
#include "AttentionKernel.h"

namespace mlir::mp {

/// An operand that lies [.., keys, head] or [.., head, keys] in memory, tile by tile of keys.
class KeyTiles {
public:
  KeyTiles(KernelFunction &kernel, const AttentionShape &shape, BlockArgument argument,
           unsigned head);

  void prepare(Value base, Value thread, Value lane, bool sumsHead);
  const SharedTile &tile() const { return shared; }
  TileCopy &copies() { return copy; }
  /// Lists the copies of tile `number` (i32) of `count` to the place at `stage`.
  void list(Value stage, uint32_t beyond, Value running, Value number, Value count,
            SmallVectorImpl<Work> &work);
  /// Four registers: operand B of two products, whose columns are 16 keys (scores) or 16 elements
  /// of the head (output), for the 16 others to sum.
  SmallVector<Value, 4> read(Value stage, unsigned key, unsigned head);

private:
  TileCopy::Source source();

  KernelFunction &k;
  DeviceBuilder &d;
  const AttentionShape &s;
  BlockArgument argument;
  SmallVector<StridedLoop> heads, keys;
  unsigned vector = 1;
  bool keysTogether = false; ///< neighbouring keys are neighbours in memory
  SharedTile shared;
  TileCopy copy;
  Value laneByte;
  bool transposed = false; ///< ldmatrix transposes
};

/// The rows of query of a block, in panels of 64 elements of the head.
class QueryTile {
public:
  QueryTile(KernelFunction &kernel, const AttentionShape &shape);

  /// `firstRow` is the block's.
  void prepare(Value base, Value firstRow, Value thread, Value lane, Value warp);
  int64_t bytes() const { return int64_t(panels()) * shared.bytes(); }
  /// Lists the copies of all panels to the place at `at`.
  void list(Value at, SmallVectorImpl<Work> &work);
  /// Operand A of 16 rows of the warp and 16 elements of the head.
  SmallVector<Value, 4> read(Value at, unsigned row, unsigned head);

private:
  unsigned panels() const { return llvm::divideCeil(s.depth(), 64); }
  TileCopy::Source source();

  KernelFunction &k;
  DeviceBuilder &d;
  const AttentionShape &s;
  SmallVector<StridedLoop> rows, heads;
  unsigned vector = 1;
  SharedTile shared;
  TileCopy copy;
  Value laneByte;
};

/// Loops as an operand walks them.
SmallVector<StridedLoop> walk(KernelFunction &k, const LoopPlan &plan, BlockArgument argument,
                              ArrayRef<unsigned> loops);
/// The step of an operand's elements along a loop; zero where it does not have it.
Size stepAlong(KernelFunction &k, const LoopPlan &plan, BlockArgument argument, unsigned loop);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_ATTENTIONTILES_H
