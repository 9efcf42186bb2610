// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of a train step that its optimizer divides by, or by a root of it: second moments and their
// like.

#ifndef MP_LIB_TRANSFORMS_TRAIN_DIVISORS_H
#define MP_LIB_TRANSFORMS_TRAIN_DIVISORS_H

#include "mp/Analysis/Training/TrainingRoles.h"

namespace mlir::mp {

/// The arguments among `candidates` whose next value enters a root or a denominator, and those that
/// no step makes negative, as the ranges of the step prove: a divisor to which something is added
/// first shows by that.
llvm::SmallDenseSet<unsigned> findDivisors(func::FuncOp step, ArrayRef<TrainingState> candidates);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_TRAIN_DIVISORS_H
