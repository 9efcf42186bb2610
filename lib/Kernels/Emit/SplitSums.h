// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that blocks share: each block leaves its part in a buffer, and a second kernel adds the
// parts by a tree and goes on with the epilogue.

#ifndef MP_LIB_KERNELS_EMIT_SPLITSUMS_H
#define MP_LIB_KERNELS_EMIT_SPLITSUMS_H

#include "GemmKernel.h"

namespace mlir::mp {

/// True if blocks could share the sums of the plan: every size and step of the results is known;
/// the length of the sums need not be.
bool canSplitSums(const GemmPlan &plan);

/// A new buffer for the parts of all sums, part after part.
GemmOperand allocateParts(OpBuilder &builder, Location loc, const Contraction &contraction,
                          ArrayRef<OpFoldResult> sizes, unsigned parts);

/// Threads of a block of the second kernel.
inline constexpr unsigned kCombiningThreads = 128;

/// Makes the second kernel. The last operand of `plan` are the parts; `buffers` are its operands
/// behind A and B. Its arguments are, for each of the plan's products, `buffers` and `scalars`.
gpu::GPUFuncOp emitCombination(gpu::GPUModuleOp module, Location loc, StringRef name,
                               const GemmPlan &plan, TypeRange buffers, TypeRange scalars,
                               function_ref<void(GemmEpilogue)> epilogue);

/// Its blocks.
int64_t combiningBlocks(const GemmPlan &plan);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_EMIT_SPLITSUMS_H
