// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Idioms that nearly are what a lemma bounds: softmax at a temperature, a mask that is added behind
// the maximum, shares by log-sum-exp, roots of higher powers, means of what a mask leaves, and NaN
// that comparisons let through.

#include "ClaimWriter.h"

using namespace mlir;
using namespace mlir::mp::test;
using Dims = TensorWriter::Dims;
using P = arith::CmpFPredicate;

static constexpr StringLiteral kTemperature[] = {
    "temperature negative",           "temperature an argument",
    "maximum before the temperature", "maximum at another temperature",
    "a temperature for each element", "temperature of a sum"};

/// e^((x - max x) / t) over its sum, or alone, at a positive temperature
static Value atTemperature(ClaimWriter &b) {
  Pair p = b.pair();
  double t = b.pick({0.125, 0.7, 2.0, 8.0, 1e-3});
  if (b.breaks("temperature negative"))
    t = -t;
  bool isEarly = b.oneIn(2);
  if (b.breaks("maximum before the temperature") || b.breaks("maximum at another temperature"))
    isEarly = true;
  double tOfMax = b.breaks("maximum before the temperature")   ? 1
                  : b.breaks("maximum at another temperature") ? t / 2
                                                               : t;
  auto exponentials = [&](Value x, ArrayRef<int64_t> along, Value max) {
    Value difference = isEarly ? b.sub(b.mul(x, t), b.spread(b.cast(max, b.formatOf(x)), x, along))
                               : b.sub(x, b.spread(b.cast(max, b.formatOf(x)), x, along));
    if (!isEarly && b.breaks("temperature an argument"))
      return b.exp(b.mul(difference, b.another(difference)));
    if (!isEarly && b.breaks("a temperature for each element"))
      return b.exp(b.mul(difference, b.argumentOf(difference.getType(), Bounds(-4, 4))));
    if (!isEarly && b.breaks("temperature of a sum"))
      return b.exp(b.mul(difference, b.spread(b.reduce(Fn::Add, x, along), x, along)));
    return b.exp(isEarly ? difference : b.mul(difference, t));
  };
  if (b.breaksAny({kTemperature[1], kTemperature[4], kTemperature[5]}))
    isEarly = false;
  Value of = isEarly ? b.mul(p.of, tOfMax) : p.of;
  Value max = b.reduce(Fn::Max, of, p.over);
  Value above = exponentials(p.to, p.along, max);
  if (!b.breaksAny(kSumHypotheses) && b.oneIn(2))
    return above;
  return b.div(above, b.spreadTo(p, b.sum(exponentials(p.of, p.over, max), p.over)));
}

static constexpr StringLiteral kMask[] = {"mask positive",
                                          "mask an argument",
                                          "mask subtracted",
                                          "mask times a negative",
                                          "maximum of the masked, difference of the unmasked",
                                          "maximum of the unmasked halved",
                                          "mask for the sum alone"};

/// e^(x + m - max x), m <= 0, over the sum of such and a little, or alone
static Value maskedBehind(ClaimWriter &b) {
  Pair p = b.pair();
  auto maskLike = [&](Value x) {
    if (b.breaks("mask an argument"))
      return b.another(x);
    return b.argumentOf(x.getType(), b.breaks("mask positive") ? Bounds(0, 1e4) : Bounds(-1e4, 0));
  };
  Value mask = maskLike(p.to), maskOf = p.isOne() ? mask : maskLike(p.of);
  Value of = p.of;
  if (b.breaks("maximum of the masked, difference of the unmasked"))
    of = b.add(of, maskOf);
  Value max = b.reduce(Fn::Max, of, p.over);
  if (b.breaks("maximum of the unmasked halved"))
    max = b.mul(max, 0.5);
  auto exponentials = [&](Value x, Value m, ArrayRef<int64_t> along, bool isSum) {
    Value difference = b.sub(x, b.spread(b.cast(max, b.formatOf(x)), x, along));
    if (b.breaks("maximum of the masked, difference of the unmasked"))
      return b.exp(difference);
    if (b.breaks("mask for the sum alone") && !isSum)
      return b.exp(difference);
    if (b.breaks("mask times a negative"))
      return b.exp(b.add(difference, b.mul(m, -2.0)));
    return b.exp(b.breaks("mask subtracted") ? b.sub(difference, m) : b.add(difference, m));
  };
  Value above = exponentials(p.to, mask, p.along, /*isSum=*/false);
  bool needsSum = b.breaks("mask for the sum alone") || b.breaksAny(kSumHypotheses);
  if (!needsSum && b.oneIn(2))
    return above;
  Value sum = b.sum(exponentials(p.of, maskOf, p.over, /*isSum=*/true), p.over);
  return b.div(above, b.spreadTo(p, b.oneIn(2) && !needsSum ? b.add(sum, 1e-6) : sum));
}

static constexpr StringLiteral kLogSum[] = {
    "logarithm halved",  "of another tensor", "of every second term",
    "without a maximum", "maximum forgotten", "less the logarithm of another"};

/// e^(x - max x - log sum e^(x - max x)), or with the logarithm and the maximum added first
static Value byLogSum(ClaimWriter &b) {
  Pair p = b.pair();
  Value of = b.breaks("of another tensor") ? b.another(p.of) : p.of;
  Value max = b.reduce(Fn::Max, of, p.over);
  Value shifted = of;
  if (!b.breaks("without a maximum"))
    shifted = b.sub(of, b.spread(max, of, p.over));
  Value terms = b.exp(shifted);
  if (b.breaks("of every second term"))
    terms = b.select(b.argumentOf(b.typeOf(terms).clone(b.getBuilder().getI1Type())), terms, 0.0);
  Value log = b.log(b.sum(terms, p.over));
  if (b.breaks("logarithm halved"))
    log = b.mul(log, 0.5);
  if (b.breaks("less the logarithm of another"))
    log = b.sub(log, b.log(b.add(b.reduce(Fn::Max, b.abs(b.another(p.of)), p.over), 1.0)));
  bool keepsMax = !b.breaks("without a maximum") && !b.breaks("maximum forgotten");
  if (b.oneIn(2)) {
    Value whole = keepsMax ? b.add(log, max) : log;
    return b.exp(b.sub(p.to, b.spreadTo(p, whole)));
  }
  Value difference = keepsMax ? b.sub(p.to, b.spreadTo(p, max)) : p.to;
  return b.exp(b.sub(difference, b.spreadTo(p, log)));
}

static constexpr StringLiteral kHigher[] = {
    "the power of a signed value",  "another root",
    "a root of the root forgotten", "squares of squares less one",
    "exponent negative twice",      "of another tensor"};

/// x over the p-th root of the mean of |x|^p, for p = 1.5, 3, 4 or 6
static Value overHigherRoot(ClaimWriter &b) {
  Pair p = b.pair();
  bool isSigned = b.breaks("the power of a signed value");
  double power = isSigned ? 3 : b.pick({1.5, 3.0, 4.0, 6.0});
  Value of = b.breaks("of another tensor") ? b.another(p.of) : p.of, powers;
  bool isFourth = power == 4 || b.breaks("a root of the root forgotten") ||
                  b.breaks("squares of squares less one");
  if (isFourth)
    powers = b.square(b.square(of));
  else
    powers = b.apply(Fn::Pow, {isSigned ? of : b.abs(of), power});
  if (b.breaks("squares of squares less one"))
    powers = b.sub(powers, 1.0);
  Value mean = b.withEpsilon(b.mean(powers, p.over));
  if (b.breaks("another root"))
    return b.div(p.to, b.spreadTo(p, b.apply(Fn::Pow, {mean, 1.5 / power})));
  if (b.breaks("exponent negative twice"))
    return b.div(p.to, b.spreadTo(p, b.apply(Fn::Pow, {mean, -1 / power})));
  if (!isFourth)
    return b.mul(p.to, b.spreadTo(p, b.apply(Fn::Pow, {mean, -1 / power})));
  Value root = b.sqrt(mean);
  return b.div(p.to, b.spreadTo(p, b.breaks("a root of the root forgotten") ? root : b.sqrt(root)));
}

static constexpr StringLiteral kCounted[] = {"count less one",   "count of another mask",
                                             "mask negative",    "least count small",
                                             "values unbounded", "squares for values"};

/// The mean of what a mask leaves: sum m x / max(sum m, 1), x bounded, spread again
static Value maskedMean(ClaimWriter &b) {
  Dims shape = b.matrix();
  Value x =
      b.argument(shape, b.breaks("values unbounded") ? std::optional<Bounds>() : Bounds(-200, 200));
  Value other = b.argument(shape);
  auto count = [&](Value truth) {
    return b.select(truth, b.splat(1.0, x, b.formatOf(x)), b.splat(0.0, x, b.formatOf(x)));
  };
  Value truth = b.compare(b.pick({P::OGT, P::ULE, P::UNE}), other, x);
  Value ones = count(truth);
  Value kept = b.breaks("squares for values") ? b.square(b.square(x)) : x;
  Value left = b.oneIn(2) ? b.mul(ones, kept) : b.select(truth, kept, 0.0);
  Value counted = ones;
  if (b.breaks("count of another mask"))
    counted = count(b.compare(P::OLT, other, x));
  if (b.breaks("mask negative"))
    counted = b.mul(counted, -1.0);
  Value number = b.reduce(Fn::Add, counted, {1});
  if (b.breaks("count less one"))
    number = b.sub(number, 1.0);
  double least = b.breaks("least count small") || b.breaks("count less one") ||
                         b.breaks("mask negative") || b.breaks("count of another mask")
                     ? b.pick({1e-6, 1e-3})
                     : 1;
  Value mean = b.div(b.reduce(Fn::Add, left, {1}), b.max(number, least));
  return b.sub(x, b.spread(mean, x, {1}));
}

static constexpr StringLiteral kGuards[] = {"guard turned",
                                            "guard of another",
                                            "NaN satisfies it",
                                            "put in place: an argument",
                                            "guarded before it is NaN",
                                            "equal to itself negated"};

/// x / max |x|, which is NaN for rows of zeros, and a number where it is NaN
static Value guarded(ClaimWriter &b) {
  Pair p = b.pair();
  Value largest = b.reduce(Fn::Max, b.abs(p.of), p.over);
  Value above = p.to;
  if (b.breaks("guarded before it is NaN")) // the guard is of what is no NaN yet
    above = b.select(b.compare(P::UNO, above, above), 0.0, above);
  Value share = b.div(above, b.spreadTo(p, largest));
  if (b.breaks("guarded before it is NaN"))
    return share;
  Value asked = b.breaks("guard of another") ? b.another(share) : share;
  if (b.breaks("NaN satisfies it"))
    return b.select(b.compare(P::ULT, share, 2.0), share, 2.0);
  if (b.breaks("guard turned"))
    return b.select(b.compare(P::ORD, asked, asked), 0.0, share);
  if (b.breaks("equal to itself negated"))
    return b.select(b.compare(P::OEQ, asked, b.neg(asked)), 0.0, share);
  if (b.breaks("put in place: an argument"))
    return b.select(b.compare(P::UNO, asked, asked), b.another(share), share);
  switch (b.below(3)) {
  case 0: return b.select(b.compare(P::UNO, asked, asked), 0.5, share);
  case 1: return b.select(b.compare(P::OEQ, asked, asked), share, 0.5);
  default: return b.select(b.compare(P::OLT, asked, 2.0), share, 2.0);
  }
}

static constexpr StringLiteral kChains[] = {"one root more",
                                            "of the root's argument, not its square",
                                            "inverse of a small root", "roots of a difference"};

/// x rsqrt(x^2 + e), x / sqrt(sqrt(x^4 + e)), x sqrt(1 / (x^2 + e))
static Value rootChain(ClaimWriter &b) {
  Value x = b.anything(), square = b.square(x);
  double epsilon = b.pick({1e-5, 1e-3, 1e-12});
  if (b.breaks("of the root's argument, not its square"))
    return b.mul(x, b.rsqrt(b.add(b.abs(x), epsilon)));
  if (b.breaks("roots of a difference"))
    return b.mul(x, b.rsqrt(b.max(b.sub(square, 1.0), epsilon)));
  if (b.breaks("inverse of a small root"))
    return b.reciprocal(b.sqrt(b.add(square, 1e-12)));
  if (b.breaks("one root more"))
    return b.mul(x, b.rsqrt(b.sqrt(b.add(square, epsilon))));
  switch (b.below(4)) {
  case 0: return b.mul(x, b.rsqrt(b.add(square, epsilon)));
  case 1: return b.div(x, b.sqrt(b.sqrt(b.add(b.square(square), epsilon))));
  case 2: return b.mul(x, b.sqrt(b.reciprocal(b.add(square, epsilon))));
  default: return b.div(x, b.add(b.sqrt(square), epsilon));
  }
}

void mlir::mp::test::addIdioms(std::vector<HostileFamily> &families) {
  families.push_back(
      {"softmax at a temperature", atTemperature, {kTemperature, kPairHypotheses, kSumHypotheses}});
  families.push_back(
      {"masked behind the maximum", maskedBehind, {kMask, kPairHypotheses, kSumHypotheses}});
  families.push_back(
      {"share by log-sum-exp", byLogSum, {kLogSum, kPairHypotheses, kSumHypotheses}});
  families.push_back(
      {"root of higher powers",
       overHigherRoot,
       {kHigher, kPairHypotheses, kEpsilonHypotheses, kCountHypotheses, kSumHypotheses}});
  families.push_back({"mean of what a mask leaves", maskedMean, {kCounted}});
  families.push_back({"NaN by comparison", guarded, {kGuards, kPairHypotheses}});
  families.push_back({"chain of roots", rootChain, {kChains}});
}
