// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds exponentials that may all be multiplied by a constant, because every use divides by a sum
// of them.

#ifndef MP_LIB_KERNELS_SELECT_SOFTMAXPARTS_H
#define MP_LIB_KERNELS_SELECT_SOFTMAXPARTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::mp {

/// The ops around exp(x - y), y the maximum of x over some loops, where all uses are sums and
/// quotients by these sums: exp(x - y) is at most 1, and factors of all exponentials cancel.
struct SoftmaxParts {
  arith::SubFOp difference;
  /// Quotients of an exponential, or of 1 that multiplies exponentials, by a sum of them.
  SmallVector<Operation *> quotients;
  /// x and y are values of bf16 or f16, and y is the same for all that is summed: a factor may
  /// depend on y.
  bool isNarrow;
};

/// The parts around an exponential in a dispatch; nothing where a use is another.
std::optional<SoftmaxParts> softmaxAround(math::ExpOp exp);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_SOFTMAXPARTS_H
