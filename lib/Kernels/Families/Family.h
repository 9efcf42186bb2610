// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares what all families of kernels share: which one takes a dispatch, and the launch it
// becomes.

#ifndef MP_LIB_KERNELS_FAMILIES_FAMILY_H
#define MP_LIB_KERNELS_FAMILIES_FAMILY_H

#include "../Build/KernelFunction.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {

/// On a dispatch: its schedule is the performance model's, which nobody asked for.
inline constexpr llvm::StringLiteral kModelledScheduleAttrName = "mpk.modelled";

/// Says how kernels may compute.
struct KernelNumbers {
  SumOrder sums = SumOrder::Ordered;
  MathAccuracy math = MathAccuracy::Exact;
  bool hasAsyncCopies = true; ///< of the target: cp.async
};

/// A kernel: written by `emit` into a module under a name, launched on `blocks`.
struct FamilyKernel {
  std::string family;
  unsigned threads;
  std::function<gpu::GPUFuncOp(gpu::GPUModuleOp, StringRef name)> emit;
  std::function<Value(OpBuilder &host)> blocks;
  int64_t sharedBytes = 0; ///< of dynamic shared memory, a block
};

/// A dispatch as kernels that follow each other. They take its operands and then buffers in which
/// one leaves values for the next.
struct FamilyKernels {
  SmallVector<FamilyKernel, 1> kernels;
  SmallVector<MemRefType, 0> workspace;
  std::function<Value(OpBuilder &host)> workspaceSize = {}; ///< of its dynamic dimensions (`index`)
  std::string departure = {}; ///< what they do otherwise than the schedule says; empty: nothing
};

/// The kernels of a dispatch on buffers, or on tensors (then only to ask whether there is one),
/// whose buffers have the identity layout. On failure `reason` says why no family takes it.
FailureOr<FamilyKernels> planKernels(mpk::DispatchOp dispatch, const KernelNumbers &numbers,
                                     std::string &reason);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FAMILIES_FAMILY_H
