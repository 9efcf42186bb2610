// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of a choice among versions.

#ifndef MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEVERSIONS_H
#define MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEVERSIONS_H

#include "mp/Dialect/MP/Versions.h"

namespace mlir::mp {

/// The next state of the choice, before the op.
Value expand(OpBuilder &builder, SelectVersionOp select);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEVERSIONS_H
