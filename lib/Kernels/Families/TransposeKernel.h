// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of maps whose operands lie along different loops in memory: tiles go through swizzled
// shared memory, so that global memory is read and written in whole rows.

#ifndef MP_LIB_KERNELS_FAMILIES_TRANSPOSEKERNEL_H
#define MP_LIB_KERNELS_FAMILIES_TRANSPOSEKERNEL_H

#include "../Build/KernelFunction.h"
#include "../Build/MathForms.h"
#include "StreamShape.h"

namespace mlir::mp {

/// Operands that are written lie along loop `across`; those in `staged` along loop `along`.
struct TransposeShape : StreamOperands {
  StreamPlan plan;
  SmallVector<unsigned> staged; ///< of `reads`
  unsigned along, across;       ///< loops of the plan
  SmallVector<unsigned> batch;  ///< the others, outermost first
  unsigned vector;              ///< neighbouring elements of a thread along `across`
  unsigned tile;                ///< its extent along both loops, 8 vectors at least
  unsigned block = 128;         ///< threads
};

/// The shape of a map that is better written so. On failure `reason` says why this one is not.
FailureOr<TransposeShape>
shapeTranspose(const StreamPlan &plan, const StreamOperands &operands,
               std::optional<mpcore::performance::TransposeSchedule> asked, std::string &reason);

gpu::GPUFuncOp emitTransposeKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                                   const TransposeShape &shape, TypeRange operands,
                                   const MathForms &forms);

/// Blocks of its grid, an `index` of the host.
Value transposeBlocks(OpBuilder &host, Location loc, const TransposeShape &shape,
                      ValueRange operands);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_TRANSPOSEKERNEL_H
