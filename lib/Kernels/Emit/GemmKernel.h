// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the body of a Tensor Core contraction kernel.

#ifndef MP_LIB_KERNELS_EMIT_GEMMKERNEL_H
#define MP_LIB_KERNELS_EMIT_GEMMKERNEL_H

#include "../Build/EpilogueStore.h"
#include "GemmPlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::mp {

/// Holds what an epilogue reads: the sums, and the operands and scalars behind A and B.
struct GemmEpilogue {
  DeviceBuilder &d;
  EpilogueStore &store;
  function_ref<Value(Point)> sum;
  ArrayRef<ResultOperand> operands; ///< those of the plan after A and B
  ValueRange scalars;
};

/// Makes `module`'s kernel `name` for `plan`. Its arguments are, for each of the plan's products,
/// `buffers`, one for each operand, and `scalars`; then sizes.
gpu::GPUFuncOp emitGemmKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                              const GemmPlan &plan, TypeRange buffers, TypeRange scalars,
                              function_ref<void(GemmEpilogue)> epilogue);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_GEMMKERNEL_H
