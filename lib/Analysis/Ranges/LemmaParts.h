// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shares between the lemmas: tolerances, how much a node's format rounds off, and small judgements.

#ifndef MP_LIB_ANALYSIS_RANGES_LEMMAPARTS_H
#define MP_LIB_ANALYSIS_RANGES_LEMMAPARTS_H

#include "mp/Analysis/Ranges/Lemmas.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

inline constexpr unsigned kMaxLemmaDepth = 8;
/// Relative error that is allowed of roots, reciprocals and exponentials (docs/reference/Math.md).
inline constexpr double kFunctionError = 0x1p-18;
/// Covers the roundings of the bounds' own computation in double.
inline constexpr double kOwnError = 0x1p-40;

/// Returns what the format that computes a node loses at most.
struct Lemmas::Rounding {
  double relative = 0;  ///< of a result
  double smallest = 0;  ///< normal number: results below may become zero
  double underflow = 0; ///< largest finite times half the smallest number: what that may grow to
  double function = 0;  ///< relative error of a root, a reciprocal, an exponential
};

/// |a| times an inverse, or over a value, is at most `bound`; its 2-norm along summed dimensions
/// is at most `norm`.
struct Lemmas::Quotient {
  double bound = std::numeric_limits<double>::infinity(),
         norm = std::numeric_limits<double>::infinity();
  Dominance dominance;
  View denominator;

  void multiply(double by, double underflow) {
    bound = bound * by + underflow;
    norm = norm * by + std::sqrt(double(std::max<int64_t>(dominance.count, 1))) * underflow;
  }
};

/// Coordinate `dim` of the node that `view` sees, as a function of the index it is seen at.
inline AffineExpr coordinate(const View &view, unsigned dim, MLIRContext *context) {
  return view.map ? view.map.getResult(dim) : getAffineDimExpr(dim, context);
}

inline bool isNonNegative(const domains::FloatFacts *facts) {
  return facts && !facts->isBottom() && facts->range.lo >= 0;
}

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_LEMMAPARTS_H
