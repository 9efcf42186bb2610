// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Budgets: the hull, the closing search, and what is said when a budget cannot be met.

#include "Graphs.h"

#include "mp/Assignment/Solve.h"

#include "gtest/gtest.h"

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

/// A graph of two types whose narrow variants err.
Problem randomWithErrors(std::mt19937 &random, int maxNodes) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  TwoTypes g;
  int n = pick(1, maxNodes);
  for (int i = 0; i < n; ++i) {
    llvm::SmallVector<ValueId, 3> operands;
    for (int k = pick(0, std::min<int>(2, g.problem.values.size())); k > 0; --k)
      operands.push_back(pick(0, g.problem.values.size() - 1));
    ValueId result = g.value("v", pick(0, 4), pick(0, 4));
    NodeId id = g.node("n" + std::to_string(i), operands, {result}, pick(0, 8), pick(4, 14));
    g.problem.nodes[id].variants[1].error = pick(0, 9);
  }
  return g.problem;
}

TEST(Budget, T13ClosesTheGapOfTheHull) {
  TwoTypes g;
  int64_t gains[] = {10, 6, 5}, errors[] = {5, 3, 3};
  for (int i = 0; i < 3; ++i) {
    NodeId n = g.node("op", {}, {}, 0, gains[i]);
    g.problem.nodes[n].variants[1].error = errors[i];
  }
  g.problem.errorBudget = 6;
  Solution s = llvm::cantFail(solve(g.problem));
  EXPECT_EQ(21 - s.score.cost, 11);
  EXPECT_EQ(s.labels, (Labels{0, 1, 1}));
  EXPECT_TRUE(s.provenOptimal);
  // The same by branch and bound alone.
  s = llvm::cantFail(solve(g.problem, {.stateCap = 0}));
  EXPECT_EQ(21 - s.score.cost, 11);
  EXPECT_TRUE(s.provenOptimal);
  EXPECT_EQ(s.method, Method::MinCut);
}

TEST(Budget, BothSearchesEqualBruteForce) {
  std::mt19937 random(8);
  for (int i = 0; i < 400; ++i) {
    Problem problem = randomWithErrors(random, 9);
    int64_t budget = random() % 25;
    for (bool costIsLimited : {false, true}) {
      problem.errorBudget.reset();
      problem.costBudget.reset();
      (costIsLimited ? problem.costBudget : problem.errorBudget) = budget + costIsLimited * 15;
      std::optional<int64_t> best;
      forEachAssignment(problem, [&](const Labels &labels) {
        if (llvm::errorToBool(checkFeasible(problem, labels)))
          return;
        int64_t error = 0;
        for (size_t n = 0; n < labels.size(); ++n)
          error += problem.nodes[n].variants[labels[n]].error;
        int64_t score = costIsLimited ? error : plainCost(problem, labels);
        best = std::min(best.value_or(score), score);
      });
      for (unsigned cap : {200000u, 0u}) {
        llvm::Expected<Solution> s = solve(problem, {.stateCap = cap, .certify = true});
        if (!best) {
          ASSERT_FALSE(bool(s));
          llvm::consumeError(s.takeError());
          continue;
        }
        ASSERT_TRUE(bool(s)) << llvm::toString(s.takeError());
        ASSERT_EQ(llvm::toString(checkFeasible(problem, s->labels)), "");
        ASSERT_TRUE(s->provenOptimal) << "graph " << i;
        ASSERT_EQ(costIsLimited ? s->score.error : s->score.cost, *best) << "graph " << i;
        ASSERT_LE(certifiedLowerBound(problem, *s->certificate), *best) << "graph " << i;
      }
    }
  }
}

TEST(Budget, UnreachableBudgetNamesTheLeast) {
  TwoTypes g;
  NodeId n = g.node("op", {}, {}, 1, 5);
  g.problem.nodes[n].variants[0].error = 3;
  g.problem.nodes[n].variants[1].error = 7;
  g.problem.errorBudget = 2;
  llvm::Expected<Solution> s = solve(g.problem);
  ASSERT_FALSE(bool(s));
  EXPECT_EQ(llvm::toString(s.takeError()), "no assignment has error at most 2; the least is 3");
  g.problem.errorBudget.reset();
  g.problem.costBudget = 0;
  s = solve(g.problem);
  ASSERT_FALSE(bool(s));
  EXPECT_EQ(llvm::toString(s.takeError()), "no assignment has cost at most 0; the least is 1");
}

/// Without effort for closing, the answer stays within budget and the bound stays true.
TEST(Budget, GapIsHonest) {
  std::mt19937 random(9);
  for (int i = 0; i < 100; ++i) {
    Problem problem = randomWithErrors(random, 20);
    problem.errorBudget = random() % 30;
    Solution exact = llvm::cantFail(solve(problem));
    Solution rough = llvm::cantFail(solve(problem, {.stateCap = 0, .searchCap = 0}));
    ASSERT_TRUE(exact.provenOptimal);
    ASSERT_EQ(llvm::toString(checkFeasible(problem, rough.labels)), "");
    ASSERT_LE(rough.lowerBound, exact.score.cost);
    ASSERT_GE(rough.score.cost, exact.score.cost);
    ASSERT_EQ(rough.provenOptimal, rough.lowerBound == rough.score.cost);
  }
}

} // namespace
