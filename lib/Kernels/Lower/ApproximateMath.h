// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares patterns that prefer one approximate instruction to a polynomial.

#ifndef MP_LIB_KERNELS_LOWER_APPROXIMATEMATH_H
#define MP_LIB_KERNELS_LOWER_APPROXIMATEMATH_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::mp {

/// Patterns that prefer one approximate instruction to a polynomial, where the GPU has one.
void populateApproximateMath(RewritePatternSet &patterns);

/// The same for ops marked `mpk.approximate` alone, quotients among them.
void populateMarkedMath(RewritePatternSet &patterns);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_LOWER_APPROXIMATEMATH_H
