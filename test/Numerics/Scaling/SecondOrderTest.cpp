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

/// 12 correlated inputs, 3 outputs, steps of their own for 4 inputs each.
struct Drawn {
  explicit Drawn(std::mt19937 &random) : moments(12), weights(12 * 3) {
    std::normal_distribution<float> normal;
    std::vector<float> row(12);
    for (int n = 0; n != 40; ++n) {
      float common = normal(random);
      for (float &value : row)
        value = common + normal(random);
      moments.add(row);
    }
    for (float &weight : weights)
      weight = normal(random);
  }
  SecondMoments moments;
  std::vector<float> weights;
};

TEST(SecondOrder, DescentEndsWhereNoOtherCodeIsBetter) {
  std::mt19937 random(5);
  const WeightRounding shape{12, 3, 4, 3, /*damping=*/0};
  double before = 0, after = 0;
  unsigned lower = 0;
  for (int trial = 0; trial != 40; ++trial) {
    Drawn drawn(random);
    auto steps = stepsOf(drawn.weights, shape);
    auto codes = roundSecondOrder(drawn.weights, steps, drawn.moments, shape);
    double start = squaredError(drawn.weights, codes, steps, drawn.moments, shape);
    descend(drawn.weights, codes, steps, drawn.moments, shape);
    double end = squaredError(drawn.weights, codes, steps, drawn.moments, shape);
    EXPECT_LE(end, start * (1 + 1e-12));
    before += start;
    after += end;
    for (size_t at = 0; at != codes.size(); ++at)
      for (int by : {-1, 1}) {
        auto other = codes;
        other[at] = int8_t(other[at] + by);
        if (std::abs(other[at]) <= shape.largest)
          lower +=
              squaredError(drawn.weights, other, steps, drawn.moments, shape) < end * (1 - 1e-9);
      }
    for (size_t at = 0; at != steps.size(); ++at)
      for (float by : {0.99f, 1.01f}) {
        auto other = steps;
        other[at] *= by;
        lower += squaredError(drawn.weights, codes, other, drawn.moments, shape) < end * (1 - 1e-9);
      }
  }
  EXPECT_EQ(lower, 0u);
  EXPECT_LT(after, 0.8 * before);
}

TEST(SecondOrder, WeightsMakeUpForInputsThatHaveChanged) {
  // Inputs became twice what they were, and mixed: the old products come back with w / 2, mixed
  // back. By hand: x = (a, b) was, (2a, 2a + 2b) is; p a + q b = (p - q) / 2 x0 + q / 2 x1.
  const WeightRounding shape{2, 1, 2, 7, /*damping=*/0};
  const std::vector<float> before{1, 0, 0, 1, 1, 2, -1, 1}, now{2, 2, 0, 2, 2, 6, -2, 0};
  SecondMoments moments(2);
  moments.add(now);
  CrossMoments cross(2);
  cross.add(now, before);
  auto weights = retarget({0.5f, 0.25f}, moments, cross, shape);
  EXPECT_NEAR(weights[0], 0.125f, 1e-6);
  EXPECT_NEAR(weights[1], 0.125f, 1e-6);
}

TEST(SecondOrder, WeightsStayWhereInputsHaveNotChanged) {
  std::mt19937 random(11);
  const WeightRounding shape{12, 3, 4, 3};
  Drawn drawn(random);
  CrossMoments cross(12);
  SecondMoments moments(12);
  std::vector<float> rows(12 * 30);
  for (float &value : rows)
    value = std::normal_distribution<float>()(random);
  rows[5] = std::numeric_limits<float>::infinity();
  moments.add(rows);
  cross.add(rows, rows);
  EXPECT_EQ(retarget(drawn.weights, moments, cross, shape), drawn.weights);
}

TEST(SecondOrder, DescentLeavesWhatIsExact) {
  std::mt19937 random(7);
  const WeightRounding shape{12, 3, 4, 3};
  Drawn drawn(random);
  std::vector<float> steps(9, 0.25f), weights(36);
  std::vector<int8_t> codes(36);
  for (size_t i = 0; i != 36; ++i) {
    codes[i] = int8_t(i % 7) - 3;
    weights[i] = 0.25f * float(codes[i]);
  }
  auto kept = codes;
  descend(weights, codes, steps, drawn.moments, shape);
  EXPECT_EQ(codes, kept);
  EXPECT_EQ(steps, std::vector<float>(9, 0.25f));
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

/// Counts the weights of each four in a row that are not 0; returns the most.
size_t mostOfFour(llvm::ArrayRef<float> weights, const WeightRounding &shape) {
  size_t most = 0;
  for (size_t j = 0; j != shape.outputs; ++j)
    for (size_t i = 0; i != shape.inputs; i += 4) {
      size_t left = 0;
      for (size_t k = i; k != i + 4; ++k)
        left += weights[k * shape.outputs + j] != 0;
      most = std::max(most, left);
    }
  return most;
}

// Two inputs that go together: one of each pair can stand for both. By magnitude the pair of larger
// weights would be left, and nothing would stand for the others.
TEST(SecondOrder, OfFourWeightsThoseAreLeftThatTheOthersCannotMakeUpFor) {
  SecondMoments moments(4);
  moments.add({1, 1, 0, 0, 0, 0.1f, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0.1f});
  const WeightRounding shape{4, 1, 4, 127, /*damping=*/0};
  const std::vector<float> weights{1, 0.9f, 0.4f, 0.5f};
  EXPECT_EQ(pruneByMagnitude(weights, shape), (std::vector<float>{1, 0.9f, 0, 0}));
  // By hand: with w0 = 0, (H w)_1 = 1 * 1 + 0.9 * 1.01 = H_11 w1.
  std::vector<float> left = pruneSecondOrder(weights, moments, shape);
  EXPECT_EQ(left[0], 0);
  EXPECT_EQ(left[2], 0);
  EXPECT_NEAR(left[1], 1.909 / 1.01, 1e-5);
  EXPECT_NEAR(left[3], 0.905 / 1.01, 1e-5);
  EXPECT_EQ(pruneByMagnitude({1, 1, 1, 1}, shape), (std::vector<float>{1, 1, 0, 0}));
}

TEST(SecondOrder, SparseCodesKeepTheirPatternAndBeatMagnitudes) {
  std::mt19937 random(11);
  std::normal_distribution<float> bell;
  double chosen = 0, byMagnitude = 0, moved = 0;
  for (int round = 0; round != 20; ++round) {
    WeightRounding shape{16, 5, 16, 7};
    shape.keepsZeros = true;
    SecondMoments moments(shape.inputs);
    for (int row = 0; row != 64; ++row) {
      std::vector<float> x(shape.inputs);
      const float shared = bell(random);
      for (float &value : x)
        value = shared + 0.5f * bell(random);
      moments.add(x);
    }
    std::vector<float> weights(shape.inputs * shape.outputs);
    for (float &weight : weights)
      weight = bell(random);
    auto decoded = [&](llvm::ArrayRef<int8_t> codes) {
      return std::vector<float>(codes.begin(), codes.end());
    };
    std::vector<float> left = pruneSecondOrder(weights, moments, shape);
    std::vector<float> steps = stepsOf(left, shape);
    std::vector<int8_t> codes = roundSecondOrder(left, steps, moments, shape);
    EXPECT_LE(mostOfFour(left, shape), 2u);
    EXPECT_LE(mostOfFour(decoded(codes), shape), 2u);
    std::vector<float> larger = pruneByMagnitude(weights, shape);
    std::vector<float> plain = stepsOf(larger, shape);
    std::vector<int8_t> nearest = roundNearest(larger, plain, shape);
    chosen += squaredError(weights, codes, steps, moments, shape);
    byMagnitude += squaredError(weights, nearest, plain, moments, shape);
    descend(weights, codes, steps, moments, shape);
    EXPECT_LE(mostOfFour(decoded(codes), shape), 2u);
    moved += squaredError(weights, codes, steps, moments, shape);
    shape.keepsZeros = false; // else what was left out comes back
    descend(weights, codes, steps, moments, shape);
    EXPECT_GT(mostOfFour(decoded(codes), shape), 2u);
  }
  EXPECT_LT(chosen, 0.3 * byMagnitude);
  EXPECT_LT(moved, chosen);
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
