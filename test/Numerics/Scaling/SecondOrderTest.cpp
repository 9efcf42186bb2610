// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/Scaling/SecondOrder.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mpcore::numerics;

namespace {

/// Moments [[4, 3], [3, 4]]: the Cholesky factor of it as inputs.
SecondMoments correlated() {
  SecondMoments moments(2);
  moments.add({2.0f, 1.5f, 0.0f, std::sqrt(1.75f)});
  return moments;
}

/// The least error that any codes near zero have.
double leastError(const std::vector<float> &weights, const std::vector<float> &steps,
                  const SecondMoments &moments, const WeightRounding &shape) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<int8_t> codes(2);
  for (int a = -3; a <= 3; ++a)
    for (int b = -3; b <= 3; ++b) {
      codes = {int8_t(a), int8_t(b)};
      least = std::min(least, squaredError(weights, codes, steps, moments, shape));
    }
  return least;
}

TEST(SecondOrder, TheSecondWeightMakesUpForTheFirst) {
  // By hand: after the first is 0, the second is .4 + .4 * 3/4 = .7, which is 1. The nearest are
  // [0, 0].
  const WeightRounding shape{2, 1, 2, 7, /*damping=*/0};
  const std::vector<float> weights{0.4f, 0.4f}, steps{1};
  SecondMoments moments = correlated();
  auto codes = roundSecondOrder(weights, steps, moments, shape);
  EXPECT_EQ(codes, (std::vector<int8_t>{0, 1}));
  EXPECT_EQ(roundNearest(weights, steps, shape), (std::vector<int8_t>{0, 0}));
  EXPECT_NEAR(squaredError(weights, codes, steps, moments, shape), 0.64, 1e-6);
  EXPECT_NEAR(squaredError(weights, {0, 0}, steps, moments, shape), 2.24, 1e-6);
  EXPECT_NEAR(leastError(weights, steps, moments, shape), 0.64, 1e-6);
}

TEST(SecondOrder, ItFindsTheLeastErrorOfTwoWeights) {
  const WeightRounding shape{2, 1, 2, 7, /*damping=*/0};
  const std::vector<float> weights{1.3f, 0.4f}, steps{1};
  SecondMoments moments = correlated();
  auto codes = roundSecondOrder(weights, steps, moments, shape);
  EXPECT_EQ(codes, (std::vector<int8_t>{1, 1}));
  EXPECT_NEAR(squaredError(weights, codes, steps, moments, shape), 0.72, 1e-6);
  EXPECT_NEAR(squaredError(weights, {1, 0}, steps, moments, shape), 1.72, 1e-6);
  EXPECT_NEAR(leastError(weights, steps, moments, shape), 0.72, 1e-6);
}

TEST(SecondOrder, OnAverageTheErrorIsWellBelowThatOfTheNearest) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  const WeightRounding shape{16, 4, 8, 7};
  double nearest = 0, second = 0;
  for (int trial = 0; trial != 50; ++trial) {
    SecondMoments moments(16);
    std::vector<float> mix(16 * 16), row(16), weights(16 * 4);
    for (float &value : mix)
      value = normal(random);
    for (int n = 0; n != 64; ++n) {
      // Correlated inputs: eight sources in sixteen places.
      std::fill(row.begin(), row.end(), 0.0f);
      for (int source = 0; source != 8; ++source) {
        float value = normal(random);
        for (int i = 0; i != 16; ++i)
          row[i] += value * mix[i * 16 + source];
      }
      moments.add(row);
    }
    for (float &weight : weights)
      weight = normal(random);
    auto steps = stepsOf(weights, shape);
    nearest += squaredError(weights, roundNearest(weights, steps, shape), steps, moments, shape);
    second += squaredError(weights, roundSecondOrder(weights, steps, moments, shape), steps,
                           moments, shape);
  }
  EXPECT_LT(second, 0.5 * nearest);
}

TEST(SecondOrder, UncorrelatedInputsGiveTheNearest) {
  SecondMoments moments(3);
  moments.add({2, 0, 0, 0, 3, 0, 0, 0, 1});
  const WeightRounding shape{3, 2, 3, 7};
  const std::vector<float> weights{0.9f, -0.1f, 0.3f, 0.7f, -1.2f, 0.2f};
  auto steps = stepsOf(weights, shape);
  EXPECT_EQ(roundSecondOrder(weights, steps, moments, shape), roundNearest(weights, steps, shape));
}

TEST(SecondOrder, StepsOfLeastErrorLeaveOutWhatNothingMultiplies) {
  const WeightRounding shape{3, 1, 3, 7};
  const std::vector<float> weights{0.4f, 0.4f, 7.0f};
  SecondMoments unread(3), read(3);
  unread.add({1, 0, 0, 0, 1, 0});
  read.add({1, 0, 0, 0, 1, 0, 0, 0, 1});
  // 0.4 of the step 1 holds the first two, and clamps the third, which does no harm.
  EXPECT_EQ(stepsOfLeastError(weights, unread, shape), (std::vector<float>{0.4f}));
  EXPECT_EQ(stepsOfLeastError(weights, read, shape), stepsOf(weights, shape));
}

TEST(SecondOrder, StepsOfLeastErrorAreNoWorseAndOnAverageBetter) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  const WeightRounding shape{32, 8, 16, 7};
  std::vector<float> weights(32 * 8), row(32);
  SecondMoments moments(32);
  for (float &weight : weights)
    weight = normal(random);
  // Inputs by themselves, so that the error is the sum of each one's.
  for (size_t i = 0; i != 32; ++i) {
    std::fill(row.begin(), row.end(), 0.0f);
    row[i] = normal(random);
    moments.add(row);
  }
  auto errorOf = [&](const std::vector<float> &steps) {
    return squaredError(weights, roundNearest(weights, steps, shape), steps, moments, shape);
  };
  double least = errorOf(stepsOfLeastError(weights, moments, shape));
  EXPECT_LT(least, 0.9 * errorOf(stepsOf(weights, shape)));
  for (float share : {0.35f, 0.6f, 0.8f, 0.95f}) {
    std::vector<float> others = stepsOf(weights, shape);
    for (float &step : others)
      step *= share;
    EXPECT_LE(least, errorOf(others) * (1 + 1e-6)) << share;
  }
}

TEST(SecondOrder, MeansAreOfFiniteRows) {
  SecondMoments moments(2);
  EXPECT_EQ(moments.means(), (std::vector<double>{0, 0}));
  moments.add({1, 4, 2, 0, NAN, 1});
  EXPECT_EQ(moments.means(), (std::vector<double>{1.5, 2}));
}

TEST(SecondOrder, InputsThatAreAlwaysZeroOrNotFiniteDoNoHarm) {
  SecondMoments dead(2), none(2);
  dead.add({0, 1, 0, 2, INFINITY, 1, NAN, 1});
  EXPECT_EQ(dead.get()[3], 5);
  EXPECT_EQ(dead.get()[0], 0);
  const WeightRounding shape{2, 1, 1, 7};
  const std::vector<float> weights{0.4f, 0};
  const std::vector<float> steps = stepsOf(weights, shape);
  EXPECT_EQ(steps[1], 1) << "of a group of zeros";
  for (const SecondMoments *moments : {&dead, &none})
    EXPECT_EQ(roundSecondOrder(weights, steps, *moments, shape), (std::vector<int8_t>{7, 0}));
}

} // namespace
