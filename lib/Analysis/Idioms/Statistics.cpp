// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Terms with factors and small constants taken off, and statistics: means, variances, and of what.

#include "Matcher.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;
using domains::Interval;

Term Matcher::besideConstant(const Term &term, double *constant) const {
  if (!is(term, Kind::Add))
    return {};
  Term a = graph.left(term), b = graph.right(term);
  for (auto [c, x] : {std::pair(a, b), std::pair(b, a)})
    if (is(c, Kind::Constant)) {
      if (constant)
        *constant = graph[c].value;
      return x;
    }
  return {};
}

Term Matcher::withoutEpsilon(const Term &term) const {
  if (Term x = besideConstant(term))
    return x;
  // An epsilon that is an argument is a parameter.
  if (is(term, Kind::Add) || is(term, Kind::Max)) {
    Term a = graph.left(term), b = graph.right(term);
    if (is(a, Kind::Constant) || graph.isParameter(a))
      return b;
    if (is(b, Kind::Constant) || graph.isParameter(b))
      return a;
  }
  return term;
}

Term Matcher::withoutScale(const Term &term, double *by) const {
  *by = is(term, Kind::Scale) ? graph[term].value : 1;
  return is(term, Kind::Scale) ? graph.left(term) : term;
}

SmallVector<Term> Matcher::factorsOf(const Term &term, ArrayRef<Kind> kinds) const {
  SmallVector<Term> found = {term};
  for (size_t i = 0; i < found.size() && found.size() < 16; ++i) {
    const Expression &e = graph[found[i]];
    if (!llvm::is_contained(kinds, e.kind))
      continue;
    for (const Term &part : {graph.left(found[i]), e.b ? graph.right(found[i]) : Term()})
      if (part && !llvm::is_contained(found, part))
        found.push_back(part);
  }
  return found;
}

bool Matcher::hasFactor(const Term &product, const Term &factor) const {
  double by;
  return llvm::is_contained(factorsOf(product, {Kind::Mul, Kind::Scale}),
                            withoutScale(factor, &by));
}

Statistic Matcher::meanOf(const Term &term) const {
  const Expression &e = graph[term];
  Term total;
  if (e.kind == Kind::Scale && is(graph.left(term), Kind::Sum)) {
    int64_t count = graph[graph.left(term)].count;
    // 1 / n, or 1 / (n - 1) of the unbiased variance.
    if (count == 0 || near(e.value * count, 1) || (count > 1 && near(e.value * (count - 1), 1)))
      total = graph.left(term);
  } else if (e.kind == Kind::Div && is(graph.left(term), Kind::Sum) &&
             is(graph.right(term), Kind::Count)) {
    total = graph.left(term);
  }
  return total ? Statistic{total, graph[total].a} : Statistic();
}

Term Matcher::centered(const Term &term) const {
  if (!is(term, Kind::Sub))
    return {};
  Term x = graph.left(term);
  Statistic mean = meanOf(graph.right(term));
  return mean && isSumOf(mean.sum, x) ? x : Term();
}

Statistic Matcher::meanSquareOf(const Term &term) const {
  Statistic mean = meanOf(term);
  if (!mean)
    return {};
  const Expression &square = graph[mean.of];
  return square.kind == Kind::Mul && square.a == square.b ? Statistic{mean.sum, graph.left(mean.of)}
                                                          : Statistic();
}

Statistic Matcher::varianceOf(const Term &term) const {
  if (is(term, Kind::Max)) { // clamped at zero
    Term a = graph.left(term), b = graph.right(term);
    if (isConstant(a, 0) || isConstant(b, 0))
      return varianceOf(isConstant(a, 0) ? b : a);
  }
  if (Statistic squares = meanSquareOf(term))
    return centered(squares.of) ? squares : Statistic();
  // E x^2 - (E x)^2
  if (!is(term, Kind::Sub))
    return {};
  Statistic squares = meanSquareOf(graph.left(term));
  double by;
  Term product = withoutScale(graph.right(term), &by);
  const Expression &square = graph[product];
  if (!squares || square.kind != Kind::Mul || square.a != square.b)
    return {};
  Term mean = graph.left(product);
  Statistic average = meanOf(mean);
  Term sum = average ? average.sum : mean;
  // Both of the same groups.
  bool agrees = is(sum, Kind::Sum) && graph[sum].a == squares.of && sum.map == squares.sum.map &&
                graph[sum].reduced == graph[squares.sum].reduced;
  return agrees ? squares : Statistic();
}

bool Matcher::variesAmong(const Term &x, const Statistic &variance) const {
  if (isAmong(x, variance))
    return true;
  Term inside = centered(variance.of);
  return inside && inside.node == x.node && graph.isReductionOf(variance.sum, inside, x);
}
