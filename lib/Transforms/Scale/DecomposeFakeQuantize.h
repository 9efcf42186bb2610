// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One op of quantisation in training as what all devices run.

#ifndef MP_LIB_TRANSFORMS_SCALE_DECOMPOSEFAKEQUANTIZE_H
#define MP_LIB_TRANSFORMS_SCALE_DECOMPOSEFAKEQUANTIZE_H

#include "../Common/TensorCode.h"
#include "mp/Dialect/MP/FakeQuantize.h"

namespace mlir::mp {

/// Maps an element of the data to its scale, which lies over it.
AffineMap scaleMap(RankedTensorType scale, RankedTensorType data);

/// Reduces the elements that share an element of `result`, which lies over `x`, from 0 on.
Value reduceBlocks(OpBuilder &builder, Location loc, Value x, RankedTensorType result,
                   ScalarCode code);

Value expandFakeQuantize(OpBuilder &builder, FakeQuantizeOp op);
Value expandStraightThrough(OpBuilder &builder, StraightThroughOp op);
Value expandStepGradient(OpBuilder &builder, StepGradientOp op);
Value expandPrune(OpBuilder &builder, PruneOp op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_DECOMPOSEFAKEQUANTIZE_H
