// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the body of a dispatch as one contraction and elementwise work on its result.

#ifndef MP_LIB_KERNELS_PLAN_EPILOGUEPLAN_H
#define MP_LIB_KERNELS_PLAN_EPILOGUEPLAN_H

#include "OperandSource.h"

namespace mlir::mp {

struct EpiloguePlan {
  mutable linalg::GenericOp op; ///< the contraction
  Contraction contraction;
  std::array<OperandSource, 2> sources; ///< A and B as arguments of the body
  /// For each dimension of a tensor of the epilogue, the contraction's loop, or -1 where the size
  /// is one.
  DenseMap<Value, SmallVector<int>> dims;
};

/// The contraction of a body: the op that carries `mpk.mma`. Null if it has none, the first if it
/// has several.
linalg::GenericOp findContraction(Block &body);

/// The plan of a body that ends in a terminator which yields its results. The contraction is the op
/// that carries `mpk.mma`; its operands must be arguments of the body, or such narrowed or padded.
/// On failure `reason` says what is in the way, as the end of "... cannot be one kernel because".
FailureOr<EpiloguePlan> planEpilogue(Block &body, std::string &reason);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_PLAN_EPILOGUEPLAN_H
