// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes zero points out of products of integers, which Tensor Cores do not subtract, and lets sums
// that are short be those of Tensor Cores.

#ifndef MP_LIB_KERNELS_SELECT_ZEROPOINTS_H
#define MP_LIB_KERNELS_SELECT_ZEROPOINTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// Replaces an `op` that sums (a - y) (b - z) of 8-bit integers by sums of a b, less y times
/// the sums of b - z, less z times the sums of a; either zero point may be none, or a scalar that
/// only the run knows. Sums of constants are constants. Sums in i16 become the low bits of sums in
/// i32. Integers wrap, so that the bits are the same. Returns the sums of products; null if `op` is
/// none such, or `isWorth` says that these gain nothing, and stays as it is.
linalg::GenericOp takeOutZeroPoints(IRRewriter &rewriter, linalg::GenericOp op,
                                    function_ref<bool(linalg::GenericOp)> isWorth);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_ZEROPOINTS_H
