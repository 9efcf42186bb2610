// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what the performance model sees of attention, and what its kernels round.

#ifndef MP_LIB_KERNELS_SELECT_ATTENTIONPROBLEM_H
#define MP_LIB_KERNELS_SELECT_ATTENTIONPROBLEM_H

#include "../Plan/AttentionPlan.h"
#include "mp/Performance/Estimate.h"

namespace mlir::mp {

/// Dynamic sizes are taken to be kAssumedSize.
mpcore::performance::AttentionProblem problemOf(const AttentionPlan &plan);

/// Bounds what rounding can move a result by, as a share of the sum of probability times |value|,
/// to first order. The rounding of scores and logits is left out, which is the same in both.
struct AttentionRounding {
  double fused, apart;
};

/// Holds for exact functions, of which exp is within 2 u (u = 2^-24): relative to a probability,
/// exponentials add 2 u to it and to the sum that divides it; that sum n u for n keys, the division
/// u, the rounding to the format half a unit in its last place, the products' sum 2 n u (Tensor
/// Cores truncate). One kernel multiplies what it has at every step by a factor that is within 2 u,
/// and rounds, in the sum and in the output: 8 u a step. Where blocks share keys, the factor of
/// each part is within 2 u, is multiplied by and added for s parts, in the sum and in the output: 6
/// u and 2 s u.
AttentionRounding roundingOf(const mpcore::performance::AttentionProblem &problem,
                             const mpcore::performance::AttentionSchedule &schedule);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_ATTENTIONPROBLEM_H
