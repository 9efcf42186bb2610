// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognising one idiom from its root expression.

#ifndef MP_LIB_ANALYSIS_IDIOMS_IDIOMMATCHERS_H
#define MP_LIB_ANALYSIS_IDIOMS_IDIOMMATCHERS_H

#include "mp/Analysis/Values/Expressions.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Interval.h"

namespace mlir::mp::detail {

struct IdiomMatch {
  StringRef kind;
  /// The expression that the idiom is a function of: where it begins.
  unsigned of = 0;
  int64_t count = 0; ///< elements in a group, 0 if unknown
  /// Bounds what follows for the value from being this idiom.
  domains::Interval range = domains::Interval::top();
  /// Keeps of a log-sum-exp `of` without a constant factor, and the sum.
  unsigned unscaled = 0;
  Term sum = {};
};

/// A norm with its factor g and terms b, in whatever order they were applied: x a + (b - (mean x)
/// a) or (x - mean x) a, with a = g / sqrt(variance x + e).
struct FoldedNormMatch {
  IdiomMatch idiom;
  double bound = 0;               ///< of its magnitude but for g and terms
  unsigned factor = 0;            ///< g; 0 if there is none
  SmallVector<unsigned, 2> terms; ///< b
};

/// The idiom whose value is expression `root`, if it is one.
std::optional<IdiomMatch> matchIdiom(const ExpressionGraph &graph, const Term &root);

std::optional<FoldedNormMatch> matchFoldedNorm(const ExpressionGraph &graph, const Term &root);

} // namespace mlir::mp::detail

#endif // MP_LIB_ANALYSIS_IDIOMS_IDIOMMATCHERS_H
