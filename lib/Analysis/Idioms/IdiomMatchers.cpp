// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The idioms as equations. Expressions are spelled one way already (Expressions.h): quotients for
// products with reciprocals, scales outermost, equal expressions one number. All terms of one match
// are seen from one place, so that a statistic is one of the elements it meets.

#include "Matcher.h"
#include "mp/Domains/Infinity.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;
using domains::Interval;
using domains::kInfinity;

/// Minima of x Phi(x), its tanh form, and x sigmoid(x), rounded away from zero.
static constexpr Interval kGelu = {-0.171, kInfinity};
static constexpr Interval kSilu = {-0.279, kInfinity};

/// The maximum, perhaps guarded: replaced by zero or a number where it is infinite.
bool Matcher::isGroupMaxOf(const Term &term, const Term &x) const {
  double by;
  Term unscaled = withoutScale(x, &by);
  return llvm::any_of(
      factorsOf(term, {Kind::Select, Kind::Max, Kind::Scale}), [&](const Term &part) {
        // max(c x) = c max(x)
        return is(part, Kind::GroupMax) &&
               (graph.isReductionOf(part, x) || graph.isReductionOf(part, unscaled));
      });
}

/// A mask may be applied to the exponentials.
Term Matcher::shiftedExpOf(const Term &term) const {
  for (const Term &part : factorsOf(term, {Kind::Select, Kind::Mul})) {
    if (!is(part, Kind::Exp))
      continue;
    double by;
    Term exponent = graph.left(part), difference = withoutScale(exponent, &by);
    if (is(difference, Kind::Sub) && isGroupMaxOf(graph.right(difference), graph.left(difference)))
      return graph.left(difference);
    return exponent;
  }
  return {};
}

/// exp(x - m) / sum exp(x - m)
std::optional<IdiomMatch> Matcher::softmax(const Term &root) const {
  const Expression &e = graph[root];
  if (e.kind == Kind::Softmax)
    return IdiomMatch{"softmax", graph.left(root).node, e.count, {0, 1}};
  if (e.kind != Kind::Div)
    return std::nullopt;
  Term numerator = graph.left(root), total = withoutEpsilon(graph.right(root));
  // A total of zero may be replaced by one.
  if (is(total, Kind::Select))
    total = is(graph.left(total), Kind::Sum) ? graph.left(total) : graph.right(total);
  if (!isSumOf(total, numerator))
    return std::nullopt;
  if (Term x = shiftedExpOf(numerator))
    return IdiomMatch{"softmax", x.node, graph[total].count, {0, 1}};
  return std::nullopt;
}

/// log sum exp(x - m) (+ m)
std::optional<IdiomMatch> Matcher::logSumExp(const Term &root) const {
  if (is(root, Kind::Add)) {
    Term a = graph.left(root), b = graph.right(root);
    for (auto [log, max] : {std::pair(a, b), std::pair(b, a)})
      if (is(log, Kind::Log))
        if (auto inner = logSumExp(log);
            inner && llvm::any_of(factorsOf(max, {Kind::Select, Kind::Max, Kind::Scale}),
                                  [&](const Term &part) {
                                    return is(part, Kind::GroupMax) &&
                                           (graph[part].a.node == inner->of ||
                                            graph[part].a.node == inner->unscaled);
                                  }))
          return inner;
  }
  if (!is(root, Kind::Log))
    return std::nullopt;
  Term total = withoutEpsilon(graph.left(root));
  if (!is(total, Kind::Sum))
    return std::nullopt;
  if (Term x = shiftedExpOf(graph.left(total))) {
    double by;
    IdiomMatch match{"logsumexp", x.node, graph[total].count};
    match.unscaled = withoutScale(x, &by).node;
    match.sum = total;
    return match;
  }
  return std::nullopt;
}

/// (x - m) - log sum exp(x - m), x - logsumexp x, or the logarithm of a softmax
std::optional<IdiomMatch> Matcher::logSoftmax(const Term &root) const {
  if (is(root, Kind::Log)) {
    auto inner = softmax(withoutEpsilon(graph.left(root)));
    return inner
               ? std::optional(IdiomMatch{"log_softmax", inner->of, inner->count, {-kInfinity, 0}})
               : std::nullopt;
  }
  if (!is(root, Kind::Sub))
    return std::nullopt;
  auto normalizer = logSumExp(graph.right(root));
  if (!normalizer)
    return std::nullopt;
  Term x = graph.left(root);
  if (is(x, Kind::Sub) && isGroupMaxOf(graph.right(x), graph.left(x)))
    x = graph.left(x);
  if (x.node != normalizer->of || !graph.isInGroup(normalizer->sum, x))
    return std::nullopt;
  return IdiomMatch{"log_softmax", x.node, normalizer->count, {-kInfinity, 0}};
}

/// x (1 + erf(x / sqrt 2)) / 2, x (1 + tanh(...)) / 2, x / (1 + exp(-x))
std::optional<IdiomMatch> Matcher::gelu(const Term &root) const {
  double by;
  Term e = withoutScale(root, &by);
  if (is(e, Kind::Div)) {
    double one = 0;
    Term exp = besideConstant(graph.right(e), &one);
    if (one != 1 || !exp || !is(exp, Kind::Exp))
      return std::nullopt;
    double slope;
    Term x = withoutScale(graph.left(exp), &slope), above = graph.left(e);
    if (slope < 0 && hasFactor(above, x))
      return IdiomMatch{"silu", x.node, 0, above == x && slope == -1 ? kSilu : Interval::top()};
    return std::nullopt;
  }
  if (!is(e, Kind::Mul))
    return std::nullopt;
  Term a = graph.left(e), b = graph.right(e);
  for (auto [x, gate] : {std::pair(a, b), std::pair(b, a)}) {
    double constant = 0, slope, gateScale;
    Term function = besideConstant(withoutScale(gate, &gateScale), &constant);
    if (!function)
      continue;
    function = withoutScale(function, &slope);
    // c + c f(x): one plus f, scaled.
    if (constant == 0 || !near(std::fabs(slope), std::fabs(constant)))
      continue;
    bool isHalf = near(by * gateScale * constant, 0.5);
    double inner;
    if (is(function, Kind::Erf) && withoutScale(graph.left(function), &inner) == x &&
        near(inner, M_SQRT1_2))
      return IdiomMatch{"gelu", x.node, 0, isHalf ? kGelu : Interval::top()};
    // sqrt(2/pi) (x + 0.044715 x^3), in whatever order.
    if (is(function, Kind::Tanh)) {
      Term cubic = withoutScale(graph.left(function), &inner);
      bool isSum = is(cubic, Kind::Add) &&
                   (hasFactor(graph.left(cubic), x) || hasFactor(graph.right(cubic), x));
      bool isProduct = is(cubic, Kind::Mul) && (graph.left(cubic) == x || graph.right(cubic) == x);
      if (isSum || isProduct)
        return IdiomMatch{"gelu_tanh", x.node, 0, isHalf ? kGelu : Interval::top()};
    }
  }
  return std::nullopt;
}

/// mean((a - b)^2); sum or mean of target times log-softmax, or of its chosen elements
std::optional<IdiomMatch> Matcher::loss(const Term &root) const {
  double by;
  Term sum = withoutScale(root, &by);
  if (is(sum, Kind::Div) && is(graph.right(sum), Kind::Count))
    sum = graph.left(sum);
  if (!is(sum, Kind::Sum))
    return std::nullopt;
  double inner;
  Term term = withoutScale(graph[sum].a, &inner);
  const Expression &e = graph[term];
  if (e.kind == Kind::Mul && e.a == e.b && is(graph.left(term), Kind::Sub) &&
      !centered(graph.left(term)) && meanOf(root))
    return IdiomMatch{"mean_square_error", graph.left(term).node, graph[sum].count};
  for (const Term &factor : factorsOf(term, {Kind::Mul, Kind::Select, Kind::Scale, Kind::Sum}))
    if (auto log = logSoftmax(factor))
      return IdiomMatch{"cross_entropy", log->of, log->count};
  return std::nullopt;
}

std::optional<IdiomMatch> Matcher::statistic(const Term &root) const {
  if (Statistic variance = varianceOf(root)) {
    Term x = centered(variance.of);
    return IdiomMatch{"variance", (x ? x : variance.of).node, countOf(variance), {0, kInfinity}};
  }
  if (Statistic mean = meanOf(root))
    return IdiomMatch{"mean", mean.of.node, countOf(mean)};
  if (is(root, Kind::Sqrt)) {
    Term total = withoutEpsilon(graph.left(root));
    if (is(total, Kind::Sum)) {
      const Expression &square = graph[graph[total].a];
      if (square.kind == Kind::Mul && square.a == square.b)
        return IdiomMatch{"l2_norm", square.a.node, graph[total].count, {0, kInfinity}};
    }
  }
  return std::nullopt;
}

std::optional<IdiomMatch> Matcher::match(const Term &root) const {
  using Rule = std::optional<IdiomMatch> (Matcher::*)(const Term &) const;
  for (Rule rule :
       {&Matcher::softmax, &Matcher::logSoftmax, &Matcher::logSumExp, &Matcher::norm,
        &Matcher::shiftedNormIdiom, &Matcher::gelu, &Matcher::loss, &Matcher::statistic})
    if (auto found = (this->*rule)(root))
      return found;
  return std::nullopt;
}

std::optional<IdiomMatch> mlir::mp::detail::matchIdiom(const ExpressionGraph &graph,
                                                       const Term &root) {
  return Matcher(graph).match(root);
}

std::optional<FoldedNormMatch> mlir::mp::detail::matchFoldedNorm(const ExpressionGraph &graph,
                                                                 const Term &root) {
  return Matcher(graph).foldedNorm(root);
}
