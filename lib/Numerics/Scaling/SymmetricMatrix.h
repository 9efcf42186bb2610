// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factors and inverses of second moments.

#ifndef MP_LIB_NUMERICS_SCALING_SYMMETRICMATRIX_H
#define MP_LIB_NUMERICS_SCALING_SYMMETRICMATRIX_H

#include "mp/Numerics/Scaling/SecondOrder.h"

namespace mpcore::numerics {

/// In place, the lower factor L with L L^T = `matrix`, which is positive definite.
void factorize(std::vector<double> &matrix, size_t n);

/// The inverse of L L^T from its lower factor.
std::vector<double> invert(const std::vector<double> &factor, size_t n);

/// In place, the solution y of L L^T y = x.
void solve(const std::vector<double> &factor, std::vector<double> &x);

/// The second moments, positive definite. Those of an input that is always 0 are `unseen` times the
/// mean.
std::vector<double> dampedMoments(const SecondMoments &moments, const WeightRounding &shape,
                                  double unseen);

} // namespace mpcore::numerics

#endif // MP_LIB_NUMERICS_SCALING_SYMMETRICMATRIX_H
