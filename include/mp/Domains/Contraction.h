// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of contractions: y_j = sum over k of x_k * w_kj (matmul, batch_matmul, convolution seen as
// im2col). Three bounds are intersected: K times the product interval, Cauchy-Schwarz on the norms
// of the contracted vectors, and for constant weights the exact signed sums per output channel.

#ifndef MP_DOMAINS_CONTRACTION_H
#define MP_DOMAINS_CONTRACTION_H

#include "mp/Domains/Constants.h"
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

struct ContractionShape {
  Extent contracted;
  RowLength resultRowLength;
  /// Bound on |result row| / |contracted vector of x|: the spectral norm of w when a result row is
  /// x_row * w. inf when the result's rows are something else.
  double operatorNorm = std::numeric_limits<double>::infinity();
};

/// Both operands variable (or their structure unknown).
FloatFacts contract(const ContractionOperand &x, const ContractionOperand &w,
                    const ContractionShape &shape);

/// Constant weights: `lines` are the vectors along the contracted dimension, one per output channel
/// (matrix.columns for x * W, matrix.rows for x * W^T). `channelDim`: the result dimension the
/// channels index; nullopt drops them.
FloatFacts contractConstant(const ContractionOperand &x, const FloatFacts &weights,
                            llvm::ArrayRef<LineFacts> lines, const ContractionShape &shape,
                            std::optional<unsigned> channelDim = std::nullopt);

/// P * V where every row of P is non-negative and sums to one (softmax output): results lie in the
/// hull of V's rows. `sumSlack`: how far a computed row sum may be from one.
FloatFacts convexCombination(const FloatFacts &v, double sumSlack, RowLength resultRowLength);

} // namespace mpcore::domains

#endif // MP_DOMAINS_CONTRACTION_H
