// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number that is known when a kernel is written, or handed to it.

#ifndef MP_LIB_KERNELS_PLAN_SIZE_H
#define MP_LIB_KERNELS_PLAN_SIZE_H

#include "mlir/IR/Value.h"

namespace mlir::mp {

/// A number known now, or a value (an `index` of the host, or the kernel's argument for it).
struct Size {
  int64_t value = 0;
  Value dynamic;

  static Size known(int64_t value) { return {value, Value()}; }
  bool isKnown() const { return !dynamic; }
  bool is(int64_t other) const { return isKnown() && value == other; }
  /// True if certainly a multiple of `n`.
  bool divides(int64_t n) const { return isKnown() && value % n == 0; }
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_PLAN_SIZE_H
