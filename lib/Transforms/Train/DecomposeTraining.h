// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of ops of train steps: what each gives, computed before it.

#ifndef MP_LIB_TRANSFORMS_TRAIN_DECOMPOSETRAINING_H
#define MP_LIB_TRANSFORMS_TRAIN_DECOMPOSETRAINING_H

#include "mp/Dialect/MP/Masters.h"
#include "mp/Dialect/MP/Probes.h"
#include "mp/Dialect/MP/Versions.h"

namespace mlir::mp {

/// The values that replace the results.
SmallVector<Value> expand(OpBuilder &builder, SplitMasterOp op);
Value expand(OpBuilder &builder, JoinMasterOp op);
/// The record of the probe.
Value expand(OpBuilder &builder, ProbeOp probe);
/// The next state of the choice among versions.
Value expand(OpBuilder &builder, SelectVersionOp select);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_TRAIN_DECOMPOSETRAINING_H
