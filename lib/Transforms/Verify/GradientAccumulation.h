// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients that several calls of a train step sum up before they are unscaled.

#ifndef MP_LIB_TRANSFORMS_VERIFY_GRADIENTACCUMULATION_H
#define MP_LIB_TRANSFORMS_VERIFY_GRADIENTACCUMULATION_H

#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

/// The arguments whose role is `gradient_sum`.
SmallVector<BlockArgument> findGradientSums(func::FuncOp function);

/// Rule T8: the sums start again, the scale moves and what is trained is updated in one and the
/// same call, the one whose sums are unscaled.
LogicalResult verifyAccumulation(func::FuncOp function, ArrayRef<TrainingState> state,
                                 UnscaleOp unscale);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_GRADIENTACCUMULATION_H
