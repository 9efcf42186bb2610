// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of accumulations and contractions: published constants, and random data run through the
// bit-exact Tensor Core models of Numerics.

#include "TestUtils.h"

#include "mp/Domains/Error.h"

#include "gtest/gtest.h"

using namespace mpcore::domains;
using mpcore::numerics::Architecture;
using mpcore::numerics::Format;
using mpcore::numerics::TensorCoreModel;

namespace {

double store(double x, Format format) {
  return mpcore::numerics::decode(mpcore::numerics::encode(x, format), format);
}

Accumulation unit(Architecture architecture, Format operand) {
  return Accumulation::tensorCore(*mpcore::numerics::tensorCoreModel(architecture, operand));
}

TEST(Accumulation, ConstantsOfTheArchitectures) {
  EXPECT_DOUBLE_EQ(unit(Architecture::SM70, Format::F16).constant(), 3.0);
  EXPECT_DOUBLE_EQ(unit(Architecture::SM80, Format::F16).constant(), 1.375);
  EXPECT_DOUBLE_EQ(unit(Architecture::SM80, Format::BF16).constant(), 1.375);
  EXPECT_DOUBLE_EQ(unit(Architecture::SM80, Format::TF32).constant(), 1.75);
  EXPECT_DOUBLE_EQ(unit(Architecture::SM90, Format::BF16).constant(), 0.65625);
  EXPECT_DOUBLE_EQ(unit(Architecture::SM90, Format::TF32).constant(), 0.8125);
  Accumulation fp8 = unit(Architecture::SM90, Format::F8E4M3FN);
  EXPECT_DOUBLE_EQ(fp8.step, 34 * 0x1p-13);
  EXPECT_NEAR(fp8.relativeError(4096, Order::FirstOrder), 0.531, 5e-4);
  EXPECT_NEAR(fp8.promotedEvery(128).relativeError(4096, Order::FirstOrder), 1.66e-2, 5e-5);
}

TEST(Accumulation, CertifiedErrorOfUnits) {
  // sm_90, K = 4096, relative to sum |a b|, to first order.
  auto certified = [](Format format, int64_t promote) {
    double u = mpcore::numerics::info(format).unitRoundoff;
    Accumulation accumulation = unit(Architecture::SM90, format).promotedEvery(promote);
    return 2 * u + u * u + accumulation.relativeError(4096, Order::FirstOrder);
  };
  EXPECT_NEAR(certified(Format::BF16, 0), 7.99e-3, 5e-6);
  EXPECT_NEAR(certified(Format::F16, 0), 1.14e-3, 5e-6);
  EXPECT_NEAR(certified(Format::F8E4M3FN, 0), 0.66, 5e-4);
  EXPECT_NEAR(certified(Format::F8E4M3FN, 128), 0.1455, 1e-4);
  // The rigorous bound is above, and hardly so while the error is small.
  Accumulation bf16 = unit(Architecture::SM90, Format::BF16);
  double first = bf16.relativeError(4096, Order::FirstOrder);
  EXPECT_GT(bf16.relativeError(4096), first);
  EXPECT_LT(bf16.relativeError(4096), first * 1.01);
}

TEST(Accumulation, BestPromotionIsTheSquareRoot) {
  // Lc ~ sqrt(1.52 K): at K = 4096, 64 and 128 beat 16 and 1024.
  Accumulation bf16 = unit(Architecture::SM90, Format::BF16);
  auto error = [&](int64_t chunk) { return bf16.promotedEvery(chunk).relativeError(4096); };
  EXPECT_LT(error(64), error(16));
  EXPECT_LT(error(128), error(1024));
  EXPECT_LT(error(128), bf16.relativeError(4096));
}

struct Case {
  Architecture architecture;
  Format format;
  int64_t promote;
};

const Case kCases[] = {
    {Architecture::SM70, Format::F16, 0},        {Architecture::SM80, Format::F16, 0},
    {Architecture::SM80, Format::BF16, 0},       {Architecture::SM80, Format::TF32, 0},
    {Architecture::SM89, Format::F8E4M3FN, 0},   {Architecture::SM90, Format::F16, 0},
    {Architecture::SM90, Format::BF16, 0},       {Architecture::SM90, Format::TF32, 0},
    {Architecture::SM90, Format::F8E4M3FN, 0},   {Architecture::SM90, Format::F8E5M2, 0},
    {Architecture::SM90, Format::F8E4M3FN, 128}, {Architecture::SM90, Format::BF16, 128},
};

TEST(Contraction, TensorCoresStayWithinBounds) {
  Random random(700);
  double tightest = 0;
  for (const Case &c : kCases) {
    TensorCoreModel model = *mpcore::numerics::tensorCoreModel(c.architecture, c.format);
    model.promoteEvery = static_cast<unsigned>(c.promote);
    Accumulation accumulation = Accumulation::tensorCore(model);
    for (int i = 0; i < 250; ++i) {
      int64_t k = 1 + random.below(i % 10 == 0 ? 2000 : 200);
      unsigned style = random.below(4);
      double scale = std::exp2(static_cast<int>(random.below(7)) - 3);
      auto draw = [&] {
        switch (style) {
        case 0: return random.uniform(-1, 1) * scale;
        case 1: return random.uniform(0, 1) * scale;
        case 2: return random.number(-12, 2);             // many binades
        default: return random.uniform(0.999, 1) * scale; // cuts all in one direction
        }
      };
      std::vector<double> x(k), w(k);
      std::vector<float> a(k), b(k);
      double squaresX = 0, squaresW = 0, norm1X = 0, norm1W = 0, magX = 0, magW = 0;
      long double exact = 0;
      for (int64_t t = 0; t < k; ++t) {
        x[t] = static_cast<float>(draw());
        w[t] = static_cast<float>(draw());
        a[t] = static_cast<float>(store(x[t], c.format));
        b[t] = static_cast<float>(store(w[t], c.format));
        exact += static_cast<long double>(x[t]) * w[t];
        squaresX += x[t] * x[t];
        squaresW += w[t] * w[t];
        norm1X += std::fabs(x[t]);
        norm1W += std::fabs(w[t]);
        magX = std::max(magX, std::fabs(x[t]));
        magW = std::max(magW, std::fabs(w[t]));
      }
      ContractionSide sx{
          {FloatFacts::finite(Interval::symmetric(magX)), std::sqrt(squaresX) * (1 + 1e-12)},
          ErrorFacts::none(),
          norm1X * (1 + 1e-12),
          c.format};
      ContractionSide sw{
          {FloatFacts::finite(Interval::symmetric(magW)), std::sqrt(squaresW) * (1 + 1e-12)},
          ErrorFacts::none(),
          norm1W * (1 + 1e-12),
          c.format};
      ContractionError bound =
          contractionError(sx, sw, k, accumulation, Extent::exactly(k), {Format::F32});
      double computed =
          mpcore::numerics::modelDot(model, a.data(), b.data(), static_cast<size_t>(k), 0);
      double error = std::fabs(computed - static_cast<double>(exact));
      ASSERT_LE(error, bound.total.abs) << mpcore::numerics::describe(model) << " k " << k
                                        << " style " << style << " scale " << scale;
      tightest = std::max(tightest, error / bound.total.abs);
    }
  }
  std::printf("  largest error / bound: %.2f\n", tightest);
  EXPECT_GT(tightest, 0.2) << "the bound is not idle";
}

TEST(Contraction, AccumulationAloneStaysWithinBounds) {
  // Operands exact in the format: what is left is the unit's own error.
  Random random(710);
  for (const Case &c : kCases) {
    TensorCoreModel model = *mpcore::numerics::tensorCoreModel(c.architecture, c.format);
    model.promoteEvery = static_cast<unsigned>(c.promote);
    Accumulation accumulation = Accumulation::tensorCore(model);
    double worst = 0;
    for (int i = 0; i < 400; ++i) {
      int64_t k = 1 + random.below(600);
      std::vector<float> a(k), b(k);
      long double exact = 0, sum = 0;
      double largest = 0;
      bool positive = random.flip();
      for (int64_t t = 0; t < k; ++t) {
        a[t] = static_cast<float>(store(random.uniform(positive ? 0 : -2, 2), c.format));
        b[t] = static_cast<float>(store(random.uniform(positive ? 0 : -2, 2), c.format));
        exact += static_cast<long double>(a[t]) * b[t];
        sum += std::fabs(static_cast<long double>(a[t]) * b[t]);
        largest = std::max<double>({largest, std::fabs(a[t]), std::fabs(b[t])});
      }
      double computed =
          mpcore::numerics::modelDot(model, a.data(), b.data(), static_cast<size_t>(k), 0);
      double error = std::fabs(computed - static_cast<double>(exact));
      double bound = accumulation.relativeError(k) * static_cast<double>(sum) +
                     accumulation.subnormalError(k, largest);
      ASSERT_LE(error, bound) << mpcore::numerics::describe(model) << " k " << k;
      worst = std::max(worst, error / bound);
    }
    EXPECT_GT(worst, 0.005) << mpcore::numerics::describe(model);
  }
}

TEST(Contraction, StoringAnF32SumInF16) {
  // |a|, |b| <= 4 on sm_90: K = 4094 is provable (65504 + 10.5 < 65520), K = 4096 is not.
  auto bound = [](int64_t k) {
    ContractionSide side;
    side.operand.facts = FloatFacts::finite({-4, 4});
    side.error = ErrorFacts::none();
    return contractionError(side, side, k, unit(Architecture::SM90, Format::F16),
                            Extent::exactly(k), {Format::F16});
  };
  EXPECT_LT(bound(4094).total.abs, kInf);
  EXPECT_NEAR(bound(4094).accumulation, 10.5, 0.05);
  EXPECT_EQ(bound(4096).total.abs, kInf);
}

TEST(Contraction, RowNormOfTheError) {
  Random random(720);
  for (int i = 0; i < 300; ++i) {
    int64_t k = 1 + random.below(40), n = 1 + random.below(12);
    std::vector<double> w(k * n), x(k), moved(k);
    double squares = 0, difference = 0, worst = 0, mag = 0;
    for (double &v : w)
      v = static_cast<float>(random.uniform(-1, 1));
    for (int64_t t = 0; t < k; ++t) {
      x[t] = random.uniform(-2, 2);
      moved[t] = static_cast<float>(x[t] + random.uniform(-1, 1) * 0x1p-8);
      squares += x[t] * x[t];
      difference += (moved[t] - x[t]) * (moved[t] - x[t]);
      worst = std::max(worst, std::fabs(moved[t] - x[t]));
      mag = std::max(mag, std::fabs(x[t]));
    }
    TensorCoreModel model = *mpcore::numerics::tensorCoreModel(Architecture::SM80, Format::BF16);
    double total = 0;
    for (int64_t j = 0; j < n; ++j) {
      std::vector<float> a(k), b(k);
      double exact = 0;
      for (int64_t t = 0; t < k; ++t) {
        a[t] = static_cast<float>(store(moved[t], Format::BF16));
        b[t] = static_cast<float>(store(w[t * n + j], Format::BF16));
        exact += x[t] * w[t * n + j];
      }
      double computed =
          mpcore::numerics::modelDot(model, a.data(), b.data(), static_cast<size_t>(k), 0);
      total += (computed - exact) * (computed - exact);
    }
    double columnNorm = 0, magW = 0;
    for (int64_t j = 0; j < n; ++j) {
      double column = 0;
      for (int64_t t = 0; t < k; ++t) {
        column += w[t * n + j] * w[t * n + j];
        magW = std::max(magW, std::fabs(w[t * n + j]));
      }
      columnNorm = std::max(columnNorm, std::sqrt(column) * (1 + 1e-12));
    }
    ContractionSide sx{
        {FloatFacts::finite(Interval::symmetric(mag)), std::sqrt(squares) * (1 + 1e-12)},
        ErrorFacts::absolute(worst),
        kInf,
        Format::BF16};
    sx.error.norm2 = std::sqrt(difference) * (1 + 1e-12);
    ContractionSide sw{{FloatFacts::finite(Interval::symmetric(magW)), columnNorm},
                       ErrorFacts::none(),
                       kInf,
                       Format::BF16};
    Arithmetic arithmetic{Format::F32};
    arithmetic.rowLength = n;
    ContractionError bound = contractionError(sx, sw, k, Accumulation::tensorCore(model),
                                              Extent::exactly(k), arithmetic);
    ASSERT_LE(std::sqrt(total), bound.total.norm2 * (1 + 1e-9)) << k << 'x' << n;
  }
}

TEST(Sums, Sequential) {
  Random random(730);
  for (Format format : {Format::F32, Format::F16, Format::BF16}) {
    for (int i = 0; i < 2000; ++i) {
      int64_t n = 1 + random.below(100);
      bool positive = random.flip();
      std::vector<double> x(n), exact(n);
      double sumExact = 0, worst = 0;
      for (int64_t k = 0; k < n; ++k) {
        exact[k] = random.uniform(positive ? 0 : -1, 1);
        x[k] = store(exact[k], format);
        sumExact += exact[k];
        worst = std::max(worst, std::fabs(x[k] - exact[k]));
      }
      double sequential = 0;
      for (double v : x)
        sequential = store(sequential + v, format);
      Measured m{FloatFacts::finite({positive ? 0.0 : -1.0, 1}), ErrorFacts::absolute(worst)};
      ReducedElements elements = ReducedElements::ofRows(1, n);
      Arithmetic arithmetic{format};
      ErrorFacts chain = sumError(m, elements, Accumulation::sequential(format), arithmetic);
      ASSERT_LE(std::fabs(sequential - sumExact), chain.abs + 1e-13);
    }
  }
}

TEST(Sums, AccumulatorOverflowIsUnknown) {
  Measured x{FloatFacts::finite({0, 100}), ErrorFacts::none()};
  Arithmetic f16{Format::F16};
  auto bound = [&](int64_t n) {
    return sumError(x, ReducedElements::ofRows(1, n), Accumulation::sequential(Format::F16), f16)
        .abs;
  };
  EXPECT_LT(bound(300), kInf);
  EXPECT_EQ(bound(700), kInf);
}

} // namespace
