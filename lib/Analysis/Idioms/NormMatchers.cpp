// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms as equations: a value over a measure of its own size, alone or with factor and terms folded
// in whatever order they were applied.

#include "Matcher.h"
#include "mp/Domains/Infinity.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;
using domains::Interval;
using domains::kInfinity;

/// Names the norm by what it reduces.
StringRef Matcher::nameOfNorm(const Term &term) const {
  const Expression &sum = graph[term];
  unsigned rank = sum.rank;
  if (rank == 0 || sum.axes == 0)
    return "layer_norm";
  uint64_t all = rank >= 64 ? ~0ull : (1ull << rank) - 1;
  unsigned first = llvm::countr_zero(sum.axes);
  bool trailing = sum.axes == (all & ~((1ull << first) - 1));
  if (!trailing)
    return sum.axes & 1 ? "batch_norm" : "instance_norm";
  unsigned reduced = rank - first;
  if (first == 2 && reduced >= 3)
    return "group_norm"; // batch, group | channels in it, space
  if (first == 2 && reduced == 2 && rank == 4)
    return "instance_norm"; // batch, channel | space
  return first == 0 && rank > 1 ? "batch_norm" : "layer_norm";
}

/// y of x / (c sqrt(y + e)); none if it is no such quotient.
Term Matcher::spreadOf(const Term &quotient, double *by) const {
  if (!is(quotient, Kind::Div))
    return {};
  // The epsilon may be inside the root, beside it, or a lower bound of it.
  Term below = graph.right(quotient);
  Term root = withoutScale(is(below, Kind::Sqrt) ? below : withoutEpsilon(below), by);
  return is(root, Kind::Sqrt) ? withoutEpsilon(graph.left(root)) : Term();
}

/// (x - mean x) / sqrt(variance x + e), x / sqrt(mean x^2 + e), x / sqrt(sum x^2 + e), perhaps with
/// more factors
std::optional<Matcher::NormParts> Matcher::normParts(const Term &quotient) const {
  double by;
  Term spread = spreadOf(quotient, &by);
  if (!spread)
    return std::nullopt;
  Term above = graph.left(quotient);
  SmallVector<Term> factors = factorsOf(above, {Kind::Mul, Kind::Scale});
  if (Statistic variance = varianceOf(spread)) {
    // The numerator holds x - mean x as a factor.
    for (const Term &factor : factors)
      if (Term x = centered(factor); x && variesAmong(x, variance))
        return NormParts{{nameOfNorm(variance.sum), x.node, countOf(variance)},
                         factor,
                         rootOf(countOf(variance)) / std::fabs(by)};
  }
  if (Statistic squares = meanSquareOf(spread))
    for (const Term &factor : factors)
      if (isAmong(factor, squares))
        return NormParts{{"rms_norm", factor.node, countOf(squares)},
                         factor,
                         rootOf(countOf(squares)) / std::fabs(by)};
  double bySum;
  Term sum = withoutScale(spread, &bySum);
  if (is(sum, Kind::Sum)) {
    const Expression &square = graph[graph[sum].a];
    if (square.kind == Kind::Mul && square.a == square.b) {
      Statistic squares = {sum, graph.left(graph[sum].a)};
      for (const Term &factor : factors)
        if (isAmong(factor, squares))
          return NormParts{{"l2_norm", factor.node, graph[sum].count},
                           factor,
                           bySum > 0 ? 1 / std::sqrt(bySum) / std::fabs(by) : kInfinity};
    }
  }
  return std::nullopt;
}

/// One of normParts, or (x - given) / sqrt(given + e)
std::optional<IdiomMatch> Matcher::norm(const Term &root) const {
  if (!is(root, Kind::Div))
    return std::nullopt;
  if (auto parts = normParts(root)) {
    if (parts->numerator == graph.left(root))
      parts->idiom.range = Interval::symmetric(parts->bound);
    return parts->idiom;
  }
  // Inference: mean and variance are parameters.
  double by;
  Term spread = spreadOf(root, &by), difference = graph.left(root);
  if (is(difference, Kind::Mul))
    difference = graph.isParameter(graph.left(difference)) ? graph.right(difference)
                                                           : graph.left(difference);
  bool isGiven = spread && graph.isParameter(spread) && !is(spread, Kind::Constant);
  if (isGiven && is(difference, Kind::Sub) && graph.isParameter(graph.right(difference)) &&
      !graph.isParameter(graph.left(difference)))
    return IdiomMatch{"batch_norm", graph.left(difference).node, 0};
  return std::nullopt;
}

std::optional<Term> Matcher::besideFactor(const Term &product, const Term &factor) const {
  if (product == factor)
    return Term();
  if (!is(product, Kind::Mul))
    return std::nullopt;
  Term a = graph.left(product), b = graph.right(product);
  if (a != factor && b != factor)
    return std::nullopt;
  return a == factor ? b : a;
}

/// The terms of a sum of a few.
void Matcher::addTerms(const Term &term, double by, unsigned depth,
                       SmallVectorImpl<Summand> &terms) const {
  const Expression &e = graph[term];
  if (depth == 0 || (e.kind != Kind::Add && e.kind != Kind::Sub && e.kind != Kind::Scale))
    return terms.push_back({term, by});
  if (e.kind == Kind::Scale)
    return addTerms(graph.left(term), by * e.value, depth - 1, terms);
  addTerms(graph.left(term), by, depth - 1, terms);
  addTerms(graph.right(term), e.kind == Kind::Sub ? -by : by, depth - 1, terms);
}

std::optional<FoldedNormMatch> Matcher::foldedNorm(const Term &root) const {
  if (auto shifted = shiftedNorm(root))
    return shifted;
  // (x - mean x) (a / sqrt(variance x + e)), and without a factor
  double by;
  Term quotient = withoutScale(root, &by);
  auto parts = is(quotient, Kind::Div) ? normParts(quotient) : std::nullopt;
  auto factor = parts ? besideFactor(graph.left(quotient), parts->numerator) : std::nullopt;
  if (!factor)
    return std::nullopt;
  return FoldedNormMatch{parts->idiom, std::fabs(by) * parts->bound, factor->node, {}};
}

/// x a + (b - (mean x) a)
std::optional<FoldedNormMatch> Matcher::shiftedNorm(const Term &root) const {
  if (!is(root, Kind::Add) && !is(root, Kind::Sub))
    return std::nullopt;
  SmallVector<Summand> terms;
  addTerms(root, 1, /*depth=*/4, terms);
  for (auto [whole, scale] : terms) {
    if (!is(whole, Kind::Div) || !is(graph.right(whole), Kind::Sqrt))
      continue;
    Term below = graph.right(whole);
    Statistic variance = varianceOf(withoutEpsilon(graph.left(below)));
    int64_t count = variance ? countOf(variance) : 0;
    if (count == 0)
      continue;
    std::optional<Term> factor;
    Term x;
    for (const Term &part : factorsOf(graph.left(whole), {Kind::Mul}))
      if (variesAmong(part, variance) && (factor = besideFactor(graph.left(whole), part))) {
        x = part;
        break;
      }
    if (!factor)
      continue;
    for (auto [mean, share] : terms) {
      if (!is(mean, Kind::Div) || graph.right(mean) != below ||
          std::fabs(share * count + scale) > 1e-5 * std::fabs(scale))
        continue;
      // The sum of the group that the variance is of.
      for (const Term &sum : factorsOf(graph.left(mean), {Kind::Mul})) {
        if (!isSumOf(sum, x) || graph[sum].reduced != graph[variance.sum].reduced ||
            graph[sum].axes != graph[variance.sum].axes || graph[sum].count != count ||
            besideFactor(graph.left(mean), sum) != factor)
          continue;
        FoldedNormMatch found{{nameOfNorm(variance.sum), x.node, count},
                              std::fabs(scale) * std::sqrt(double(count)),
                              factor->node,
                              {}};
        for (auto [term, by] : terms) {
          if (term == whole || term == mean)
            continue;
          if (std::fabs(by) != 1)
            return std::nullopt;
          found.terms.push_back(term.node);
        }
        return found;
      }
    }
  }
  return std::nullopt;
}
