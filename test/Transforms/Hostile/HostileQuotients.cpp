// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients of what belongs together: a part over its sum, an element over the largest, products of
// unit vectors, averages weighted by parts of one.

#include "ClaimWriter.h"

using namespace mlir;
using namespace mlir::mp::test;

/// Makes `x` non-negative.
static Value nonNegative(ClaimWriter &b, Value x) {
  switch (b.below(5)) {
  case 0: return b.max(x, 0.0);
  case 1: return b.abs(x);
  case 2: return b.square(x);
  case 3: return b.apply(Fn::Sigmoid, {x});
  default: return b.exp(x);
  }
}

static constexpr StringLiteral kShare[] = {"terms of both signs",
                                           "terms of both signs, numerator made positive",
                                           "sum capped",
                                           "sum of the terms' squares",
                                           "sum halved for each term",
                                           "product in place of the sum",
                                           "reciprocal of a difference"};

/// x / sum x in [0, 1] where no x is negative
static Value share(ClaimWriter &b) {
  Pair p = b.pair();
  bool isSigned = b.breaks("terms of both signs"),
       positive = b.breaks("terms of both signs, numerator made positive");
  Value of = p.of, to = p.to;
  if (!isSigned && !positive) {
    unsigned kind = b.below(4);
    auto apply = [&](Value x) {
      return kind == 0 ? b.max(x, 0.0) : kind == 1 ? b.abs(x) : kind == 2 ? b.square(x) : b.exp(x);
    };
    of = apply(p.of);
    to = p.isOne() && b.oneIn(2) ? of : apply(p.to);
  }
  if (positive)
    to = nonNegative(b, to);
  Value sum = b.breaks("product in place of the sum") ? b.reduce(Fn::Mul, of, p.over)
              : b.breaks("sum of the terms' squares") ? b.sum(b.square(of), p.over)
                                                      : b.sum(of, p.over);
  if (b.breaks("sum capped"))
    sum = b.min(sum, b.pick({1.0, 1e-3}));
  if (b.breaks("sum halved for each term"))
    sum = b.mul(sum, 1e-6);
  if (b.breaks("reciprocal of a difference"))
    sum = b.sub(sum, b.reduce(Fn::Max, of, p.over));
  if (b.breaksAny(kEpsilonHypotheses) || b.oneIn(2))
    sum = b.withEpsilon(sum);
  switch (b.below(3)) {
  case 0: return b.mul(to, b.spreadTo(p, b.reciprocal(sum)));
  case 1: return b.mul(to, b.spreadTo(p, b.div(1.0, sum)));
  default: return b.div(to, b.spreadTo(p, sum));
  }
}

/// |x| / sum |x| <= 1
static Value signedShare(ClaimWriter &b) {
  Pair p = b.pair();
  Value size = b.breaks("terms of both signs") ? p.of : b.abs(p.of);
  Value sum = b.sum(size, p.over);
  if (b.breaks("sum capped"))
    sum = b.min(sum, b.pick({1.0, 1e-3}));
  bool isGuarded = !b.breaksAny(kEpsilonHypotheses) && b.oneIn(3);
  if (isGuarded) { // by one where it is zero
    auto predicate = b.pick({arith::CmpFPredicate::OEQ, arith::CmpFPredicate::OLE});
    return b.div(p.to, b.spreadTo(p, b.select(b.compare(predicate, sum, 0.0), 1.0, sum)));
  }
  return b.div(p.to, b.spreadTo(p, b.withEpsilon(sum)));
}
static constexpr StringLiteral kSignedShare[] = {"terms of both signs", "sum capped"};

static constexpr StringLiteral kLargest[] = {"largest of signed values",
                                             "smallest in place of the largest",
                                             "largest capped",
                                             "largest less a constant",
                                             "scale too large",
                                             "scale just too large",
                                             "largest, NaN ignored, of a product",
                                             "reciprocal of an argument"};

/// x / max |x| in [-1, 1], times what is representable
static Value overLargest(ClaimWriter &b) {
  Pair p = b.pair();
  Value size = b.breaks("largest of signed values") ? p.of : b.abs(p.of);
  Fn fn = b.breaks("smallest in place of the largest") ? Fn::Min
          : b.oneIn(4)                                 ? Fn::MaxNum
                                                       : Fn::Max;
  if (b.breaks("largest, NaN ignored, of a product")) {
    size = b.mul(size, b.another(size));
    fn = Fn::MaxNum;
  }
  Value largest = b.reduce(fn, size, p.over, b.oneIn(3) ? std::optional(0.0) : std::nullopt);
  if (b.breaks("largest capped"))
    largest = b.min(largest, b.pick({1.0, 448.0}));
  if (b.breaks("largest less a constant"))
    largest = b.sub(largest, 1.0);
  if (b.breaks("reciprocal of an argument"))
    largest = b.another(largest);
  if (b.breaksAny(kEpsilonHypotheses) || b.oneIn(2))
    largest = b.withEpsilon(largest);
  double scale = b.pick({1.0, 127.0, 448.0, 57344.0, 65000.0});
  if (b.breaks("scale too large"))
    scale = b.pick({1e5, 70000.0});
  if (b.breaks("scale just too large"))
    scale = b.pick({65520.0, 65536.0});
  Value result;
  if (b.oneIn(2)) {
    result = b.mul(p.to, b.spreadTo(p, b.div(scale, largest)));
  } else {
    result = b.div(p.to, b.spreadTo(p, largest));
    result = scale == 1 ? result : b.mul(result, scale);
  }
  return b.oneIn(3) ? b.apply(Fn::Round, {result}) : result;
}

static constexpr StringLiteral kCosine[] = {"length of one vector twice",
                                            "length of the other rows", "no length of the second"};

/// x.y / (|x| |y|) in [-1, 1]: unit rows meet in a contraction, whose result is a factor again
static Value cosine(ClaimWriter &b) {
  int64_t n = b.pick<int64_t>({2, 3, 4}), k = b.size();
  Value x = b.argument({n, k}), y = b.argument({n, k});
  auto unit = [&](Value value, Value of) {
    Value length = b.sqrt(b.reduce(Fn::Add, b.square(of), {1}));
    return b.div(value, b.spread(b.max(length, 1e-12), value, {1}));
  };
  Value left = unit(x, x);
  Value right = b.breaks("length of one vector twice") ? unit(y, x)
                : b.breaks("length of the other rows") ? unit(y, b.reverse(y, 0))
                : b.breaks("no length of the second")  ? y
                                                       : unit(y, y);
  return b.matmulTransposed(left, right);
}

static constexpr StringLiteral kAverage[] = {
    "values unbounded", "values just too large", "weights not normalised",
    "weights normalised along the other axis", "weights scaled"};

/// sum p v is within the range of v where the p are not negative and add up to 1
static Value average(ClaimWriter &b) {
  int64_t n = b.pick<int64_t>({2, 3, 4, 5}), k = b.size();
  Value scores = b.argument({n, n});
  std::optional<Bounds> range = Bounds(-60000, 60000);
  if (b.breaks("values unbounded"))
    range = std::nullopt;
  if (b.breaks("values just too large"))
    range = b.pick<Bounds>({{-65519, 65519}, {-65504, 65504}, {-66000, 66000}});
  Value values = b.argument({n, k}, range);
  int64_t along = b.breaks("weights normalised along the other axis") ? 0 : 1;
  Value max = b.reduce(Fn::Max, scores, {along});
  Value exp = b.exp(b.sub(scores, b.spread(max, scores, {along})));
  Value sum = b.reduce(Fn::Add, exp, {along});
  Value weights = exp;
  if (!b.breaks("weights not normalised"))
    weights = b.div(exp, b.spread(sum, exp, {along}));
  if (b.breaks("weights scaled"))
    weights = b.mul(weights, 2.0);
  return b.matmul(weights, values);
}

static constexpr StringLiteral kScores[] = {
    "second factor not normalised", "normalised along the other axis",
    "first factor times an argument", "scores scaled up", "rows normalised, columns summed"};

/// |q.k| <= |q| |k| by Cauchy and Schwarz, for rows that are as long as the sum
static Value scores(ClaimWriter &b) {
  int64_t n = b.pick<int64_t>({2, 3, 4, 5});
  Value x = b.argument({n, n}), y = b.argument({n, n});
  auto norm = [&](Value value, int64_t along) {
    Value mean = b.mul(b.reduce(Fn::Add, b.square(value), {along}), 1.0 / n);
    return b.mul(value, b.spread(b.rsqrt(b.add(mean, 1e-6)), value, {along}));
  };
  Value left = norm(x, 1);
  Value right = b.breaks("second factor not normalised")      ? y
                : b.breaks("normalised along the other axis") ? norm(y, 0)
                                                              : norm(y, 1);
  if (b.breaks("first factor times an argument"))
    left = b.mul(left, b.another(left));
  Value product = b.breaks("rows normalised, columns summed") ? b.matmul(left, right)
                                                              : b.matmulTransposed(left, right);
  return b.mul(product, b.breaks("scores scaled up") ? 40000.0 : 1.0 / std::sqrt(n));
}

static constexpr StringLiteral kRational[] = {"sign of the constant turned",
                                              "square of another tensor", "no absolute value",
                                              "constant tiny"};

/// x / (1 + |x|), x / sqrt(1 + x^2), x / (1 + x^2): bounded by the constant
static Value rational(ClaimWriter &b) {
  Value x = b.anything();
  double one = b.breaks("sign of the constant turned") ? -1 : 1;
  if (b.breaks("constant tiny"))
    one = 1e-20;
  Value of = b.breaks("square of another tensor") ? b.another(x) : x;
  if (b.breaks("no absolute value"))
    return b.div(x, b.add(of, one));
  switch (b.below(4)) {
  case 0: return b.div(x, b.add(b.abs(of), one));
  case 1: return b.div(x, b.sqrt(b.add(b.square(of), one)));
  case 2: return b.div(x, b.add(b.square(of), one));
  default: {
    Value square = b.square(of);
    return b.div(b.square(x), b.add(square, one));
  }
  }
}

void mlir::mp::test::addQuotients(std::vector<HostileFamily> &families) {
  families.push_back(
      {"part of a sum", share, {kPairHypotheses, kSumHypotheses, kEpsilonHypotheses, kShare}});
  families.push_back({"part of a sum of magnitudes",
                      signedShare,
                      {kPairHypotheses, kSumHypotheses, kEpsilonHypotheses, kSignedShare}});
  families.push_back({"x over its largest magnitude",
                      overLargest,
                      {kPairHypotheses, kEpsilonHypotheses, kLargest}});
  families.push_back({"cosine", cosine, {kCosine}});
  families.push_back({"weighted average", average, {kAverage}});
  families.push_back({"product of unit rows", scores, {kScores}});
  families.push_back({"rational function", rational, {kRational}});
}
