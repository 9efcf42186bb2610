// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/Scaling/UniformGrid.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <vector>

using namespace mpcore::numerics;

namespace {

SignedHistogram seenOf(llvm::ArrayRef<float> values) {
  SignedHistogram seen;
  seen.add(values);
  return seen;
}

TEST(UniformGrid, EndsAtTheLargestOfEachSign) {
  const float uneven[] = {-1, 0.5f, 3}, positive[] = {0, 2, 5.1f};
  UniformGrid grid = fitGrid(seenOf(uneven), 8, true, CalibrationMethod::AbsMax, 1);
  EXPECT_FLOAT_EQ(grid.step, 4.0f / 255);
  EXPECT_EQ(grid.zero, 64); // 63.75, and 0 has a code
  EXPECT_EQ(grid.round(0), 0);
  EXPECT_NEAR(grid.low(), -1, grid.step / 2);
  EXPECT_NEAR(grid.high(), 3, grid.step / 2);

  grid = fitGrid(seenOf(positive), 8, true, CalibrationMethod::AbsMax, 1);
  EXPECT_EQ(grid.zero, 0);
  EXPECT_FLOAT_EQ(grid.step, 5.1f / 255);
  EXPECT_EQ(grid.round(-1), 0);
  EXPECT_FLOAT_EQ(float(grid.round(100)), 5.1f);

  grid = fitGrid(seenOf(uneven), 8, false, CalibrationMethod::AbsMax, 1);
  EXPECT_EQ(grid.zero, 0);
  EXPECT_EQ(grid.lowest, -127);
  EXPECT_FLOAT_EQ(grid.step, 3.0f / 127);
}

TEST(UniformGrid, HoldsZeroWhereNothingElseWasSeen) {
  const float zeros[] = {0, 0};
  for (auto method : {CalibrationMethod::AbsMax, CalibrationMethod::Percentile,
                      CalibrationMethod::MSE, CalibrationMethod::Entropy})
    for (bool isUnsigned : {false, true}) {
      UniformGrid grid = fitGrid(seenOf(zeros), 8, isUnsigned, method, 0.99);
      EXPECT_EQ(grid.step, 1);
      EXPECT_EQ(grid.zero, 0);
    }
}

// A bell with an outlier is cut, as that costs less; an even spread is not.
TEST(UniformGrid, CutsWhereThatCostsLeast) {
  std::mt19937 random(3);
  std::normal_distribution<float> bell;
  std::uniform_real_distribution<float> even(-2, 6);
  std::vector<float> values(20000), spread(20000);
  for (float &value : values)
    value = bell(random);
  values[7] = 9; // below 0 the bell ends near -4
  for (float &value : spread)
    value = even(random);
  for (bool isUnsigned : {false, true}) {
    const SignedHistogram seen = seenOf(values), flat = seenOf(spread);
    UniformGrid widest = fitGrid(seen, 4, isUnsigned, CalibrationMethod::AbsMax, 1);
    UniformGrid best = fitGrid(seen, 4, isUnsigned, CalibrationMethod::MSE, 1);
    EXPECT_LT(best.high(), 5);
    auto costOf = [&](const UniformGrid &grid) {
      double cost = 0;
      for (float value : values)
        cost += (value - grid.round(value)) * (value - grid.round(value));
      return cost;
    };
    EXPECT_LT(costOf(best), 0.6 * costOf(widest));
    EXPECT_NEAR(seen.squaredError(best), costOf(best), 0.02 * costOf(best));
    UniformGrid all = fitGrid(flat, 8, isUnsigned, CalibrationMethod::MSE, 1);
    EXPECT_NEAR(all.high(), 6, 0.1);
  }
}

// Values above 0 have twice as many codes without a sign: a quarter of the squared error.
TEST(UniformGrid, SpendsNoCodesOnASignThatNeverCame) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> even(0, 1);
  std::vector<float> values(50000);
  for (float &value : values)
    value = even(random);
  const SignedHistogram seen = seenOf(values);
  double with = seen.squaredError(fitGrid(seen, 6, false, CalibrationMethod::AbsMax, 1)),
         without = seen.squaredError(fitGrid(seen, 6, true, CalibrationMethod::AbsMax, 1));
  EXPECT_NEAR(without / with, 0.25, 0.03);
}

} // namespace
