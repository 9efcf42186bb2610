// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells the elements of an operand that lie beyond the ends of a padded tensor. Loops of the sum
// that move in a padded dimension number *taps* (of a 3 x 3 window nine): a row has a bit for each.

#ifndef MP_LIB_KERNELS_BUILD_PADDING_H
#define MP_LIB_KERNELS_BUILD_PADDING_H

#include "StridedLoops.h"

namespace mlir::mp {

class Padding {
public:
  /// The padding of `operand`, whose loops are `outer` (rows or columns) and `k`.
  Padding(DeviceBuilder &device, unsigned operand, ArrayRef<PaddedDim> all,
          ArrayRef<StridedLoop> outer, ArrayRef<StridedLoop> k);

  /// False if every element lies inside.
  bool isNeeded() const { return !dims.empty(); }

  /// Holds what is known of a row before the first product.
  struct Row {
    Value taps;                   ///< i32, a bit for each that lies inside; null: too many
    SmallVector<Value, 2> starts; ///< else its index in each dimension at the first product
  };
  /// `batch` has the index in each of all padded dimensions that the batch gives.
  Row row(Value position, ArrayRef<Value> batch);
  /// True if the element of the row at product `k` lies inside.
  Value inside(const Row &row, Value k);

private:
  Value isIn(unsigned dim, Value index);
  SmallVector<Value> split(Value k);

  DeviceBuilder &d;
  ArrayRef<StridedLoop> outer, k;
  SmallVector<std::pair<unsigned, PaddedDim>, 2> dims; ///< with the number among all
  SmallVector<int64_t> tapStep; ///< of each loop of the sum; 0: it moves in no padded dimension
  int64_t tapCount = 1;         ///< above kMostTaps: not numbered
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_PADDING_H
