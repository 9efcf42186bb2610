// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and its parts: x - max x <= 0 where the maximum is of a group that x is in, the sum of
// e^(x - max x) is at least 1 where that maximum is of no more than the sum adds up, and each term
// is at most the sum.

#include "ClaimWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp::test;

static constexpr StringLiteral kMax[] = {"minimum in place of the maximum",
                                         "mean in place of the maximum",
                                         "maximum halved",
                                         "maximum of absolute values halved",
                                         "maximum added",
                                         "no maximum",
                                         "maximum of another tensor",
                                         "maximum capped",
                                         "difference negated",
                                         "difference times an argument",
                                         "difference plus a mask"};

/// Writes the maximum of the group, which is subtracted before the exponential, or what is mistaken
/// for it.
static Value shiftOf(ClaimWriter &b, const Pair &p) {
  if (b.breaks("minimum in place of the maximum"))
    return b.reduce(Fn::Min, p.of, p.over);
  if (b.breaks("mean in place of the maximum"))
    return b.mul(b.reduce(Fn::Add, p.of, p.over), 0.125);
  if (b.breaks("maximum of absolute values halved"))
    return b.mul(b.reduce(Fn::Max, b.abs(p.of), p.over), 0.5);
  Value x = b.breaks("maximum of another tensor") ? b.another(p.of) : p.of;
  // A maximum that ignores NaN, or that begins with the lowest number, is as good.
  Fn fn = b.oneIn(4) ? Fn::MaxNum : Fn::Max;
  std::optional<double> init;
  if (b.oneIn(4))
    init = b.pick({-3.40282347e38, -1e30});
  Value max = b.reduce(fn, x, p.over, init);
  if (b.breaks("maximum halved"))
    return b.mul(max, 0.5);
  return b.breaks("maximum capped") ? b.min(max, 10.0) : max;
}

/// x - max x of what `p` says.
static Value shifted(ClaimWriter &b, const Pair &p, Value max, Value x, ArrayRef<int64_t> along) {
  if (b.breaks("no maximum"))
    return x;
  Value spread = b.spread(b.cast(max, b.formatOf(x)), x, along);
  Value difference = b.breaks("maximum added") ? b.add(x, spread) : b.sub(x, spread);
  if (b.breaks("difference negated"))
    return b.neg(difference);
  if (b.breaks("difference times an argument"))
    return b.mul(difference, b.another(difference));
  if (b.breaks("difference plus a mask"))
    return b.add(difference, b.another(difference));
  return b.oneIn(4) ? b.mul(difference, b.pick({0.125, 1.5})) : difference;
}

/// e^(x - max x) <= 1
static Value shiftedExp(ClaimWriter &b) {
  Pair p = b.pair();
  Value difference = shifted(b, p, shiftOf(b, p), p.to, p.along);
  return b.oneIn(4) ? b.apply(Fn::Exp2, {difference}) : b.exp(difference);
}

static constexpr StringLiteral kSoftmax[] = {"sum of other exponentials", "sum of every other term",
                                             "maximum in place of the sum",
                                             "sum without the largest term"};

namespace {
struct SoftmaxParts {
  Value max, difference, exp, sum;
};
} // namespace

static SoftmaxParts partsOf(ClaimWriter &b, const Pair &p) {
  SoftmaxParts s;
  s.max = shiftOf(b, p);
  Value own = shifted(b, p, s.max, p.of, p.over);
  Value exp = b.exp(own);
  s.difference = p.isOne() ? own : shifted(b, p, s.max, p.to, p.along);
  s.exp = p.isOne() && b.oneIn(2) ? exp : b.exp(s.difference);
  Value terms = exp;
  if (b.breaks("sum of other exponentials"))
    terms = b.exp(b.another(p.of));
  if (b.breaks("sum of every other term"))
    terms = b.select(b.argumentOf(b.typeOf(exp).clone(b.getBuilder().getI1Type())), exp, 0.0);
  if (b.breaks("maximum in place of the sum"))
    s.sum = b.reduce(Fn::Max, terms, p.over);
  else
    s.sum = b.sum(terms, p.over);
  if (b.breaks("sum without the largest term"))
    s.sum = b.sub(s.sum, b.reduce(Fn::Max, terms, p.over));
  return s;
}

/// e^(x - max x) / sum e^(x - max x) <= 1
static Value softmax(ClaimWriter &b) {
  Pair p = b.pair();
  SoftmaxParts s = partsOf(b, p);
  switch (b.below(3)) {
  case 0: return b.div(s.exp, b.spreadTo(p, s.sum));
  case 1: return b.mul(s.exp, b.spreadTo(p, b.reciprocal(s.sum)));
  default: return b.mul(s.exp, b.reciprocal(b.spreadTo(p, s.sum)));
  }
}

/// log of the sum in [0, log n]
static Value logOfSum(ClaimWriter &b) {
  Pair p = b.pair();
  Value log = b.log(partsOf(b, p).sum);
  return b.add(b.spreadTo(p, log), b.splat(0.0, p.to, b.formatOf(p.to)));
}

static constexpr StringLiteral kBounded[] = {"x unbounded"};

/// x - max x - log sum e^(x - max x) is as large as x: bounded where that is
static Value logSoftmax(ClaimWriter &b) {
  auto shape = b.matrix();
  Value x =
      b.argument(shape, b.breaks("x unbounded") ? std::optional<Bounds>() : Bounds(-1e4, 1e4));
  Pair p{x, x, {1}, {1}};
  Value max = b.reduce(Fn::Max, x, {1});
  Value difference = b.sub(x, b.spreadTo(p, max));
  Value log = b.log(b.reduce(Fn::Add, b.exp(difference), {1}));
  if (b.oneIn(2))
    return b.sub(difference, b.spreadTo(p, log));
  return b.sub(x, b.spreadTo(p, b.add(log, max)));
}

static constexpr StringLiteral kNaive[] = {"x unbounded", "sum with its sign turned"};

/// e^x / sum e^x without a maximum, where x cannot overflow
static Value naiveSoftmax(ClaimWriter &b) {
  auto shape = b.matrix();
  Value x = b.argument(shape, b.breaks("x unbounded") ? std::optional<Bounds>() : Bounds(-60, 60));
  Pair p{x, x, {1}, {1}};
  Value exp = b.exp(x), sum = b.reduce(Fn::Add, exp, {1});
  if (b.breaks("sum with its sign turned"))
    sum = b.reduce(Fn::Add, b.mul(exp, b.argument(shape, Bounds(-1, 1))), {1});
  return b.div(exp, b.spreadTo(p, sum));
}

static constexpr StringLiteral kNamed[] = {"x not finite"};

/// linalg.softmax in [0, 1], whatever it reads
static Value namedSoftmax(ClaimWriter &b) {
  Value x = b.anything();
  if (b.breaks("x not finite"))
    x = b.mul(x, b.pick({1e30, 3e38}));
  Value out = b.empty(x, {0, 1}, b.formatOf(x));
  OpBuilder &builder = b.getBuilder();
  return linalg::SoftmaxOp::create(builder, builder.getUnknownLoc(), out.getType(), x, out,
                                   b.below(2))
      ->getResult(0);
}

static constexpr StringLiteral kOnline[] = {"exponential by the old maximum",
                                            "correction by the new maximum less the old",
                                            "maximum starts above"};

/// Softmax of blocks of rows, one after another, as flash attention computes it: the weights are at
/// most 1, and so is the correction of what was summed up before.
static Value onlineSoftmax(ClaimWriter &b) {
  int64_t blocks = 2 + b.below(3), rows = b.size(), n = b.size();
  Value x = b.argument({blocks, rows, n});
  OpBuilder &builder = b.getBuilder();
  Location loc = builder.getUnknownLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  double start = b.breaks("maximum starts above") ? 30 : -3e38;
  auto statistic = [&](double number) -> Value {
    auto type = RankedTensorType::get({rows, 1}, builder.getF32Type());
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, builder.getF32FloatAttr(number).getValue()));
  };
  auto total = RankedTensorType::get({rows, n}, builder.getF32Type());
  Value zeros = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(total, builder.getF32FloatAttr(0).getValue()));
  bool old = b.breaks("exponential by the old maximum"),
       turned = b.breaks("correction by the new maximum less the old");
  auto loop = scf::ForOp::create(builder, loc, index(0), index(blocks), index(1),
                                 ValueRange{statistic(start), zeros});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value block = tensor::ExtractSliceOp::create(
      builder, loc, total, x,
      ArrayRef<OpFoldResult>{OpFoldResult(loop.getInductionVar()), builder.getIndexAttr(0),
                             builder.getIndexAttr(0)},
      getAsIndexOpFoldResult(builder.getContext(), {1, rows, n}),
      getAsIndexOpFoldResult(builder.getContext(), {1, 1, 1}));
  Value before = loop.getRegionIterArg(0);
  auto column = [&](Value value) { return b.reshape(value, {rows}); };
  auto along = [&](Value statistic) { return b.spread(column(statistic), block, {1}); };
  Value ofBlock = b.reshape(b.reduce(Fn::Max, block, {1}), {rows, 1});
  Value max = b.max(before, ofBlock);
  Value weights = b.exp(b.sub(block, along(old ? before : max)));
  Value correction = b.exp(turned ? b.sub(max, before) : b.sub(before, max));
  // The contraction is inside: weights and correction are its factors.
  Value read = b.matmul(b.mul(weights, along(correction)), b.weights({n, n}));
  scf::YieldOp::create(builder, loc,
                       ValueRange{max, b.add(b.mul(loop.getRegionIterArg(1), 0.5), read)});
  return loop.getResult(1);
}

static constexpr StringLiteral kSigmoid[] = {"exponential less one", "no one in the sum"};

/// 1 / (1 + e^-x) in [0, 1]
static Value sigmoid(ClaimWriter &b) {
  Value x = b.anything();
  Value exp = b.exp(b.neg(x));
  if (b.breaks("exponential less one"))
    return b.reciprocal(b.sub(exp, 1.0));
  if (b.breaks("no one in the sum"))
    return b.reciprocal(exp);
  if (b.oneIn(2))
    return b.div(1.0, b.add(exp, 1.0));
  return b.apply(Fn::Sigmoid, {x});
}

void mlir::mp::test::addSoftmaxes(std::vector<HostileFamily> &families) {
  families.push_back({"exponential of x less its maximum", shiftedExp, {kPairHypotheses, kMax}});
  families.push_back({"softmax", softmax, {kPairHypotheses, kMax, kSumHypotheses, kSoftmax}});
  families.push_back({"logarithm of a softmax's sum",
                      logOfSum,
                      {kPairHypotheses, kMax, kSumHypotheses, kSoftmax}});
  families.push_back({"log softmax", logSoftmax, {kBounded}});
  families.push_back({"softmax without a maximum", naiveSoftmax, {kNaive}});
  families.push_back({"named softmax", namedSoftmax, {kNamed}});
  families.push_back({"online softmax", onlineSoftmax, {kOnline}});
  families.push_back({"sigmoid", sigmoid, {kSigmoid}});
}
