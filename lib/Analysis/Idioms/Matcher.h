// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matcher of idioms: questions about terms, statistics, and one method for each idiom.

#ifndef MP_LIB_ANALYSIS_IDIOMS_MATCHER_H
#define MP_LIB_ANALYSIS_IDIOMS_MATCHER_H

#include "IdiomMatchers.h"
#include <cmath>

namespace mlir::mp::detail {

using Kind = ExpressionKind;

/// Counts and constants of one function that are given in several formats differ by this share.
inline constexpr double kSameConstant = 2e-3;

/// |x - mean| and |x| are at most sqrt(n) times their root mean square.
inline double rootOf(int64_t count) {
  return count ? std::sqrt(double(count)) : std::numeric_limits<double>::infinity();
}

/// A statistic: the sum it is made of, and the expression whose elements that adds up.
struct Statistic {
  Term sum;
  Term of; ///< seen from the elements of the sum
  explicit operator bool() const { return bool(sum); }
};

class Matcher {
public:
  explicit Matcher(const ExpressionGraph &graph) : graph(graph) {}
  std::optional<IdiomMatch> match(const Term &root) const;
  std::optional<FoldedNormMatch> foldedNorm(const Term &root) const;

private:
  bool is(const Term &term, Kind kind) const { return graph[term].kind == kind; }
  bool isConstant(const Term &term, double value) const {
    return is(term, Kind::Constant) && near(graph[term].value, value);
  }
  static bool near(double x, double y) { return std::fabs(x - y) <= kSameConstant * std::fabs(y); }
  int64_t countOf(const Statistic &statistic) const { return graph[statistic.sum].count; }

  /// The other term of constant + x; none if there is no constant.
  Term besideConstant(const Term &term, double *constant = nullptr) const;
  /// x of x + epsilon or max(x, epsilon); `term` itself if it has none.
  Term withoutEpsilon(const Term &term) const;
  Term withoutScale(const Term &term, double *by) const;
  bool hasFactor(const Term &product, const Term &factor) const;
  /// The factors of a product, or the terms of a choice, but for scales; no more than a few.
  SmallVector<Term> factorsOf(const Term &term, ArrayRef<Kind> kinds) const;
  /// True if `sum` adds up a group in which `x` lies.
  bool isSumOf(const Term &sum, const Term &x) const {
    return is(sum, Kind::Sum) && graph.isReductionOf(sum, x);
  }

  /// Returns what `term` is the mean of.
  Statistic meanOf(const Term &term) const;
  /// Returns what `term` is the mean of squares of.
  Statistic meanSquareOf(const Term &term) const;
  /// Returns what `term` is the variance of: the sum of squares, and x as the squares see it.
  Statistic varianceOf(const Term &term) const;
  /// x if `term` is x - mean x.
  Term centered(const Term &term) const;
  /// True if `x` is one of the elements that `squares` are of.
  bool isAmong(const Term &x, const Statistic &squares) const {
    return squares.of.node == x.node && graph.isReductionOf(squares.sum, squares.of, x);
  }
  /// True if x lies in the group that `variance` is of, by squares of x or of x - mean x.
  bool variesAmong(const Term &x, const Statistic &variance) const;

  std::optional<IdiomMatch> softmax(const Term &root) const;
  std::optional<IdiomMatch> logSoftmax(const Term &root) const;
  std::optional<IdiomMatch> logSumExp(const Term &root) const;
  /// `numerator` over a measure of its own size: a quotient within `bound`.
  struct NormParts {
    IdiomMatch idiom;
    Term numerator;
    double bound;
  };
  Term spreadOf(const Term &quotient, double *by) const;
  std::optional<NormParts> normParts(const Term &quotient) const;
  /// The other factor of a product with `factor`; an empty term if the product is `factor` itself.
  std::optional<Term> besideFactor(const Term &product, const Term &factor) const;
  std::optional<FoldedNormMatch> shiftedNorm(const Term &root) const;

  std::optional<IdiomMatch> norm(const Term &root) const;
  std::optional<IdiomMatch> shiftedNormIdiom(const Term &root) const {
    auto found = shiftedNorm(root);
    return found ? std::optional(found->idiom) : std::nullopt;
  }
  using Summand = std::pair<Term, double>; ///< a term and what it is multiplied by
  void addTerms(const Term &term, double by, unsigned depth, SmallVectorImpl<Summand> &terms) const;
  std::optional<IdiomMatch> gelu(const Term &root) const;
  std::optional<IdiomMatch> loss(const Term &root) const;
  std::optional<IdiomMatch> statistic(const Term &root) const;
  /// exp(x - max x), or exp(x): x, perhaps with the maximum guarded against infinities.
  Term shiftedExpOf(const Term &term) const;
  bool isGroupMaxOf(const Term &term, const Term &x) const;
  StringRef nameOfNorm(const Term &sum) const;

  const ExpressionGraph &graph;
};

} // namespace mlir::mp::detail

#endif // MP_LIB_ANALYSIS_IDIOMS_MATCHER_H
