// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error rates of the paired comparison by simulation, and its limits against published ones.

#include "mp/Watch/PairedTest.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <vector>

using namespace mpcore::watch;

namespace {
/// Runs one comparison, looked at after every pair, until a verdict or 50 pairs; returns the
/// verdict and the pairs it took.
template <typename Draw>
std::pair<Verdict, size_t> peek(Draw draw, PairedOptions options = {}, size_t most = 50) {
  std::vector<double> a, b;
  for (size_t n = 1; n <= most; ++n) {
    auto [x, y] = draw();
    a.push_back(x);
    b.push_back(y);
    if (n < 2)
      continue;
    const Verdict verdict = comparePairs(a, b, options).verdict;
    if (verdict != Verdict::Undecided)
      return {verdict, n};
  }
  return {Verdict::Undecided, most};
}

bool isDifferent(Verdict verdict) {
  return verdict == Verdict::ABetter || verdict == Verdict::BBetter;
}
} // namespace

TEST(PairedTest, EqualRecipesAreSeldomCalledDifferentHoweverOftenOneLooks) {
  std::mt19937 random(3);
  std::normal_distribution<double> seed(0, 1), chaos(0, 0.6);
  unsigned wrong = 0;
  for (int run = 0; run < 1000; ++run) {
    auto draw = [&] {
      const double shared = 2 + 0.1 * seed(random);
      return std::pair(shared + 0.1 * chaos(random), shared + 0.1 * chaos(random));
    };
    wrong += isDifferent(peek(draw).first);
  }
  EXPECT_LE(wrong, 50u) << "of 1000";
  EXPECT_GE(wrong, 5u) << "a test that never fires has no power";
}

TEST(PairedTest, HeavyTailsDoNotBreakIt) {
  std::mt19937 random(4);
  std::student_t_distribution<double> heavy(3);
  unsigned wrong = 0;
  for (int run = 0; run < 1000; ++run)
    wrong += isDifferent(peek([&] { return std::pair(0.0, heavy(random)); }).first);
  EXPECT_LE(wrong, 50u) << "of 1000";
}

TEST(PairedTest, ADifferenceOfOneDeviationIsFound) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(1, 1);
  unsigned found = 0;
  for (int run = 0; run < 500; ++run) {
    auto [verdict, pairs] = peek([&] { return std::pair(0.0, normal(random)); });
    found += verdict == Verdict::ABetter && pairs <= 25;
  }
  EXPECT_GE(found, 400u) << "of 500 within 25 pairs";
}

/// The t that a mean needs at n pairs, found by making pairs that have it exactly.
static double neededT(size_t n) {
  double low = 0, high = 1000;
  for (int round = 0; round < 60; ++round) {
    const double t = (low + high) / 2;
    std::vector<double> a(n, 0), b(n);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; ++i)
      sum += b[i] = double(i);
    for (double &x : b)
      x -= sum / double(n);
    for (double x : b)
      squares += x * x;
    const double deviation = std::sqrt(squares / double(n - 1));
    for (double &x : b)
      x = x / deviation + t / std::sqrt(double(n));
    (isDifferent(comparePairs(a, b).verdict) ? high : low) = t;
  }
  return high;
}

/// With x = t^2 / (t^2 + n - 1) the martingale is sqrt(1 / (n + 1)) (1 - x n / (n + 1))^(-n/2),
/// which is 20 at these values of t.
TEST(PairedTest, NeedsTheValuesOfTThatTheFormulaGives) {
  EXPECT_NEAR(neededT(5), 8.453, 0.002);
  EXPECT_NEAR(neededT(6), 5.45, 0.002);
  EXPECT_NEAR(neededT(8), 4.251, 0.002);
  EXPECT_NEAR(neededT(10), 3.87, 0.002);
  EXPECT_NEAR(neededT(20), 3.425, 0.002);
}

TEST(PairedTest, TheIntervalIsWhatTheTestDoesNotReject) {
  const std::vector<double> a(8, 0), b = {1, 2, 1.5, 0.5, 1.2, 1.8, 0.9, 1.4};
  const PairedResult result = comparePairs(a, b);
  for (double edge : {result.low, result.high}) {
    const std::vector<double> inside(8, edge + (edge == result.low ? 1e-6 : -1e-6)),
        outside(8, edge - (edge == result.low ? 1e-6 : -1e-6));
    EXPECT_LT(comparePairs(inside, b).evidence, 20);
    EXPECT_GT(comparePairs(outside, b).evidence, 20);
  }
}

TEST(PairedTest, EqualBitsAreIdenticalAndNotAStatistic) {
  const std::vector<double> a = {1, 2, NAN};
  EXPECT_EQ(comparePairs(a, a).verdict, Verdict::Identical);
}

TEST(PairedTest, EquivalenceNeedsAMarginThatWasStated) {
  std::mt19937 random(6);
  std::normal_distribution<double> normal(0, 1);
  std::vector<size_t> pairs;
  for (int run = 0; run < 200; ++run) {
    auto draw = [&] { return std::pair(0.0, normal(random)); };
    EXPECT_NE(peek(draw).first, Verdict::Equivalent) << "a margin of zero";
    PairedOptions options;
    options.margin = 2;
    auto [verdict, n] = peek(draw, options);
    if (verdict == Verdict::Equivalent)
      pairs.push_back(n);
  }
  EXPECT_GE(pairs.size(), 180u) << "of 200";
}

TEST(PairedTest, ARunWithoutANumberIsWorseThanAny) {
  const std::vector<double> a(12, 1), b(12, NAN);
  const PairedResult result = comparePairs(a, b);
  EXPECT_EQ(result.dropped, 12u);
  EXPECT_EQ(result.verdict, Verdict::ABetter);
  EXPECT_EQ(comparePairs(b, a).verdict, Verdict::BBetter);
  EXPECT_EQ(comparePairs({1, 1}, {NAN, NAN}).verdict, Verdict::Undecided) << "two are too few";
}

TEST(PairedTest, SignsAloneNeedSeven) {
  for (size_t n : {6, 7, 8}) {
    const std::vector<double> a(n, 0), b(n, 1);
    EXPECT_EQ(comparePairs(a, b).signEvidence >= 20, n >= 7) << n;
  }
}
