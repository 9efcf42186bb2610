// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The idioms as equations. Expressions are spelled one way already (Expressions.h): quotients for
// products with reciprocals, scales outermost, equal expressions one number.

#include "IdiomMatchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;
using domains::Interval;
using Kind = ExpressionKind;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Minima of x Phi(x), its tanh form, and x sigmoid(x), rounded away from zero.
static constexpr Interval kGelu = {-0.171, kInfinity};
static constexpr Interval kSilu = {-0.279, kInfinity};

/// |x - mean| and |x| are at most sqrt(n) times their root mean square.
static double rootOf(int64_t count) { return count ? std::sqrt(double(count)) : kInfinity; }

namespace {
class Matcher {
public:
  explicit Matcher(const ExpressionGraph &graph) : graph(graph) {}
  std::optional<IdiomMatch> match(unsigned root) const;
  std::optional<FoldedNormMatch> foldedNorm(unsigned root) const;

private:
  bool is(unsigned number, Kind kind) const { return graph[number].kind == kind; }
  bool isConstant(unsigned number, double value) const {
    return is(number, Kind::Constant) && near(graph[number].value, value);
  }
  static bool near(double x, double y) { return std::fabs(x - y) <= 2e-3 * std::fabs(y); }

  /// The other term of constant + x; 0 if there is no constant.
  unsigned besideConstant(unsigned number, double *constant = nullptr) const;
  /// x of x + epsilon or max(x, epsilon); `number` itself if it has none.
  unsigned withoutEpsilon(unsigned number) const;
  unsigned withoutScale(unsigned number, double *by) const;
  bool hasFactor(unsigned product, unsigned factor) const;
  /// The factors of a product, or the terms of a choice, but for scales; no more than a few.
  SmallVector<unsigned> factorsOf(unsigned number, ArrayRef<Kind> kinds) const;
  bool isSumOf(unsigned number, unsigned x) const {
    return is(number, Kind::Sum) && graph[number].a == x;
  }

  /// What `number` is the mean of; 0 if it is none. `sum` becomes the Sum in it.
  unsigned meanOf(unsigned number, unsigned *sum = nullptr) const;
  /// What `number` is the mean of squares of.
  unsigned meanSquareOf(unsigned number, unsigned *sum) const;
  /// What `number` is the variance of.
  unsigned varianceOf(unsigned number, unsigned *sum) const;
  /// x if `number` is x - mean x.
  unsigned centered(unsigned number) const;

  std::optional<IdiomMatch> softmax(unsigned root) const;
  std::optional<IdiomMatch> logSoftmax(unsigned root) const;
  std::optional<IdiomMatch> logSumExp(unsigned root) const;
  /// `numerator` over a measure of its own size: a quotient within `bound`.
  struct NormParts {
    IdiomMatch idiom;
    unsigned numerator;
    double bound;
  };
  unsigned spreadOf(const Expression &quotient, double *by) const;
  std::optional<NormParts> normParts(const Expression &quotient) const;
  /// The other factor of a product with `factor`; 0 if the product is `factor` itself.
  std::optional<unsigned> besideFactor(unsigned product, unsigned factor) const;
  std::optional<FoldedNormMatch> shiftedNorm(unsigned root) const;

  std::optional<IdiomMatch> norm(unsigned root) const;
  std::optional<IdiomMatch> shiftedNormIdiom(unsigned root) const {
    auto found = shiftedNorm(root);
    return found ? std::optional(found->idiom) : std::nullopt;
  }
  using Term = std::pair<unsigned, double>; ///< an expression and what it is multiplied by
  void addTerms(unsigned number, double by, unsigned depth, SmallVectorImpl<Term> &terms) const;
  std::optional<IdiomMatch> gelu(unsigned root) const;
  std::optional<IdiomMatch> loss(unsigned root) const;
  std::optional<IdiomMatch> statistic(unsigned root) const;
  /// exp(x - max x), or exp(x): x, perhaps with the maximum guarded against infinities.
  unsigned shiftedExpOf(unsigned number) const;
  bool isGroupMaxOf(unsigned number, unsigned x) const;
  StringRef nameOfNorm(const Expression &sum) const;

  const ExpressionGraph &graph;
};
} // namespace

unsigned Matcher::besideConstant(unsigned number, double *constant) const {
  const Expression &e = graph[number];
  if (e.kind != Kind::Add)
    return 0;
  for (auto [c, x] : {std::pair(e.a, e.b), std::pair(e.b, e.a)})
    if (is(c, Kind::Constant)) {
      if (constant)
        *constant = graph[c].value;
      return x;
    }
  return 0;
}

unsigned Matcher::withoutEpsilon(unsigned number) const {
  if (unsigned x = besideConstant(number))
    return x;
  const Expression &e = graph[number];
  // An epsilon that is an argument is a parameter.
  if (e.kind == Kind::Add || e.kind == Kind::Max) {
    if (is(e.a, Kind::Constant) || graph.isParameter(e.a))
      return e.b;
    if (is(e.b, Kind::Constant) || graph.isParameter(e.b))
      return e.a;
  }
  return number;
}

unsigned Matcher::withoutScale(unsigned number, double *by) const {
  *by = is(number, Kind::Scale) ? graph[number].value : 1;
  return is(number, Kind::Scale) ? graph[number].a : number;
}

SmallVector<unsigned> Matcher::factorsOf(unsigned number, ArrayRef<Kind> kinds) const {
  SmallVector<unsigned> found = {number};
  for (size_t i = 0; i < found.size() && found.size() < 16; ++i) {
    const Expression &e = graph[found[i]];
    if (!llvm::is_contained(kinds, e.kind))
      continue;
    for (unsigned part : {e.a, e.b})
      if (part && !llvm::is_contained(found, part))
        found.push_back(part);
  }
  return found;
}

bool Matcher::hasFactor(unsigned product, unsigned factor) const {
  double by;
  factor = withoutScale(factor, &by);
  return llvm::is_contained(factorsOf(product, {Kind::Mul, Kind::Scale}), factor);
}

unsigned Matcher::meanOf(unsigned number, unsigned *sum) const {
  const Expression &e = graph[number];
  unsigned total = 0;
  if (e.kind == Kind::Scale && is(e.a, Kind::Sum)) {
    int64_t count = graph[e.a].count;
    // 1 / n, or 1 / (n - 1) of the unbiased variance.
    if (count == 0 || near(e.value * count, 1) || (count > 1 && near(e.value * (count - 1), 1)))
      total = e.a;
  } else if (e.kind == Kind::Div && is(e.a, Kind::Sum) && is(e.b, Kind::Count)) {
    total = e.a;
  }
  if (sum)
    *sum = total;
  return total ? graph[total].a : 0;
}

unsigned Matcher::centered(unsigned number) const {
  const Expression &e = graph[number];
  return e.kind == Kind::Sub && meanOf(e.b) == e.a ? e.a : 0;
}

unsigned Matcher::meanSquareOf(unsigned number, unsigned *sum) const {
  unsigned square = meanOf(number, sum);
  const Expression &e = graph[square];
  return square && e.kind == Kind::Mul && e.a == e.b ? e.a : 0;
}

unsigned Matcher::varianceOf(unsigned number, unsigned *sum) const {
  const Expression &e = graph[number];
  if (e.kind == Kind::Max && (isConstant(e.a, 0) || isConstant(e.b, 0))) // clamped at zero
    return varianceOf(isConstant(e.a, 0) ? e.b : e.a, sum);
  if (unsigned difference = meanSquareOf(number, sum))
    return centered(difference);
  // E x^2 - (E x)^2
  if (e.kind != Kind::Sub)
    return 0;
  unsigned x = meanSquareOf(e.a, sum);
  double by;
  unsigned product = withoutScale(e.b, &by);
  const Expression &square = graph[product];
  return x && square.kind == Kind::Mul && square.a == square.b &&
                 (isSumOf(square.a, x) || meanOf(square.a) == x)
             ? x
             : 0;
}

/// The maximum, perhaps guarded: replaced by zero or a number where it is infinite.
bool Matcher::isGroupMaxOf(unsigned number, unsigned x) const {
  double by;
  unsigned unscaled = withoutScale(x, &by);
  return llvm::any_of(
      factorsOf(number, {Kind::Select, Kind::Max, Kind::Scale}), [&](unsigned part) {
        // max(c x) = c max(x)
        return is(part, Kind::GroupMax) && (graph[part].a == x || graph[part].a == unscaled);
      });
}

/// A mask may be applied to the exponentials.
unsigned Matcher::shiftedExpOf(unsigned number) const {
  for (unsigned part : factorsOf(number, {Kind::Select, Kind::Mul})) {
    const Expression &e = graph[part];
    if (e.kind != Kind::Exp)
      continue;
    double by;
    const Expression &difference = graph[withoutScale(e.a, &by)];
    return difference.kind == Kind::Sub && isGroupMaxOf(difference.b, difference.a) ? difference.a
                                                                                    : e.a;
  }
  return 0;
}

/// exp(x - m) / sum exp(x - m)
std::optional<IdiomMatch> Matcher::softmax(unsigned root) const {
  const Expression &e = graph[root];
  if (e.kind == Kind::Softmax)
    return IdiomMatch{"softmax", e.a, e.count, {0, 1}};
  if (e.kind != Kind::Div)
    return std::nullopt;
  unsigned total = withoutEpsilon(e.b);
  // A total of zero may be replaced by one.
  if (is(total, Kind::Select))
    total = is(graph[total].a, Kind::Sum) ? graph[total].a : graph[total].b;
  if (!isSumOf(total, e.a))
    return std::nullopt;
  if (unsigned x = shiftedExpOf(e.a))
    return IdiomMatch{"softmax", x, graph[total].count, {0, 1}};
  return std::nullopt;
}

/// log sum exp(x - m) (+ m)
std::optional<IdiomMatch> Matcher::logSumExp(unsigned root) const {
  const Expression &e = graph[root];
  if (e.kind == Kind::Add)
    for (auto [log, max] : {std::pair(e.a, e.b), std::pair(e.b, e.a)})
      if (is(log, Kind::Log))
        if (auto inner = logSumExp(log); inner && isGroupMaxOf(max, inner->of))
          return inner;
  if (e.kind != Kind::Log)
    return std::nullopt;
  unsigned total = withoutEpsilon(e.a);
  if (!is(total, Kind::Sum))
    return std::nullopt;
  if (unsigned x = shiftedExpOf(graph[total].a))
    return IdiomMatch{"logsumexp", x, graph[total].count};
  return std::nullopt;
}

/// (x - m) - log sum exp(x - m), x - logsumexp x, or the logarithm of a softmax
std::optional<IdiomMatch> Matcher::logSoftmax(unsigned root) const {
  const Expression &e = graph[root];
  if (e.kind == Kind::Log) {
    auto inner = softmax(withoutEpsilon(e.a));
    return inner
               ? std::optional(IdiomMatch{"log_softmax", inner->of, inner->count, {-kInfinity, 0}})
               : std::nullopt;
  }
  if (e.kind != Kind::Sub)
    return std::nullopt;
  auto normalizer = logSumExp(e.b);
  if (!normalizer)
    return std::nullopt;
  unsigned x = is(e.a, Kind::Sub) && isGroupMaxOf(graph[e.a].b, graph[e.a].a) ? graph[e.a].a : e.a;
  if (x != normalizer->of)
    return std::nullopt;
  return IdiomMatch{"log_softmax", x, normalizer->count, {-kInfinity, 0}};
}

/// Which norm it is shows in what is reduced.
StringRef Matcher::nameOfNorm(const Expression &sum) const {
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

/// y of x / (c sqrt(y + e)); 0 if it is no such quotient.
unsigned Matcher::spreadOf(const Expression &e, double *by) const {
  if (e.kind != Kind::Div)
    return 0;
  // The epsilon may be inside the root, beside it, or a lower bound of it.
  unsigned root = withoutScale(is(e.b, Kind::Sqrt) ? e.b : withoutEpsilon(e.b), by);
  return is(root, Kind::Sqrt) ? withoutEpsilon(graph[root].a) : 0;
}

/// (x - mean x) / sqrt(variance x + e), x / sqrt(mean x^2 + e), x / sqrt(sum x^2 + e), perhaps with
/// more factors
std::optional<Matcher::NormParts> Matcher::normParts(const Expression &e) const {
  double by;
  unsigned spread = spreadOf(e, &by), sum = 0;
  if (unsigned x = varianceOf(spread, &sum)) {
    // The numerator holds x - mean x as a factor.
    for (unsigned factor : factorsOf(e.a, {Kind::Mul, Kind::Scale}))
      if (centered(factor) == x)
        return NormParts{{nameOfNorm(graph[sum]), x, graph[sum].count},
                         factor,
                         rootOf(graph[sum].count) / std::fabs(by)};
  }
  if (unsigned x = meanSquareOf(spread, &sum); x && hasFactor(e.a, x))
    return NormParts{
        {"rms_norm", x, graph[sum].count}, x, rootOf(graph[sum].count) / std::fabs(by)};
  double bySum;
  sum = withoutScale(spread, &bySum);
  if (is(sum, Kind::Sum)) {
    const Expression &square = graph[graph[sum].a];
    if (square.kind == Kind::Mul && square.a == square.b && hasFactor(e.a, square.a))
      return NormParts{{"l2_norm", square.a, graph[sum].count},
                       square.a,
                       bySum > 0 ? 1 / std::sqrt(bySum) / std::fabs(by) : kInfinity};
  }
  return std::nullopt;
}

/// One of normParts, or (x - given) / sqrt(given + e)
std::optional<IdiomMatch> Matcher::norm(unsigned root) const {
  const Expression &e = graph[root];
  if (auto parts = normParts(e)) {
    if (parts->numerator == e.a)
      parts->idiom.range = Interval::symmetric(parts->bound);
    return parts->idiom;
  }
  // Inference: mean and variance are parameters.
  double by;
  unsigned spread = spreadOf(e, &by);
  const Expression *difference = &graph[e.a];
  if (difference->kind == Kind::Mul)
    difference = &graph[graph.isParameter(difference->a) ? difference->b : difference->a];
  bool isGiven = graph.isParameter(spread) && !is(spread, Kind::Constant);
  if (isGiven && difference->kind == Kind::Sub && graph.isParameter(difference->b) &&
      !graph.isParameter(difference->a))
    return IdiomMatch{"batch_norm", difference->a, 0};
  return std::nullopt;
}

std::optional<unsigned> Matcher::besideFactor(unsigned product, unsigned factor) const {
  if (product == factor)
    return 0;
  const Expression &e = graph[product];
  bool isFactor = e.kind == Kind::Mul && (e.a == factor || e.b == factor);
  return isFactor ? std::optional(e.a == factor ? e.b : e.a) : std::nullopt;
}

/// The terms of a sum of a few.
void Matcher::addTerms(unsigned number, double by, unsigned depth,
                       SmallVectorImpl<Term> &terms) const {
  const Expression &e = graph[number];
  if (depth == 0 || (e.kind != Kind::Add && e.kind != Kind::Sub && e.kind != Kind::Scale))
    return terms.push_back({number, by});
  if (e.kind == Kind::Scale)
    return addTerms(e.a, by * e.value, depth - 1, terms);
  addTerms(e.a, by, depth - 1, terms);
  addTerms(e.b, e.kind == Kind::Sub ? -by : by, depth - 1, terms);
}

std::optional<FoldedNormMatch> Matcher::foldedNorm(unsigned root) const {
  if (auto shifted = shiftedNorm(root))
    return shifted;
  // (x - mean x) (a / sqrt(variance x + e)), and without a factor
  double by;
  const Expression &quotient = graph[withoutScale(root, &by)];
  auto parts = normParts(quotient);
  auto factor = parts ? besideFactor(quotient.a, parts->numerator) : std::nullopt;
  if (!factor)
    return std::nullopt;
  return FoldedNormMatch{parts->idiom, std::fabs(by) * parts->bound, *factor, {}};
}

/// x a + (b - (mean x) a)
std::optional<FoldedNormMatch> Matcher::shiftedNorm(unsigned root) const {
  if (!is(root, Kind::Add) && !is(root, Kind::Sub))
    return std::nullopt;
  SmallVector<Term> terms;
  addTerms(root, 1, /*depth=*/4, terms);
  for (auto [whole, scale] : terms) {
    const Expression &e = graph[whole];
    unsigned squares = 0;
    unsigned x = e.kind == Kind::Div && is(e.b, Kind::Sqrt)
                     ? varianceOf(withoutEpsilon(graph[e.b].a), &squares)
                     : 0;
    auto factor = x ? besideFactor(e.a, x) : std::nullopt;
    int64_t count = graph[squares].count;
    if (!factor || count == 0)
      continue;
    for (auto [mean, share] : terms) {
      if (!is(mean, Kind::Div) || graph[mean].b != e.b ||
          std::fabs(share * count + scale) > 1e-5 * std::fabs(scale))
        continue;
      // The sum of the group that the variance is of.
      for (unsigned sum : factorsOf(graph[mean].a, {Kind::Mul})) {
        if (!isSumOf(sum, x) || graph[sum].axes != graph[squares].axes ||
            graph[sum].count != count || besideFactor(graph[mean].a, sum) != factor)
          continue;
        FoldedNormMatch found{{nameOfNorm(graph[squares]), x, count},
                              std::fabs(scale) * std::sqrt(double(count)),
                              *factor,
                              {}};
        for (auto [term, by] : terms) {
          if (term == whole || term == mean)
            continue;
          if (std::fabs(by) != 1)
            return std::nullopt;
          found.terms.push_back(term);
        }
        return found;
      }
    }
  }
  return std::nullopt;
}

/// x (1 + erf(x / sqrt 2)) / 2, x (1 + tanh(...)) / 2, x / (1 + exp(-x))
std::optional<IdiomMatch> Matcher::gelu(unsigned root) const {
  double by;
  const Expression &e = graph[withoutScale(root, &by)];
  if (e.kind == Kind::Div) {
    double one = 0;
    unsigned exp = besideConstant(e.b, &one);
    if (one != 1 || !is(exp, Kind::Exp))
      return std::nullopt;
    double slope;
    unsigned x = withoutScale(graph[exp].a, &slope);
    if (slope < 0 && hasFactor(e.a, x))
      return IdiomMatch{"silu", x, 0, e.a == x && slope == -1 ? kSilu : Interval::top()};
    return std::nullopt;
  }
  if (e.kind != Kind::Mul)
    return std::nullopt;
  for (auto [x, gate] : {std::pair(e.a, e.b), std::pair(e.b, e.a)}) {
    double constant = 0, slope, gateScale;
    unsigned function = besideConstant(withoutScale(gate, &gateScale), &constant);
    function = withoutScale(function, &slope);
    // c + c f(x): one plus f, scaled.
    if (!function || constant == 0 || !near(std::fabs(slope), std::fabs(constant)))
      continue;
    bool isHalf = near(by * gateScale * constant, 0.5);
    double inner;
    if (is(function, Kind::Erf) && withoutScale(graph[function].a, &inner) == x &&
        near(inner, M_SQRT1_2))
      return IdiomMatch{"gelu", x, 0, isHalf ? kGelu : Interval::top()};
    // sqrt(2/pi) (x + 0.044715 x^3), in whatever order.
    if (is(function, Kind::Tanh)) {
      const Expression &cubic = graph[withoutScale(graph[function].a, &inner)];
      if ((cubic.kind == Kind::Add && (hasFactor(cubic.a, x) || hasFactor(cubic.b, x))) ||
          (cubic.kind == Kind::Mul && (cubic.a == x || cubic.b == x)))
        return IdiomMatch{"gelu_tanh", x, 0, isHalf ? kGelu : Interval::top()};
    }
  }
  return std::nullopt;
}

/// mean((a - b)^2); sum or mean of target times log-softmax, or of its chosen elements
std::optional<IdiomMatch> Matcher::loss(unsigned root) const {
  double by;
  unsigned sum = withoutScale(root, &by);
  if (is(sum, Kind::Div) && is(graph[sum].b, Kind::Count))
    sum = graph[sum].a;
  if (!is(sum, Kind::Sum))
    return std::nullopt;
  double inner;
  unsigned term = withoutScale(graph[sum].a, &inner);
  const Expression &e = graph[term];
  if (e.kind == Kind::Mul && e.a == e.b && is(e.a, Kind::Sub) && !centered(e.a) && meanOf(root))
    return IdiomMatch{"mean_square_error", e.a, graph[sum].count};
  for (unsigned factor : factorsOf(term, {Kind::Mul, Kind::Select, Kind::Scale, Kind::Sum}))
    if (auto log = logSoftmax(factor))
      return IdiomMatch{"cross_entropy", log->of, log->count};
  return std::nullopt;
}

std::optional<IdiomMatch> Matcher::statistic(unsigned root) const {
  unsigned sum = 0;
  if (unsigned x = varianceOf(root, &sum))
    return IdiomMatch{"variance", x, graph[sum].count, {0, kInfinity}};
  if (unsigned x = meanOf(root, &sum))
    return IdiomMatch{"mean", x, graph[sum].count};
  if (is(root, Kind::Sqrt)) {
    unsigned total = withoutEpsilon(graph[root].a);
    const Expression &square = graph[graph[total].a];
    if (is(total, Kind::Sum) && square.kind == Kind::Mul && square.a == square.b)
      return IdiomMatch{"l2_norm", square.a, graph[total].count, {0, kInfinity}};
  }
  return std::nullopt;
}

std::optional<IdiomMatch> Matcher::match(unsigned root) const {
  using Rule = std::optional<IdiomMatch> (Matcher::*)(unsigned) const;
  for (Rule rule :
       {&Matcher::softmax, &Matcher::logSoftmax, &Matcher::logSumExp, &Matcher::norm,
        &Matcher::shiftedNormIdiom, &Matcher::gelu, &Matcher::loss, &Matcher::statistic})
    if (auto found = (this->*rule)(root))
      return found;
  return std::nullopt;
}

std::optional<IdiomMatch> mlir::mp::detail::matchIdiom(const ExpressionGraph &graph,
                                                       unsigned root) {
  return Matcher(graph).match(root);
}

std::optional<FoldedNormMatch> mlir::mp::detail::matchFoldedNorm(const ExpressionGraph &graph,
                                                                 unsigned root) {
  return Matcher(graph).foldedNorm(root);
}
