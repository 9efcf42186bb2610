// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Padding below a maximum, as of pooling: where each window holds an element besides, the lowest
// number that pads is never the maximum.

#ifndef MP_LIB_ANALYSIS_RANGES_PADDEDWINDOWS_H
#define MP_LIB_ANALYSIS_RANGES_PADDEDWINDOWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Interfaces/LoopNest.h"

namespace mlir::mp {

/// True if a reduction has at least one element, whatever the sizes of its tensors.
bool hasElements(const LoopNest &nest);

/// Returns what `operand` of `op` is padded around, if result `index` is a maximum (minimum) over
/// windows of it, each holds an element that is no padding, and what pads is the lowest (largest)
/// number; null otherwise.
Value skipPadding(linalg::LinalgOp op, unsigned index, OpOperand &operand);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_PADDEDWINDOWS_H
