// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Average rounding error, for choosing between precisions: a value is described by the root mean
// square of its elements and the variance of its error, errors of different operations count as
// independent, and variances add. Not a bound: results are *modelled*, never proved. Within ten per
// cent of the truth on a transformer block, where the worst case is four orders of magnitude above
// it. Source of the independence model: Higham and Mary, "A new approach to probabilistic rounding
// error analysis", SIAM J. Sci. Comput. 41(5), 2019.

#ifndef MP_DOMAINS_VARIANCE_H
#define MP_DOMAINS_VARIANCE_H

#include "mp/Domains/Accumulation.h"
#include "mp/Domains/Elementary.h"
#include "mp/Domains/Facts.h"
#include "mp/Numerics/SplitPrecision.h"

namespace mpcore::domains {

struct Signal {
  double rms = 0;      ///< root mean square of the elements
  double variance = 0; ///< mean square of computed - exact
};

/// Root mean square of one rounding error relative to the value: uniform within the last place,
/// averaged over significands uniform on a logarithmic scale.
inline constexpr double kRoundingRms = 0.41;

Signal castSignal(const Signal &x, numerics::Format format);

/// sum over k products of independent elements; operands converted to `operands` first (nullopt: as
/// they are).
Signal contractionSignal(const Signal &x, const Signal &w, int64_t k,
                         std::optional<numerics::Format> operands, const Accumulation &accumulation,
                         numerics::Format result);
/// The same from parts of the factors: what dropped parts and the remainders behind the last leave
/// out, and the accumulation of the leading products; the smaller ones are summed beside them.
Signal splitSignal(const Signal &x, const Signal &w, int64_t k, numerics::SplitScheme scheme,
                   const Accumulation &accumulation);
/// Softmax over n logits: outputs near 1/n, an error dx moves y by y (dx - sum y dx).
Signal softmaxSignal(const Signal &x, int64_t n, numerics::Format format);
/// Part of the mean square of y dx that is that of y (dx - sum y dx), for independent dx of one
/// size: sum y^2 (1 - 2 y + q) over sum y^2, with q = sum y^2, on rows of n logits drawn from the
/// normal law of this rms, the same ones at every call. 1 - 1/n where logits are alike, small where
/// one takes all.
double softmaxShare(double logitRms, int64_t n);

} // namespace mpcore::domains

#endif // MP_DOMAINS_VARIANCE_H
