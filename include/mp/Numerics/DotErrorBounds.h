// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proved bounds on what a modelled Tensor Core dot product loses, derived from
// the model alone. A is |c| + sum |a_i b_i| throughout; underflow (subnormal
// operands or results) is not covered.

#ifndef MP_NUMERICS_DOTERRORBOUNDS_H
#define MP_NUMERICS_DOTERRORBOUNDS_H

#include "mp/Numerics/TensorCore.h"

namespace mpcore::numerics {

/// g such that one fused step errs by at most g * (sum of the magnitudes it
/// adds): each of the group's products and c is cut by less than 2^(M - F),
/// where 2^M is at most the largest magnitude, and the sum is then cut to the
/// result format.
double stepError(const TensorCoreModel &model);

/// C such that |error| <= C * K * 2^-24 * A to first order, without promotion
/// and for models that are not emulated: stepError per product, in units of
/// f32's u. 0.656 for f16 on sm_90.
double errorConstant(const TensorCoreModel &model);

/// |modelDot - exact| <= dotErrorBound * A for K = `k` operands that are exact
/// in the operand formats; rigorous (not first order), promotion included.
double dotErrorBound(const TensorCoreModel &model, size_t k);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_DOTERRORBOUNDS_H
