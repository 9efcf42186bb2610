// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes zero points out of products of integers, which Tensor Cores do not subtract.

#ifndef MP_LIB_KERNELS_SELECT_ZEROPOINTS_H
#define MP_LIB_KERNELS_SELECT_ZEROPOINTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// Replaces an `op` that sums (a - z) b of 8-bit integers in i32, with a constant z, by sums of
/// a b, less z times the sums of b. Integers wrap, so that the bits are the same. Returns the sums
/// of products, null if `op` is none such and stays as it is.
linalg::GenericOp takeOutZeroPoint(IRRewriter &rewriter, linalg::GenericOp op);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_ZEROPOINTS_H
