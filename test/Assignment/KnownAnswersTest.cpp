// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-checked instances T1 to T15: cost, labels and number of run-time casts.

#include "Graphs.h"

#include "gtest/gtest.h"

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

/// High unless said otherwise; equal costs are not separated by casts, as in the hand calculation.
Solution answer(const Problem &problem, Preference prefer = Preference::High) {
  SolveOptions options;
  options.prefer = prefer;
  options.countCasts = false;
  llvm::Expected<Solution> solution = solve(problem, options);
  if (!solution) {
    ADD_FAILURE() << llvm::toString(solution.takeError());
    return {};
  }
  EXPECT_TRUE(solution->provenOptimal);
  EXPECT_EQ(solution->lowerBound, solution->score.cost);
  return *solution;
}

/// in(H) - mm - out(H), cast 3.
Problem chain(int64_t low, int64_t high, int64_t castHL = 3, int64_t castLH = 3) {
  TwoTypes g;
  ValueId x = g.value("x", castHL, castLH), y = g.value("y", castHL, castLH);
  g.pinnedHigh("in", {}, {x});
  g.node("mm", {x}, {y}, low, high);
  g.pinnedHigh("out", {y}, {});
  return g.problem;
}

TEST(KnownAnswers, T1CastsCostMoreThanTheyGain) {
  Solution s = answer(chain(10, 14));
  EXPECT_EQ(s.score.cost, 14);
  EXPECT_EQ(s.labels[1], 0u);
  EXPECT_EQ(s.score.casts, 0);
}

TEST(KnownAnswers, T2GainPaysForCasts) {
  Solution s = answer(chain(10, 17));
  EXPECT_EQ(s.score.cost, 16);
  EXPECT_EQ(s.labels[1], 1u);
  EXPECT_EQ(s.score.casts, 2);
}

TEST(KnownAnswers, T2TieFollowsThePreference) {
  Solution low = answer(chain(10, 16), Preference::Low), high = answer(chain(10, 16));
  EXPECT_EQ(low.score.cost, 16);
  EXPECT_EQ(low.labels[1], 1u);
  EXPECT_EQ(high.score.cost, 16);
  EXPECT_EQ(high.labels[1], 0u);
  // Counting casts leaves no tie.
  SolveOptions options;
  options.prefer = Preference::Low;
  EXPECT_EQ(llvm::cantFail(solve(chain(10, 16), options)).labels[1], 0u);
}

Problem between(int64_t low, int64_t high) {
  TwoTypes g;
  ValueId x = g.value("x", 2), y = g.value("y", 2);
  g.pinnedLow("mm1", {}, {x}, 10);
  g.node("mid", {x}, {y}, low, high);
  g.pinnedLow("mm2", {y}, {}, 10);
  return g.problem;
}

TEST(KnownAnswers, T3FollowsItsNeighbours) {
  Solution s = answer(between(5, 4));
  EXPECT_EQ(s.score.cost, 25);
  EXPECT_EQ(s.labels[1], 1u);
  EXPECT_EQ(s.score.casts, 0);
}

TEST(KnownAnswers, T4DoesNotFollowWhenDear) {
  Solution s = answer(between(12, 4));
  EXPECT_EQ(s.score.cost, 28);
  EXPECT_EQ(s.labels[1], 0u);
  EXPECT_EQ(s.score.casts, 2);
}

TEST(KnownAnswers, T5OneSharedCast) {
  TwoTypes g;
  ValueId v = g.value("v", 6);
  g.pinnedHigh("v", {}, {v});
  for (int i = 0; i < 3; ++i)
    g.node("user", {v}, {}, 7, 10);
  Solution s = answer(g.problem);
  EXPECT_EQ(s.score.cost, 27);
  EXPECT_EQ(s.labels, (Labels{0, 1, 1, 1}));
  EXPECT_EQ(s.score.casts, 1);
  EXPECT_EQ(s.copies, (std::vector<Copy>{{v, g.h, g.l}}));
}

TEST(KnownAnswers, T6CastSharedByTwoBesideAWideReader) {
  TwoTypes g;
  ValueId v = g.value("v", 6);
  g.pinnedHigh("v", {}, {v});
  g.node("a", {v}, {}, 6, 10);
  g.node("b", {v}, {}, 6, 10);
  g.pinnedHigh("c", {v}, {}, 5);
  Solution s = answer(g.problem);
  EXPECT_EQ(s.score.cost, 23);
  EXPECT_EQ(s.labels, (Labels{0, 1, 1, 0}));
  EXPECT_EQ(s.score.casts, 1);
}

TEST(KnownAnswers, T7CastsAreDirected) {
  Solution a = answer(chain(1, 10, 1, 9)), b = answer(chain(1, 10, 1, 7));
  EXPECT_EQ(a.score.cost, 10);
  EXPECT_EQ(a.labels[1], 0u);
  EXPECT_EQ(b.score.cost, 9);
  EXPECT_EQ(b.labels[1], 1u);
}

TEST(KnownAnswers, T8ConstantsCastForFree) {
  for (bool constant : {true, false}) {
    TwoTypes g;
    ValueId x = g.value("act", 4), w = g.value("weight", 4);
    g.problem.values[w].constant = constant;
    g.pinnedHigh("act", {}, {x});
    g.pinnedHigh("weight", {}, {w});
    g.node("mm", {x, w}, {}, 15, 20);
    Solution s = answer(g.problem);
    EXPECT_EQ(s.score.cost, constant ? 19 : 20);
    EXPECT_EQ(s.labels[2], constant ? 1u : 0u);
    EXPECT_EQ(s.score.casts, constant ? 1 : 0);
    EXPECT_EQ(s.copies.size(), constant ? 2u : 0u); // the folded one is listed, not counted
  }
}

TEST(KnownAnswers, T10TiedNodesDecideTogether) {
  for (bool tie : {true, false}) {
    TwoTypes g;
    NodeId q = g.node("q", {}, {}, 5, 10), k = g.node("k", {}, {}, 5, 10),
           v = g.node("v", {}, {}, 22, 10);
    if (tie)
      g.problem.ties.push_back({q, k, v});
    Solution s = answer(g.problem);
    EXPECT_EQ(s.score.cost, tie ? 30 : 20);
    EXPECT_EQ(s.labels, tie ? (Labels{0, 0, 0}) : (Labels{1, 1, 0}));
  }
}

TEST(KnownAnswers, T11CastsOfInvariantsLeaveTheLoop) {
  TwoTypes g;
  ValueId x = g.value("x", 6);
  g.pinnedHigh("x", {}, {x});
  NodeId mm = g.node("mm", {x}, {}, 2, 3);
  g.problem.nodes[mm].frequency = 10;
  Solution s = answer(g.problem);
  EXPECT_EQ(s.score.cost, 26);
  EXPECT_EQ(s.score.casts, 1);
}

TEST(KnownAnswers, T14WideAndNarrowReader) {
  TwoTypes g;
  ValueId v = g.value("v", 2);
  g.node("v", {}, {v}, 3, 9);
  g.pinnedHigh("h", {v}, {}, 2);
  g.pinnedLow("l", {v}, {}, 3);
  Solution s = answer(g.problem);
  EXPECT_EQ(s.score.cost, 10);
  EXPECT_EQ(s.labels[0], 1u);
  EXPECT_EQ(s.score.casts, 1);
}

TEST(KnownAnswers, T15ViewsFollow) {
  TwoTypes g;
  ValueId x = g.value("x", 2), y = g.value("y", 2);
  g.pinnedLow("mm1", {}, {x}, 10);
  g.node("reshape", {x}, {y}, 0, 0);
  g.pinnedLow("mm2", {y}, {}, 10);
  Solution s = answer(g.problem);
  EXPECT_EQ(s.score.cost, 20);
  EXPECT_EQ(s.score.casts, 0);
}

} // namespace
