// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The average error of split products: modelled beside what Tensor Cores' arithmetic gives.
// Short sums, in which rounding is below 2^-21, are modelled with room.

#include "mp/Domains/Variance.h"
#include "mp/Numerics/TensorCore.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mpcore;
using numerics::SplitScheme;

namespace {

/// Root mean square error of a 32 x K x 32 product of normal values, relative to the exact one.
double measure(const numerics::TensorCoreModel &model, SplitScheme scheme, size_t k) {
  constexpr size_t m = 32;
  std::mt19937 engine(7);
  std::normal_distribution<float> normal;
  std::vector<float> a(m * k), b(k * m), d(m * m);
  for (float &x : a)
    x = normal(engine);
  for (float &x : b)
    x = normal(engine);
  numerics::modelGemmSplit(model, scheme, m, m, k, a.data(), k, b.data(), m, nullptr, 0, d.data(),
                           m, 1);
  double error = 0, size = 0;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < m; ++j) {
      double exact = 0;
      for (size_t l = 0; l < k; ++l)
        exact += double(a[i * k + l]) * b[l * m + j];
      error += (d[i * m + j] - exact) * (d[i * m + j] - exact);
      size += exact * exact;
    }
  return std::sqrt(error / size);
}

TEST(SplitPrecision, ModelledErrorIsThatOfTensorCores) {
  for (auto architecture : {numerics::Architecture::SM80, numerics::Architecture::SM90})
    for (SplitScheme scheme : {SplitScheme::BF16x1, SplitScheme::BF16x3, SplitScheme::BF16x6,
                               SplitScheme::BF16x9, SplitScheme::TF32x3})
      for (size_t k : {64, 1024}) {
        auto model = numerics::tensorCoreModel(architecture, numerics::partFormat(scheme));
        ASSERT_TRUE(model);
        domains::Signal y = domains::splitSignal({1, 0}, {1, 0}, int64_t(k), scheme,
                                                 domains::Accumulation::tensorCore(*model));
        double modelled = std::sqrt(y.variance) / y.rms;
        double measured = measure(*model, scheme, k);
        SCOPED_TRACE(numerics::toString(scheme).str() + ", K = " + std::to_string(k) +
                     ", measured " + std::to_string(measured * 1e9) + "e-9, modelled " +
                     std::to_string(modelled * 1e9) + "e-9");
        EXPECT_LT(modelled, 3.5 * measured);
        EXPECT_GT(modelled, measured / 1.7);
      }
}

} // namespace
