// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts one op in the place of several of a block.

#ifndef MP_LIB_KERNELS_PLAN_MOVETOGETHER_H
#define MP_LIB_KERNELS_PLAN_MOVETOGETHER_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::mp {

/// Ops that stand before the last of `members` (ops of one block in its order) and need a result of
/// one of them, members left out. Fails where one of those has effects, whose order must stay.
FailureOr<SmallVector<Operation *>> findFollowers(ArrayRef<Operation *> members);

/// Moves `followers` behind `op`, in their order.
void moveBehind(RewriterBase &rewriter, Operation *op, ArrayRef<Operation *> followers);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_PLAN_MOVETOGETHER_H
