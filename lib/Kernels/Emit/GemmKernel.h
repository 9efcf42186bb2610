// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the body of a Tensor Core contraction kernel.

#ifndef MP_LIB_KERNELS_EMIT_GEMMKERNEL_H
#define MP_LIB_KERNELS_EMIT_GEMMKERNEL_H

#include "GemmPlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::mp {

/// The dynamic sizes of `plan` in the order of the kernel's arguments: for each loop of batch, m, n
/// and k its size and its steps in A, B, C; then the offsets of A, B, C.
SmallVector<Size *> dynamicSizes(GemmPlan &plan);

/// Makes `module`'s kernel `name` for `plan`. `buffers` are the types of A, B and C.
gpu::GPUFuncOp emitGemmKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                              const GemmPlan &plan, TypeRange buffers);

/// Bytes of dynamic shared memory that its launches must give it.
int64_t sharedBytes(const GemmPlan &plan);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_GEMMKERNEL_H
