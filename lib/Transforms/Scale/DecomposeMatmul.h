// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decomposes products of scaled values.

#ifndef MP_LIB_TRANSFORMS_SCALE_DECOMPOSEMATMUL_H
#define MP_LIB_TRANSFORMS_SCALE_DECOMPOSEMATMUL_H

#include "mp/Dialect/MP/Scaling.h"

namespace mlir::mp {

/// A contraction of the codes, block by block along what is summed over, and the scaled sum of
/// blocks.
Value expandScaledMatmul(OpBuilder &builder, ScaledMatmulOp op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_DECOMPOSEMATMUL_H
