// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of softmax over rows, and the variance of chains of products, on random data.

#include "TestUtils.h"

#include "mp/Domains/Error.h"
#include "mp/Domains/Variance.h"

#include "gtest/gtest.h"

using namespace mpcore::domains;
using mpcore::numerics::Format;

namespace {

double store(double x, Format format) {
  return mpcore::numerics::decode(mpcore::numerics::encode(x, format), format);
}

TEST(Softmax, StaysWithinBounds) {
  Random random(740);
  double tightest = 0;
  for (Format format : {Format::F32, Format::BF16, Format::F16}) {
    for (int i = 0; i < 3000; ++i) {
      int64_t n = 1 + random.below(40);
      double spread = std::exp2(static_cast<int>(random.below(6)));
      double noise = random.flip() ? 0 : 0x1p-5;
      std::vector<double> exact(n), x(n), e(n);
      double worst = 0, most = -kInf, mostExact = -kInf;
      for (int64_t k = 0; k < n; ++k) {
        exact[k] = random.uniform(-spread, spread);
        x[k] = store(exact[k] + random.uniform(-noise, noise), format);
        worst = std::max(worst, std::fabs(x[k] - exact[k]));
        most = std::max(most, x[k]);
        mostExact = std::max(mostExact, exact[k]);
      }
      double sum = 0, sumExact = 0;
      for (int64_t k = 0; k < n; ++k) {
        e[k] = store(std::exp(store(x[k] - most, format)), format);
        sum = store(sum + e[k], format);
        sumExact += std::exp(exact[k] - mostExact);
      }
      bool reciprocal = random.flip();
      SoftmaxError bound = softmaxError(
          {FloatFacts::finite({-spread, spread}), ErrorFacts::absolute(worst)}, n, 0.5, {format});
      double total = 0;
      for (int64_t k = 0; k < n; ++k) {
        double y =
            reciprocal ? store(e[k] * store(1 / sum, format), format) : store(e[k] / sum, format);
        double error = std::fabs(y - std::exp(exact[k] - mostExact) / sumExact);
        total += error;
        ASSERT_LE(error, bound.elements.abs + 1e-14) << n << ' ' << spread;
        tightest = std::max(tightest, error / bound.elements.abs);
      }
      ASSERT_LE(total, bound.norm1 + 1e-13);
    }
  }
  EXPECT_GT(tightest, 0.1);
}

TEST(Variance, PredictsTheRmsOfAChain) {
  // Three products with random weights, operands rounded to bf16: predicted within 15 %.
  Random random(760);
  auto gaussian = [&] {
    return std::sqrt(-2 * std::log(1 - random.uniform(0, 1))) *
           std::cos(2 * M_PI * random.uniform(0, 1));
  };
  constexpr int64_t d = 128, rows = 64;
  for (Format format : {Format::BF16, Format::F16}) {
    std::vector<double> exact(rows * d), computed;
    for (double &v : exact)
      v = static_cast<float>(gaussian());
    computed = exact;
    Signal signal{1, 0};
    Accumulation accumulation = Accumulation::sequential(Format::F32);
    for (int layer = 0; layer < 3; ++layer) {
      double weightRms = 1 / std::sqrt(static_cast<double>(d));
      std::vector<double> w(d * d), nextExact(rows * d), nextComputed(rows * d);
      for (double &v : w)
        v = static_cast<float>(weightRms * gaussian());
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < d; ++j) {
          double sum = 0;
          float rounded = 0;
          for (int64_t k = 0; k < d; ++k) {
            sum += exact[r * d + k] * w[k * d + j];
            rounded += static_cast<float>(store(computed[r * d + k], format)) *
                       static_cast<float>(store(w[k * d + j], format));
          }
          nextExact[r * d + j] = sum;
          nextComputed[r * d + j] = rounded;
        }
      exact = nextExact;
      computed = nextComputed;
      signal = contractionSignal(signal, {weightRms, 0}, d, format, accumulation, Format::F32);
    }
    double squares = 0, errors = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      squares += exact[i] * exact[i];
      errors += (computed[i] - exact[i]) * (computed[i] - exact[i]);
    }
    double rms = std::sqrt(squares / static_cast<double>(exact.size()));
    double errorRms = std::sqrt(errors / static_cast<double>(exact.size()));
    EXPECT_NEAR(signal.rms / rms, 1, 0.15);
    EXPECT_NEAR(std::sqrt(signal.variance) / errorRms, 1, 0.15)
        << std::sqrt(signal.variance) << " vs " << errorRms;
  }
}

TEST(Variance, RoundingOfRandomNumbers) {
  Random random(770);
  double squares = 0, errors = 0;
  for (int i = 0; i < 100000; ++i) {
    double x = std::exp2(random.uniform(-3, 3));
    squares += x * x;
    errors += std::pow(store(x, Format::BF16) - x, 2);
  }
  Signal stored = castSignal({std::sqrt(squares / 100000), 0}, Format::BF16);
  EXPECT_NEAR(std::sqrt(stored.variance) / std::sqrt(errors / 100000), 1, 0.05);
}

} // namespace
