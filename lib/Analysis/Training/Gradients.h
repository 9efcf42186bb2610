// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of the backward pass.

#ifndef MP_LIB_ANALYSIS_TRAINING_GRADIENTS_H
#define MP_LIB_ANALYSIS_TRAINING_GRADIENTS_H

#include "mp/Analysis/Training/TrainingRoles.h"

namespace mlir::mp {

/// Adds to `roles`, whose seeds and state are known, the gradients, their phases, and what the
/// optimizer contracts them to.
LogicalResult findGradients(func::FuncOp function, const HomogeneityGraph &graph,
                            TrainingRoles &roles);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_TRAINING_GRADIENTS_H
