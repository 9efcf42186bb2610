// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over small windows, as maps that read a window's elements one after the other.

#ifndef MP_LIB_KERNELS_FORM_WINDOWS_H
#define MP_LIB_KERNELS_FORM_WINDOWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// Makes an elementwise op of each reduction over a window of known size (pooling, depthwise
/// convolution), which combines the same elements in the same order (exact).
void unrollWindows(Operation *function);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FORM_WINDOWS_H
