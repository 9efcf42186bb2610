// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands the ops that split and join master weights.

#ifndef MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEMASTERS_H
#define MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEMASTERS_H

#include "mp/Dialect/MP/Masters.h"

namespace mlir::mp {

/// Returns the values that replace the results.
SmallVector<Value> expand(OpBuilder &builder, SplitMasterOp op);
Value expand(OpBuilder &builder, JoinMasterOp op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEMASTERS_H
