// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms: x over a root of its own mean square. The lemma is |x_i| <= sqrt(n) rms(x), for the very
// elements, the very count, squares that are not less than they stand for, and a root of something
// that is positive.

#include "ClaimWriter.h"

using namespace mlir;
using namespace mlir::mp::test;

static constexpr StringLiteral kRMS[] = {"squares of two tensors", "cubes in place of squares",
                                         "squares less one", "squares of a clamped copy",
                                         "no root"};

/// |x| rsqrt(mean x^2 + e) <= sqrt(n)
static Value rmsNorm(ClaimWriter &b) {
  Pair p = b.pair();
  Value squares;
  if (b.breaks("squares of two tensors"))
    squares = b.mul(p.of, b.another(p.of));
  else if (b.breaks("cubes in place of squares"))
    squares = b.mul(b.square(p.of), p.of);
  else if (b.breaks("squares of a clamped copy"))
    squares = b.square(b.min(p.of, 1.0));
  else if (b.breaks("squares less one"))
    squares = b.sub(b.square(p.of), 1.0);
  else
    squares = b.oneIn(4) ? b.apply(Fn::Pow, {p.of, 2.0}) : b.square(p.of);
  Value mean = b.mean(squares, p.over);
  if (b.breaks("no root"))
    return b.div(p.to, b.spreadTo(p, b.withEpsilon(mean)));
  return b.affine(b.overRoot(p, p.to, mean));
}

static constexpr StringLiteral kLayer[] = {"variance by difference",
                                           "variance by difference, clamped at zero",
                                           "mean too large",
                                           "mean added",
                                           "numerator not centred",
                                           "variance not centred",
                                           "centred about the maximum",
                                           "mean of a bf16 copy",
                                           "mean of another tensor",
                                           "variance of the numerator's copy in bf16"};

/// Layer norms and their folded forms are made of these.
namespace {
struct Moments {
  Value mean;     ///< a statistic
  Value variance; ///< a statistic
  Value centred;  ///< x - mean, of what the statistic is taken of
};
} // namespace

static Value meanOf(ClaimWriter &b, const Pair &p) {
  Value x = p.of;
  if (b.breaks("mean of another tensor"))
    x = b.another(x);
  if (b.breaks("mean of a bf16 copy"))
    x = b.cast(b.cast(x, b.getBuilder().getBF16Type()), b.formatOf(x));
  if (b.breaks("centred about the maximum"))
    return b.reduce(Fn::Max, x, p.over);
  Value mean = b.mean(x, p.over);
  return b.breaks("mean too large") ? b.mul(mean, 2.0) : mean;
}

static Moments momentsOf(ClaimWriter &b, const Pair &p) {
  Moments m;
  m.mean = meanOf(b, p);
  m.centred = b.sub(p.of, b.spread(m.mean, p.of, p.over));
  bool clamped = b.breaks("variance by difference, clamped at zero");
  if (clamped || b.breaks("variance by difference")) {
    Value squares = b.mean(b.square(p.of), p.over);
    m.variance = b.sub(squares, b.square(m.mean));
    if (clamped)
      m.variance = b.max(m.variance, 0.0);
    return m;
  }
  Value spread = m.centred;
  if (b.breaks("variance not centred"))
    spread = p.of;
  if (b.breaks("variance of the numerator's copy in bf16"))
    spread = b.cast(b.cast(spread, b.getBuilder().getBF16Type()), b.formatOf(spread));
  m.variance = b.mean(b.square(spread), p.over);
  return m;
}

static Value numeratorOf(ClaimWriter &b, const Pair &p, const Moments &m) {
  if (b.breaks("numerator not centred"))
    return p.to;
  if (b.breaks("mean added"))
    return b.add(p.to, b.spreadTo(p, m.mean));
  // Written once, or once for the variance and once here.
  return p.isOne() && b.oneIn(2) ? m.centred : b.sub(p.to, b.spreadTo(p, m.mean));
}

/// |x - mean x| rsqrt(var x + e) <= sqrt(n)
static Value layerNorm(ClaimWriter &b) {
  Pair p = b.pair();
  Moments m = momentsOf(b, p);
  return b.affine(b.overRoot(p, numeratorOf(b, p, m), m.variance));
}

static constexpr StringLiteral kAxes[] = {
    "mean along the other axis", "variance along the other axis", "both along the other axis",
    "spread along the other axis"};

/// (x - mean x) (g rsqrt(var x + e)): the root is of the same groups as the mean
static Value scaledNorm(ClaimWriter &b) {
  int64_t n = b.pick<int64_t>({2, 3, 4, 5}), axis = b.below(2);
  Value x = b.argument({n, n});
  int64_t ofMean = axis, ofVariance = axis, along = axis;
  if (b.breaks("mean along the other axis"))
    ofMean = 1 - axis;
  if (b.breaks("variance along the other axis"))
    ofVariance = 1 - axis;
  if (b.breaks("both along the other axis"))
    ofVariance = along = 1 - axis; // statistic and use agree, the mean does not
  if (b.breaks("spread along the other axis"))
    along = 1 - axis;
  auto centre = [&](int64_t dim) { return b.sub(x, b.spread(b.mean(x, {dim}), x, {dim})); };
  Value numerator = centre(ofMean);
  Value spread = ofVariance == ofMean && b.oneIn(2) ? numerator : centre(ofVariance);
  Value variance = b.mean(b.square(spread), {ofVariance});
  Value root = b.spread(b.rsqrt(b.add(variance, 1e-5)), x, {along});
  Value gain = b.oneIn(2) ? b.mul(root, 2.0) : b.mul(root, b.argument({n, n}, Bounds(-4, 4)));
  return b.mul(numerator, gain);
}

static constexpr StringLiteral kFolded[] = {"x unbounded", "shift of another mean", "shift added",
                                            "variance by difference"};

/// x a + (s - mean a) with a = g rsqrt(var x + e), as compilers fold norms; bounded where x is, so
/// that the two products do not round away what they cancel to
static Value foldedNorm(ClaimWriter &b) {
  auto shape = b.matrix();
  Value x = b.argument(shape, b.breaks("x unbounded") ? std::optional<Bounds>() : Bounds(-50, 50));
  Pair p{x, x, {1}, {1}};
  Value mean = b.reduce(Fn::Add, x, {1});
  mean = b.mul(mean, 1.0 / shape[1]);
  Value variance;
  if (b.breaks("variance by difference")) {
    Value squares = b.mul(b.reduce(Fn::Add, b.square(x), {1}), 1.0 / shape[1]);
    variance = b.sub(squares, b.square(mean));
  } else {
    Value centred = b.sub(x, b.spread(mean, x, {1}));
    variance = b.mul(b.reduce(Fn::Add, b.square(centred), {1}), 1.0 / shape[1]);
  }
  Value a = b.rsqrt(b.add(variance, b.pick({1e-5, 1e-3, 1e-12})));
  if (b.oneIn(2))
    a = b.mul(a, 1.5);
  if (b.breaks("shift of another mean"))
    mean = b.mul(b.reduce(Fn::Add, b.argument(shape), {1}), 1.0 / shape[1]);
  Value shift = b.mul(mean, a);
  shift = b.breaks("shift added") ? b.add(shift, 0.5) : b.sub(0.5, shift);
  return b.add(b.mul(x, b.spreadTo(p, a)), b.spreadTo(p, shift));
}

static constexpr StringLiteral kL2[] = {"lower bound of the length a minimum",
                                        "length of two tensors",
                                        "length by absolute values less one"};

/// |x| / max(|x|_2, e) <= 1
static Value l2Norm(ClaimWriter &b) {
  Pair p = b.pair();
  if (b.breaks("length by absolute values less one")) {
    Value length = b.sub(b.reduce(Fn::Add, b.abs(p.of), p.over), 1.0);
    return b.div(p.to, b.spreadTo(p, length));
  }
  Value squares = b.breaks("length of two tensors") ? b.mul(p.of, b.another(p.of)) : b.square(p.of);
  Value sum = b.sum(squares, p.over);
  if (b.breaks("lower bound of the length a minimum"))
    return b.div(p.to, b.spreadTo(p, b.min(b.sqrt(sum), 1e-3)));
  if (b.oneIn(2) && !b.breaksAny(kEpsilonHypotheses))
    return b.affine(b.div(p.to, b.spreadTo(p, b.max(b.sqrt(sum), 1e-12))));
  return b.affine(b.overRoot(p, p.to, sum));
}

static constexpr StringLiteral kMeanAbs[] = {"mean of signed values"};

/// |x| / (mean |x| + e) <= n
static Value meanAbsNorm(ClaimWriter &b) {
  Pair p = b.pair();
  Value size = b.breaks("mean of signed values") ? p.of : b.abs(p.of);
  Value mean = b.withEpsilon(b.mean(size, p.over));
  return b.div(p.to, b.spreadTo(p, mean));
}

static constexpr StringLiteral kGiven[] = {"variance may be negative", "variance may be zero",
                                           "x unbounded", "mean unbounded"};

/// (x - m) rsqrt(v + e) with given statistics: as large as their ranges say
static Value givenNorm(ClaimWriter &b) {
  auto shape = b.matrix();
  auto within = [&](StringRef hypothesis, Bounds range) {
    return b.breaks(hypothesis) ? std::optional<Bounds>() : range;
  };
  Value x = b.argument(shape, within("x unbounded", {-8, 8}));
  Value like = x;
  auto channel = [&](std::optional<Bounds> range) {
    if (b.getSpelling() == Spelling::Tosa)
      return b.argument({1, shape[1]}, range);
    return b.spread(b.argument({shape[1]}, range), like, {0});
  };
  Value mean = channel(within("mean unbounded", {-1, 1}));
  Bounds variances = {0.5, 2};
  double epsilon = 1e-5;
  if (b.breaks("variance may be negative"))
    variances = {-1, 1};
  if (b.breaks("variance may be zero")) {
    variances = {0, 1};
    epsilon = 1e-12;
  }
  Value root = b.rsqrt(b.add(channel(variances), epsilon));
  return b.mul(b.sub(x, mean), root);
}

static constexpr StringLiteral kSizes[] = {"sum in place of the mean", "no root of the squares",
                                           "x unbounded"};

/// rms x <= max |x|: a statistic as a factor
static Value statistic(ClaimWriter &b) {
  auto shape = b.matrix();
  shape[1] = std::max<int64_t>(shape[1], 2);
  double limit = b.pick({60000.0, 100.0});
  Value x =
      b.argument(shape, b.breaks("x unbounded") ? std::optional<Bounds>() : Bounds(-limit, limit));
  bool plain = b.breaks("sum in place of the mean") || b.oneIn(2);
  bool noRoot = b.breaks("no root of the squares");
  plain &= !noRoot;
  Value sum = b.reduce(Fn::Add, plain ? x : b.square(x), {1});
  Value mean = b.breaks("sum in place of the mean") ? sum : b.mul(sum, 1.0 / shape[1]);
  Value result = plain || noRoot ? mean : b.sqrt(mean);
  return b.getSpelling() == Spelling::Tosa ? result : b.reshape(result, {1, shape[0]});
}

void mlir::mp::test::addNorms(std::vector<HostileFamily> &families) {
  families.push_back({"rms norm",
                      rmsNorm,
                      {kPairHypotheses, kEpsilonHypotheses, kCountHypotheses, kSumHypotheses,
                       kAffineHypotheses, kRMS}});
  families.push_back({"layer norm",
                      layerNorm,
                      {kPairHypotheses, kEpsilonHypotheses, kCountHypotheses, kSumHypotheses,
                       kAffineHypotheses, kLayer}});
  families.push_back({"norm times a scaled root", scaledNorm, {kAxes}});
  families.push_back({"folded norm", foldedNorm, {kFolded}});
  families.push_back(
      {"l2 norm",
       l2Norm,
       {kPairHypotheses, kEpsilonHypotheses, kSumHypotheses, kAffineHypotheses, kL2}});
  families.push_back(
      {"mean absolute norm",
       meanAbsNorm,
       {kPairHypotheses, kEpsilonHypotheses, kCountHypotheses, kSumHypotheses, kMeanAbs}});
  families.push_back({"norm by given statistics", givenNorm, {kGiven}});
  families.push_back({"statistic as a factor", statistic, {kSizes}});
}
