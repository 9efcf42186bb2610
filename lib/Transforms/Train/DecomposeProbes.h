// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of probes.

#ifndef MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEPROBES_H
#define MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEPROBES_H

#include "mp/Dialect/MP/Probes.h"

namespace mlir::mp {

/// The record of the probe, before it.
Value expand(OpBuilder &builder, ProbeOp probe);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_TRAIN_DECOMPOSEPROBES_H
