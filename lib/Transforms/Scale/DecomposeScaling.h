// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One scaling op as what all devices run.

#ifndef MP_LIB_TRANSFORMS_SCALE_DECOMPOSESCALING_H
#define MP_LIB_TRANSFORMS_SCALE_DECOMPOSESCALING_H

#include "mp/Dialect/MP/Scaling.h"

namespace mlir::mp {

/// Builds what the op's results are; empty if it is no scaling op. mp.block_quantize becomes other
/// scaling ops.
SmallVector<Value> expandScalingOp(OpBuilder &builder, Operation *op);

/// A contraction of the codes, block by block along what is summed over, and the scaled sum of
/// blocks.
Value expandScaledMatmul(OpBuilder &builder, ScaledMatmulOp op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_DECOMPOSESCALING_H
