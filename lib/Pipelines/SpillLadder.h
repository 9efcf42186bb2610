// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that lowers dispatches to machine code, and changes those whose kernels spill.

#ifndef MP_LIB_PIPELINES_SPILLLADDER_H
#define MP_LIB_PIPELINES_SPILLLADDER_H

#include "mp/Kernels/Passes.h"

namespace mlir::mp {

/// Runs `lowering` and mp-emit-kernels on a module with dispatches on tensors.
std::unique_ptr<Pass> createSpillLadder(OpPassManager lowering, const EmitKernelsOptions &emit);

} // namespace mlir::mp

#endif // MP_LIB_PIPELINES_SPILLLADDER_H
