// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/DotErrorBounds.h"

#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/SplitPrecision.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace mpcore::numerics;

namespace {

using A = Architecture;
using F = Format;

TensorCoreModel model(Architecture arch, Format operand, Format result = Format::F32) {
  return *tensorCoreModel(arch, operand, result);
}

// precision-science 4.2, derived there by hand.
TEST(DotErrorBounds, ConstantsPerArchitecture) {
  EXPECT_DOUBLE_EQ(errorConstant(model(A::SM70, F::F16)), 3.0);
  EXPECT_DOUBLE_EQ(errorConstant(model(A::SM80, F::F16)), 1.375);
  EXPECT_DOUBLE_EQ(errorConstant(model(A::SM80, F::BF16)), 1.375);
  EXPECT_DOUBLE_EQ(errorConstant(model(A::SM80, F::TF32)), 1.75);
  EXPECT_DOUBLE_EQ(errorConstant(model(A::SM90, F::F16)), 0.65625);
  EXPECT_DOUBLE_EQ(errorConstant(model(A::SM90, F::TF32)), 0.8125);
  // Per 32-product step: 34 * 2^-13.
  EXPECT_NEAR(stepError(model(A::SM90, F::F8E4M3FN)), 34 * 0x1p-13, 1e-6);
}

TEST(DotErrorBounds, WorkedValuesAtK4096) {
  TensorCoreModel bf16 = model(A::SM90, F::BF16);
  EXPECT_NEAR(dotErrorBound(bf16, 4096), 1.60e-4, 1e-6);
  TensorCoreModel fp8 = model(A::SM90, F::F8E4M3FN);
  // 0.531 to first order; the remainder is not small at that size.
  EXPECT_NEAR(std::log1p(dotErrorBound(fp8, 4096)), 0.531, 2e-3);
  fp8.promoteEvery = 128;
  EXPECT_NEAR(dotErrorBound(fp8, 4096), 1.66e-2, 2e-4);
}

/// Largest |model - exact| / A over random dots, divided by the bound.
double measuredShare(const TensorCoreModel &m, size_t k, bool positive) {
  std::mt19937 random(k + positive);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> unit(0, 1);
  std::vector<float> a(k), b(k);
  double worst = 0;
  for (int trial = 0; trial < 20; ++trial) {
    for (size_t i = 0; i < k; ++i) {
      a[i] = positive ? unit(random) : normal(random);
      b[i] = positive ? unit(random) : normal(random);
    }
    roundArray(a.data(), a.data(), k, m.operandA);
    roundArray(b.data(), b.data(), k, m.operandB);
    double exact = 0, magnitude = 0;
    for (size_t i = 0; i < k; ++i) {
      exact += double(a[i]) * b[i];
      magnitude += std::fabs(double(a[i]) * b[i]);
    }
    double error = std::fabs(modelDot(m, a.data(), b.data(), k, 0) - exact);
    worst = std::max(worst, error / magnitude);
  }
  return worst / dotErrorBound(m, k);
}

TEST(DotErrorBounds, NoModelledDotExceedsItsBound) {
  for (int arch = 0; arch <= int(A::SM120); ++arch)
    for (Route route : {Route::MmaSync, Route::Wgmma, Route::Tcgen05})
      for (Format f : {F::F16, F::BF16, F::TF32, F::F8E4M3FN, F::F8E5M2})
        for (Format result : {F::F32, F::F16})
          for (unsigned every : {0u, 128u}) {
            auto m = tensorCoreModel(Architecture(arch), f, f, result, route);
            if (!m)
              continue;
            m->promoteEvery = every;
            for (size_t k : {8, 100, 1024})
              for (bool positive : {false, true}) {
                if (result == F::F16 && k == 1024 && positive)
                  continue; // may overflow f16
                double share = measuredShare(*m, k, positive);
                EXPECT_LE(share, 1) << describe(*m) << " k " << k;
              }
          }
}

// The bounds are nearly attained: a whole group of products, each just too small
// to reach the last aligned place beside c = 1, is lost.
TEST(DotErrorBounds, TheWorstCaseExists) {
  for (auto m :
       {model(A::SM70, F::F16), model(A::SM80, F::F16), model(A::SM89, F::BF16),
        model(A::SM90, F::F16), model(A::SM89, F::F8E4M3FN), model(A::SM90, F::F8E4M3FN)}) {
    int low = (m.alignmentBits + 1) / 2, high = m.alignmentBits + 1 - low;
    std::vector<float> a(m.groupSize, std::ldexp(1.75f, -high));
    std::vector<float> b(m.groupSize, std::ldexp(1.0f, -low));
    double products = m.groupSize * double(a[0]) * b[0];
    double error = 1 + products - modelDot(m, a.data(), b.data(), m.groupSize, 1);
    EXPECT_GE(error / (1 + products), 0.5 * dotErrorBound(m, m.groupSize)) << describe(m);
  }
}

TEST(SplitScheme, PartsHoldTheValue) {
  std::mt19937 random(1);
  std::vector<float> x(1000), w0(1000), w1(1000), w2(1000);
  for (float &value : x)
    value = std::ldexp(float(random()) - 0x1p31f, int(random() % 40) - 40);
  float *parts[] = {w0.data(), w1.data(), w2.data()};
  splitIntoParts(x.data(), x.size(), F::BF16, parts);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(double(w0[i]) + w1[i] + w2[i], double(x[i]));
    EXPECT_EQ(roundTo(w1[i], F::BF16), w1[i]);
    EXPECT_LE(std::fabs(x[i] - w0[i]), 0x1p-8 * std::fabs(x[i]));
  }
  splitIntoParts(x.data(), x.size(), F::TF32, llvm::MutableArrayRef(parts, 2));
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_LE(std::fabs(double(x[i]) - w0[i] - w1[i]), 0x1p-22 * std::fabs(x[i]));
}

double splitShare(const TensorCoreModel &m, SplitScheme scheme, size_t k, bool positive,
                  double &worst) {
  std::mt19937 random(k);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> unit(0, 1);
  const size_t rows = 8, columns = 8;
  std::vector<float> a(rows * k), b(k * columns), d(rows * columns);
  for (float &v : a)
    v = positive ? unit(random) : normal(random);
  for (float &v : b)
    v = positive ? unit(random) : normal(random);
  modelGemmSplit(m, scheme, rows, columns, k, a.data(), k, b.data(), columns, nullptr, 0, d.data(),
                 columns);
  worst = 0;
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      long double exact = 0, magnitude = 0;
      for (size_t l = 0; l < k; ++l) {
        exact += (long double)a[i * k + l] * b[l * columns + j];
        magnitude += std::fabs((long double)a[i * k + l] * b[l * columns + j]);
      }
      worst = std::max(worst, double(std::fabs(d[i * columns + j] - exact) / magnitude));
    }
  return worst / splitErrorBound(m, scheme, k);
}

TEST(SplitScheme, ErrorsStayBelowTheirBounds) {
  for (A arch : {A::SM80, A::SM90, A::SM100})
    for (int s = 0; s <= int(SplitScheme::TF32x3); ++s)
      for (unsigned every : {0u, 128u})
        for (size_t k : {8, 300, 1024})
          for (bool positive : {false, true}) {
            SplitScheme scheme = SplitScheme(s);
            TensorCoreModel m = model(arch, partFormat(scheme));
            m.promoteEvery = every;
            double worst;
            EXPECT_LE(splitShare(m, scheme, k, positive, worst), 1)
                << describe(m) << " " << toString(scheme).str() << " k " << k;
          }
}

// First-order bounds of precision-science 6, and each scheme better than the
// one before.
TEST(SplitScheme, MorePartsMeanLessError) {
  EXPECT_NEAR(droppedPartsBound(SplitScheme::BF16x3), 3 * 0x1p-16, 5e-7);
  EXPECT_NEAR(droppedPartsBound(SplitScheme::TF32x3), 3 * 0x1p-22, 1e-9);
  EXPECT_NEAR(droppedPartsBound(SplitScheme::BF16x6), 2 * 0x1p-24, 2e-9);
  EXPECT_EQ(droppedPartsBound(SplitScheme::BF16x9), 0);
  TensorCoreModel m = model(A::SM90, F::BF16);
  m.promoteEvery = 128;
  double x1, x3, x6;
  splitShare(m, SplitScheme::BF16x1, 1024, false, x1);
  splitShare(m, SplitScheme::BF16x3, 1024, false, x3);
  splitShare(m, SplitScheme::BF16x6, 1024, false, x6);
  EXPECT_LT(x3 * 100, x1);
  EXPECT_LT(x6 * 4, x3);
}

TEST(SplitScheme, InfinityComesOutAsInfinity) {
  TensorCoreModel m = model(A::SM80, F::BF16);
  float inf = std::numeric_limits<float>::infinity();
  float a[] = {inf, 1}, b[] = {2, 3}, d[1];
  modelGemmSplit(m, SplitScheme::BF16x6, 1, 1, 2, a, 2, b, 1, nullptr, 0, d, 1);
  EXPECT_EQ(d[0], inf);
  a[0] = std::numeric_limits<float>::quiet_NaN();
  modelGemmSplit(m, SplitScheme::BF16x6, 1, 1, 2, a, 2, b, 1, nullptr, 0, d, 1);
  EXPECT_TRUE(std::isnan(d[0]));
}

TEST(SplitScheme, SpellingsRoundTrip) {
  for (int s = 0; s <= int(SplitScheme::TF32x3); ++s)
    EXPECT_EQ(parseSplitScheme(toString(SplitScheme(s))), SplitScheme(s));
  EXPECT_FALSE(parseSplitScheme("bf16x4"));
}

} // namespace
