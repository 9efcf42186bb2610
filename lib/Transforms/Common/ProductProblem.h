// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the performance model about a contraction as it stands.

#ifndef MP_LIB_TRANSFORMS_COMMON_PRODUCTPROBLEM_H
#define MP_LIB_TRANSFORMS_COMMON_PRODUCTPROBLEM_H

#include "mp/Analysis/Cost/Sizes.h"

namespace mlir::mp {

/// The product that `op` computes, multiplied in the format of its factors; in none (a product in
/// loops) where these are no floats.
mpcore::performance::MatmulProblem productOf(Operation *op, Sizes &sizes);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_PRODUCTPROBLEM_H
