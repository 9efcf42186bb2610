// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Robust statistics against known answers, and a rule that cannot work beside ours.

#include "mp/Watch/Window.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mpcore::watch;

TEST(Window, MediansAreThoseOfTheLastValues) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  Window window(3);
  for (double value : {9, 1, 2, 3})
    window.add(value);
  EXPECT_EQ(window.median(), 2);
  EXPECT_EQ(window.recentMedian(2), 2.5);
  EXPECT_EQ(window.countAbove(1), 2u);
  EXPECT_EQ(window.countRecentAbove(0, 1), 1u);
}

TEST(Window, DeviationIsThatOfTheMiddleHalf) {
  Window window(5);
  for (double value : {1, 2, 3, 4, 1000})
    window.add(value);
  // Median 3, distances 2 1 0 1 997, of which 1 is the median.
  EXPECT_DOUBLE_EQ(window.robustZ(3 + 1.4826, 0), 1);
  EXPECT_DOUBLE_EQ(window.robustZ(5, 2), 1) << "the least deviation rules";
}

TEST(Window, ReturnsAsItWasFromJSON) {
  Window window(4), copy(4);
  for (double value : {1.5, 0.1, 7e-300})
    window.add(value);
  copy.fromJSON(*window.toJSON().getAsArray());
  EXPECT_EQ(window.list(), copy.list());
}

/// The distance of the newest of n values to their mean is at most sqrt(n - 1) population
/// deviations (Samuelson): with ten values a limit of three can never be passed.
TEST(Window, ARuleThatCountsTheValueItselfCanNeverFire) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  Window before(10);
  unsigned ours = 0;
  for (int step = 0; step < 2000; ++step) {
    const double value = std::fabs(normal(random)) * (step % 100 == 99 ? 1e6 : 1);
    if (before.full() && before.robustZ(value, 0) > 10)
      ++ours;
    std::vector<double> ten = before.list();
    if (ten.size() == 10)
      ten.erase(ten.begin());
    ten.push_back(value);
    double mean = 0, squares = 0;
    for (double x : ten)
      mean += x / double(ten.size());
    for (double x : ten)
      squares += (x - mean) * (x - mean) / double(ten.size());
    EXPECT_LE(std::fabs(value - mean), 3 * std::sqrt(squares) * (1 + 1e-12));
    before.add(value);
  }
  EXPECT_GE(ours, 20u) << "each planted value is seen";
}

TEST(Window, SlopesIgnoreOutliers) {
  std::vector<double> line;
  for (int i = 0; i < 64; ++i)
    line.push_back(5 + 0.25 * i + (i % 9 == 4 ? 1000 : 0));
  const Slope slope = theilSen(line, 2.576);
  EXPECT_NEAR(slope.value, 0.25, 1e-12);
  EXPECT_LE(slope.low, slope.value);
  EXPECT_GE(slope.high, slope.value);
  std::vector<double> flat(64, 3);
  EXPECT_EQ(theilSen(flat, 2.576).low, 0);
}

TEST(Window, SlopesOfNoiseHaveZeroInTheirInterval) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  unsigned misses = 0;
  for (int run = 0; run < 400; ++run) {
    std::vector<double> noise;
    for (int i = 0; i < 64; ++i)
      noise.push_back(normal(random));
    const Slope slope = theilSen(noise, 2.576);
    misses += slope.low > 0 || slope.high < 0;
  }
  // Binomial of 400 and 0.01: more than 12 has a chance of 1e-4.
  EXPECT_LE(misses, 12u);
}
