// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of contractions: y_j = sum over k of x_k * w_kj (matmul, batch_matmul, convolution seen as
// im2col). Two bounds are intersected: K times the product interval, and Cauchy-Schwarz on the
// norms of the contracted vectors.

#ifndef MP_DOMAINS_CONTRACTION_H
#define MP_DOMAINS_CONTRACTION_H

#include "mp/Domains/Reductions.h"

namespace mpcore::domains {

struct ContractionOperand {
  FloatFacts facts;
  /// Bound on the 2-norm of every vector of this operand along the contracted dimensions; inf if
  /// unknown. It is facts.norm2 when exactly the innermost dimension is contracted;
  /// contractedNorm() finds it in general.
  double norm = std::numeric_limits<double>::infinity();
};

/// Norm of the contracted vectors: `rows` whole rows of x when the innermost dimension is
/// contracted, else from the range and the number of contracted elements.
double contractedNorm(const FloatFacts &x, const Extent &contracted, bool innermostIsContracted,
                      const Extent &rows = Extent::exactly(1));

/// The sums of products of two operands; `resultRowLength` is for the result.
FloatFacts contract(const ContractionOperand &x, const ContractionOperand &w,
                    const Extent &contracted, RowLength resultRowLength);

} // namespace mpcore::domains

#endif // MP_DOMAINS_CONTRACTION_H
