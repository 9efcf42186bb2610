// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of rows of which a few columns are at hand at a time: the maximum and the sum so far.
// Four neighbouring lanes share a row.

#ifndef MP_LIB_KERNELS_FAMILIES_ONLINESOFTMAX_H
#define MP_LIB_KERNELS_FAMILIES_ONLINESOFTMAX_H

#include "../Build/DeviceBuilder.h"

namespace mlir::mp {

/// One row of a thread.
struct SoftmaxRow {
  Value maximum; ///< of all columns so far, of all lanes; never below the lowest finite number
  Value sum;     ///< of this lane's columns
};

class OnlineSoftmax {
public:
  /// `approximate`: exp by ex2.approx. `scale` is a positive factor that the logits lack (1 if
  /// none), which is folded into the exponent.
  OnlineSoftmax(DeviceBuilder &device, bool approximate, double scale)
      : d(device), approximate(approximate), scale(scale) {}

  /// True if a factor can be folded without more overflows than there were.
  static bool canFold(double factor) { return factor > 0x1p-100 && factor < 0.6; }

  SoftmaxRow begin();
  /// Takes more columns: `logits` become exp(logit - maximum), and what has been summed by the old
  /// maximum must be multiplied by the result.
  Value take(SoftmaxRow &row, MutableArrayRef<Value> logits);
  /// The sum over all lanes.
  Value total(const SoftmaxRow &row);

private:
  Value overLanes(Value value, bool isMaximum);
  Value exponential(Value x, const SoftmaxRow &row, Value factor, Value shift);

  DeviceBuilder &d;
  bool approximate;
  double scale;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_ONLINESOFTMAX_H
