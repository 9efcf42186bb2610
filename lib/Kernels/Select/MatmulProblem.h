// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what the performance model sees of a contraction and of what runs on its sums.

#ifndef MP_LIB_KERNELS_SELECT_MATMULPROBLEM_H
#define MP_LIB_KERNELS_SELECT_MATMULPROBLEM_H

#include "../Plan/EpiloguePlan.h"
#include "mp/Performance/Problem.h"

namespace mlir::mp {

/// The problem of a body with this plan. Dynamic sizes are taken to be kAssumedSize.
mpcore::performance::MatmulProblem problemOf(const EpiloguePlan &plan, Block &body);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_MATMULPROBLEM_H
