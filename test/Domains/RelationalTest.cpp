// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestUtils.h"

#include "mp/Domains/Contraction.h"
#include "mp/Domains/Relational.h"

#include "gtest/gtest.h"

using namespace mpcore::domains;
using mpcore::numerics::Format;

namespace {

/// The idioms in double, next to their facts. Bounds are exact-arithmetic ones, so the values get a
/// few last places.
struct Checker {
  std::vector<double> x;
  FloatFacts facts;

  void check(const char *name, FloatFacts result, const std::vector<double> &values) {
    result.range = inflate(result.range, 1e-12 * (1 + facts.mag()));
    result.norm2 += 1e-12 * (1 + result.norm2);
    result.integerValued = false;
    result.nonZero &= result.range.mig() > 0;
    std::string why;
    ASSERT_TRUE(admits(result, values, &why))
        << name << ' ' << why << ": " << result << " for " << facts << testing::PrintToString(x)
        << testing::PrintToString(values);
  }
};

TEST(Relational, HoldsForRandomGroups) {
  Random random(70);
  for (int i = 0; i < 40000; ++i) {
    int64_t n = 1 + random.below(6);
    Interval range = random.interval(-4, 5);
    Checker c;
    c.facts = FloatFacts::finite(range);
    long double mean = 0, squares = 0, sum = 0;
    double most = -kInf;
    bool atEnds = random.below(3) == 0;
    for (int64_t k = 0; k < n; ++k) {
      double v = atEnds ? (random.flip() ? range.lo : range.hi) : random.member(range);
      c.x.push_back(v);
      mean += v / static_cast<long double>(n);
      sum += v;
      squares += static_cast<long double>(v) * v;
      most = std::max(most, v);
    }
    if (random.flip())
      c.facts.norm2 = static_cast<double>(std::sqrt(squares) * (1 + 1e-14L) + 1e-300L);
    c.facts.normalize();
    c.facts.reduce(n);
    Extent extent = random.flip() ? Extent::exactly(n) : Extent{1, n + 2};
    long double expSum = 0, variance = 0;
    std::vector<double> shifted;
    std::vector<long double> deviations;
    for (double v : c.x) {
      shifted.push_back(v - most);
      expSum += std::exp(static_cast<long double>(v) - most);
      deviations.push_back(v - mean);
      variance += (v - mean) * (v - mean) / static_cast<double>(n);
    }
    double epsilon = std::exp2(-static_cast<double>(random.below(20)));
    double added = random.uniform(0, 2);
    std::vector<double> centered, softmaxRow, logRow, layerRow, rmsRow, unitRow, silu, softsign,
        shares;
    for (int64_t k = 0; k < n; ++k) {
      double v = c.x[k];
      softmaxRow.push_back(std::exp(shifted[k]) / expSum);
      logRow.push_back(shifted[k] - std::log(expSum));
      centered.push_back(static_cast<double>(deviations[k]));
      layerRow.push_back(deviations[k] / std::sqrt(variance + epsilon));
      rmsRow.push_back(v / std::sqrt(squares / static_cast<double>(n) + epsilon));
      unitRow.push_back(v / std::sqrt(squares + epsilon));
      silu.push_back(v * evaluate(UnaryFn::Sigmoid, v));
      softsign.push_back(v / (std::fabs(v) + added));
      shares.push_back(v / sum);
    }
    c.check("x - max", minusGroupMax(c.facts, n), shifted);
    c.check("sum exp", sumOfShiftedExp(minusGroupMax(c.facts, n), extent, 1),
            {static_cast<double>(expSum)});
    c.check("softmax", softmax(c.facts, extent, true, n), softmaxRow);
    c.check("log softmax", logSoftmax(c.facts, extent, n), logRow);
    c.check("x - mean", minusGroupMean(c.facts, extent, true, n), centered);
    FloatFacts spread = mpcore::domains::variance(c.facts, extent, false, 1);
    spread.range.hi += 1e-10 * (1 + spread.range.hi);
    c.check("variance", spread, {static_cast<double>(variance)});
    if (n > 1) {
      long double unbiased = variance * static_cast<double>(n) / static_cast<double>(n - 1);
      FloatFacts sample = mpcore::domains::variance(c.facts, {2, n}, true, 1);
      sample.range.hi += 1e-10 * (1 + sample.range.hi);
      c.check("sample variance", sample, {static_cast<double>(unbiased)});
    }
    c.check("layer norm", layerNormalized(c.facts, extent, epsilon, true, n), layerRow);
    c.check("rms norm", rmsNormalized(c.facts, extent, epsilon, true, n), rmsRow);
    c.check("l2 norm", l2Normalized(c.facts, epsilon, true, n), unitRow);
    c.check("silu", timesOwnSigmoid(c.facts, n), silu);
    c.check("softsign", overOwnMagnitude(c.facts, FloatFacts::finite({added, added}), n), softsign);
    if (range.lo >= 0 && (sum > 0 || std::isnan(shares[0])))
      c.check("shares", overGroupSum(c.facts, extent, true, n), shares);
    if (HasFatalFailure())
      return;
  }
}

TEST(Relational, SoftmaxNeedsNoOverflowWarning) {
  // x in [-50, 50], n = 16: plain intervals give exp(100) = 2.7e43.
  FloatFacts x = FloatFacts::finite({-50, 50});
  Extent n = Extent::exactly(16);
  FloatFacts shifted = minusGroupMax(x, 16);
  EXPECT_EQ(shifted.range, (Interval{-100, 0}));
  FloatFacts e = unary(UnaryFn::Exp, shifted, 16);
  EXPECT_GE(e.range.lo, 0);
  EXPECT_EQ(e.range.hi, 1);
  FloatFacts sum = sumOfShiftedExp(shifted, n, 1);
  EXPECT_GE(sum.range.lo, 1);
  EXPECT_EQ(sum.range.hi, 16);
  FloatFacts reciprocal = unary(UnaryFn::Reciprocal, sum, 1);
  EXPECT_EQ(reciprocal.range.lo, 1.0 / 16);
  EXPECT_LE(reciprocal.range.hi, 1);
  FloatFacts y = softmax(x, n, true, 16);
  EXPECT_TRUE((Interval{0, 1}).contains(y.range)) << y;
  EXPECT_LE(y.norm2, 1);
  EXPECT_FALSE(y.mayNaN || y.mayInf);
  FloatFacts plain = unary(UnaryFn::Exp, binary(BinaryFn::Sub, x, x, 16), 16);
  EXPECT_GT(plain.range.hi, 2.6e43);
}

TEST(Relational, LayerNormGivesTheNormForFree) {
  FloatFacts x = FloatFacts::finite({-1e4, 1e4});
  Extent d = Extent::exactly(768);
  FloatFacts y = layerNormalized(x, d, 1e-5, true, 768);
  EXPECT_NEAR(y.mag(), 27.6948, 5e-5);
  EXPECT_NEAR(y.norm2, std::sqrt(768), 1e-9);
  EXPECT_NEAR(rmsNormalized(x, d, 1e-5, true, 768).mag(), std::sqrt(768), 1e-9);
}

TEST(Relational, NormsProveAttentionLogits) {
  // One head of a GPT-2-sized layer: d = 768, 64 columns, weights N(0, 0.02^2).
  Random random(71);
  auto gaussian = [&] {
    return std::sqrt(-2 * std::log(1 - random.uniform(0, 1))) *
           std::cos(2 * M_PI * random.uniform(0, 1));
  };
  FloatFacts x =
      layerNormalized(FloatFacts::finite({-1e4, 1e4}), Extent::exactly(768), 1e-5, true, 768);
  auto project = [&] {
    std::vector<double> w(768 * 64);
    for (double &value : w)
      value = 0.02 * gaussian();
    MatrixFacts matrix = scanMatrix(768, 64, llvm::ArrayRef<double>(w));
    ContractionOperand operand{x, contractedNorm(x, Extent::exactly(768), true)};
    return contractConstant(operand, matrix.elements, matrix.columns,
                            {Extent::exactly(768), 64, matrix.spectralBound()}, 1);
  };
  FloatFacts q = project(), k = project();
  auto logits = [&](bool withNorms) {
    ContractionOperand a{q}, b{k};
    if (withNorms) {
      a.norm = q.norm2;
      b.norm = k.norm2;
    }
    return contract(a, b, {Extent::exactly(64), std::nullopt});
  };
  EXPECT_LT(q.mag(), 20);
  EXPECT_LT(logits(true).mag(), 65504);
  // Intervals alone: every step by K times the product of the magnitudes.
  FloatFacts widest = FloatFacts::finite(Interval::symmetric(27.6948));
  ContractionOperand plainX{widest}, plainW{FloatFacts::finite(Interval::symmetric(0.09))};
  FloatFacts plainQ = contract(plainX, plainW, {Extent::exactly(768), std::nullopt});
  ContractionOperand plain{plainQ};
  EXPECT_GT(contract(plain, plain, {Extent::exactly(64), std::nullopt}).mag(), 65504);
}

TEST(Relational, SumOfSquaresInF16) {
  // d = 768: safe exactly for |x| <= 9.2365.
  auto overflows = [](double bound) {
    FloatFacts x = FloatFacts::finite(Interval::symmetric(bound));
    FloatFacts sum = reduce(ReduceFn::SumSquares, x, ReducedElements::ofRows(1, 768), 1);
    CastEffects effects;
    castTo(sum, Format::F16, mpcore::numerics::Overflow::IEEE, mpcore::numerics::Rounding::RNE, 1,
           &effects);
    return effects.mayOverflow;
  };
  EXPECT_FALSE(overflows(9.2364));
  EXPECT_TRUE(overflows(9.2366));
}

TEST(Relational, VariancePlusEpsilon) {
  // sqrt(v + eps) >= sqrt(eps), rsqrt <= 1 / sqrt(eps), once v is known to be non-negative.
  FloatFacts v = variance(FloatFacts::finite({-10, 10}), Extent::exactly(64), false, 1);
  FloatFacts sum = binary(BinaryFn::Add, v, FloatFacts::constant(1e-4), 1);
  FloatFacts inverse = unary(UnaryFn::Rsqrt, sum, 1);
  EXPECT_FALSE(inverse.mayNaN || inverse.mayInf);
  EXPECT_NEAR(inverse.range.hi, 100, 1e-9);
  EXPECT_NEAR(unary(UnaryFn::Sqrt, sum, 1).range.lo, 0.01, 1e-12);
}

TEST(Relational, UnknownStaysSafe) {
  FloatFacts top = FloatFacts::top();
  Extent n = Extent::unknown();
  EXPECT_TRUE(softmax(top, n, true, std::nullopt).mayNaN);
  EXPECT_TRUE(minusGroupMax(top, std::nullopt).mayNaN);
  EXPECT_TRUE(layerNormalized(top, n, 1e-5, true, std::nullopt).mayNaN);
  EXPECT_EQ(layerNormalized(top, n, 1e-5, true, std::nullopt).range, Interval::top());
  EXPECT_TRUE(rmsNormalized(FloatFacts::finite({-1, 1}), n, 0, true, std::nullopt).mayNaN);
  EXPECT_TRUE(overGroupSum(FloatFacts::finite({0, 1}), n, true, std::nullopt).mayNaN);
}

} // namespace
