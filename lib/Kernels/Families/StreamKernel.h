// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of elementwise work and of reductions along rows: maps, softmax, norms, losses, sums.

#ifndef MP_LIB_KERNELS_FAMILIES_STREAMKERNEL_H
#define MP_LIB_KERNELS_FAMILIES_STREAMKERNEL_H

#include "../Build/KernelFunction.h"
#include "../Build/MathForms.h"
#include "StreamShape.h"

namespace mlir::mp {

/// The first kernel reduces parts of a row that blocks share, and the second combines them.
enum class StreamPart : uint8_t { All, Parts, Combination };

/// Returns where the first kernel leaves what each split found: for each reduction a buffer (split,
/// row), operands after those of the dispatch. None without splits.
SmallVector<MemRefType> streamWorkspace(const StreamShape &shape);

/// Writes the kernel of a shape for operands of these types. A thread reads its part of the
/// columns into registers and computes all of the body on it; where the row does not fit, it goes
/// over the columns once for each level of reductions and once for the results.
gpu::GPUFuncOp emitStreamKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                                const StreamShape &shape, TypeRange operands,
                                const MathForms &forms, StreamPart part = StreamPart::All);

/// Blocks of its grid, an `index` of the host.
Value streamBlocks(OpBuilder &host, Location loc, const StreamShape &shape, ValueRange operands,
                   StreamPart part = StreamPart::All);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_STREAMKERNEL_H
