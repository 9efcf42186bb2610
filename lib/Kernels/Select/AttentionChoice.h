// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the performance model sees of attention, and the schedule it takes of those that are
// written.

#ifndef MP_LIB_KERNELS_SELECT_ATTENTIONCHOICE_H
#define MP_LIB_KERNELS_SELECT_ATTENTIONCHOICE_H

#include "../Plan/AttentionPlan.h"
#include "mp/Performance/Estimate.h"

namespace mlir::mp {

/// Dynamic sizes are taken to be kAssumedSize.
mpcore::performance::AttentionProblem problemOf(const AttentionPlan &plan);

/// The fastest schedule that the attention family writes, and its time on the part. An error if
/// none runs there.
llvm::Expected<mpcore::performance::Ranked>
chooseAttention(const mpcore::performance::AttentionProblem &problem,
                const mpcore::performance::Part &part);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_ATTENTIONCHOICE_H
