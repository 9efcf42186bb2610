// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes logits of the scores of a tile: the elementwise ops around scores and masks, and minus
// infinity for keys beyond the end.

#ifndef MP_LIB_KERNELS_FAMILIES_ATTENTIONLOGITS_H
#define MP_LIB_KERNELS_FAMILIES_ATTENTIONLOGITS_H

#include "AttentionElements.h"

namespace mlir::mp {

/// The register of (row, column) of a lane, numbers of those it holds, in accumulators of `tiles`
/// tiles of 8 columns a row.
inline unsigned accumulatorOf(unsigned row, unsigned column, unsigned tiles) {
  return (row / 2 * tiles + column / 2) * 4 + row % 2 * 2 + column % 2;
}

class AttentionLogits {
public:
  AttentionLogits(KernelFunction &kernel, const AttentionShape &shape, const MathForms &forms);

  /// Says where the block is: indices of its batch, keys and tiles of keys in all.
  void setBatch(const DenseMap<unsigned, Value> &indices) { elements.fixed = indices; }
  void setKeys(Value count, Value tiles);
  void addRow(const DenseMap<unsigned, Value> &indices) { elements.rows.push_back(indices); }
  /// Ops that are the same for every tile go before `loop`, which goes through the tiles.
  void hoistBefore(Operation *loop);
  /// Changes scores of the keys of tile `number` from `firstKey` on, of which the lane's first is
  /// `laneColumn`, to logits.
  void replace(MutableArrayRef<Value> scores, Value number, unsigned firstKey, Value laneColumn);

private:
  unsigned rows() const { return s.rowsOfWarp() / 8; }
  unsigned columns() const { return s.atOnce / 4; }
  unsigned tiles() const { return s.atOnce / 8; }
  void maskBeyond(MutableArrayRef<Value> x, Value number, ArrayRef<Value> keyIndex);

  DeviceBuilder &d;
  const AttentionShape &s;
  const AttentionPlan &p;
  AttentionElements elements;
  Evaluate logits;
  bool isFolded; ///< logits are scores, and the exponent has their factor
  Value keyCount, steps;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_ATTENTIONLOGITS_H
