// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two products of attention: scores of query and key, output of probabilities and value, both
// in accumulators of a warp.

#ifndef MP_LIB_KERNELS_FAMILIES_ATTENTIONPRODUCTS_H
#define MP_LIB_KERNELS_FAMILIES_ATTENTIONPRODUCTS_H

#include "AttentionTiles.h"

namespace mlir::mp {

class AttentionProducts {
public:
  AttentionProducts(KernelFunction &kernel, const AttentionShape &shape);

  QueryTile query;
  KeyTiles key, value;

  /// Says where the tile of query is, and reads what stays in registers.
  void setQuery(Value tile);
  /// Returns accumulators of (row tile, tile of 8 keys) for the keys of a stage from `firstKey` on.
  SmallVector<Value> scores(Value stage, unsigned firstKey);
  /// Adds what probabilities, in the place of scores, make of the values of these keys to
  /// accumulators of (row tile, tile of 8 elements of the head).
  void addOutput(MutableArrayRef<Value> output, ArrayRef<Value> probabilities, Value stage,
                 unsigned firstKey);

private:
  unsigned rowTiles() const { return s.rowsOfWarp() / 16; }
  /// Adds products of the first 8 or of all 16 elements, by as many instructions as that takes.
  void multiply(ArrayRef<Value> rows, ArrayRef<Value> columns, MutableArrayRef<Value> sums,
                unsigned elements = 16);

  DeviceBuilder &d;
  const AttentionShape &s;
  Value shared;
  SmallVector<SmallVector<Value, 4>> keptQuery;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_ATTENTIONPRODUCTS_H
