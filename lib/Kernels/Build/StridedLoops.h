// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that walk through operands with constant steps, sizes and steps known now or at run time.

#ifndef MP_LIB_KERNELS_BUILD_STRIDEDLOOPS_H
#define MP_LIB_KERNELS_BUILD_STRIDEDLOOPS_H

#include "DeviceBuilder.h"

namespace mlir::mp {

/// One loop: its size and the step of each operand per iteration, in elements.
struct StridedLoop {
  Size size;
  SmallVector<Size, 3> step;
};

/// A dimension of an operand beyond whose ends zeros are read, or, of 8-bit integers, `beyond`.
/// `start + sum of step[coordinate] * loop` is the index in it.
struct PaddedDim {
  unsigned operand, coordinate;
  int64_t start;
  Size size;
  uint8_t beyond = 0;
};

/// The product of the sizes; nothing if one is not known.
inline std::optional<int64_t> knownExtent(ArrayRef<StridedLoop> loops) {
  int64_t product = 1;
  for (const StridedLoop &loop : loops) {
    if (!loop.size.isKnown())
      return std::nullopt;
    product *= loop.size.value;
  }
  return product;
}

/// True if the product of the sizes is certainly a multiple of `n`, so that no tile is ragged.
inline bool dividesExtent(ArrayRef<StridedLoop> loops, int64_t n) {
  std::optional<int64_t> extent = knownExtent(loops);
  return extent && *extent % n == 0;
}

/// Offset of point `flat` of `group` in `operand`, in elements; the last loop is the fastest.
inline Value offsetOf(DeviceBuilder &d, unsigned operand, ArrayRef<StridedLoop> group, Value flat) {
  Value sum = d.ix(0), rest = flat;
  for (size_t i = group.size(); i-- > 0;) {
    Value position = i == 0 ? rest : d.rem(rest, d.ix(group[i].size));
    if (i != 0)
      rest = d.div(rest, d.ix(group[i].size));
    if (!group[i].step[operand].is(0))
      sum = d.add(sum, d.mul(position, d.ix(group[i].step[operand])));
  }
  return sum;
}

/// The product of the sizes.
inline Value extentOf(DeviceBuilder &d, ArrayRef<StridedLoop> group) {
  Value product = d.ix(1);
  for (const StridedLoop &loop : group)
    product = d.mul(product, d.ix(loop.size));
  return product;
}

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_STRIDEDLOOPS_H
