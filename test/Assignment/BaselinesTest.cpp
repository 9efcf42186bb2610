// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The painting baselines, by hand and against the optimum.

#include "Graphs.h"

#include "mp/Assignment/Baselines.h"

#include "gtest/gtest.h"

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

using enum Paint;

/// in(H) - mm(10,14) - out(H), cast 3: T1, where painting loses.
TEST(Baselines, PaintingPaysForCastsThatDoNotPay) {
  TwoTypes g;
  ValueId x = g.value("x", 3), y = g.value("y", 3);
  g.pinnedHigh("in", {}, {x});
  g.node("mm", {x}, {y}, 10, 14);
  g.pinnedHigh("out", {y}, {});
  Paint paints[] = {Deny, Allow, Deny};
  EXPECT_EQ(evaluate(g.problem, paintLikeGrappler(g.problem, paints)).cost, 16);
  EXPECT_EQ(evaluatePerUse(g.problem, paintLikeTVM(g.problem, paints)).cost, 16);
  EXPECT_EQ(evaluate(g.problem, paintLikeXLA(g.problem, paints)).cost, 14);
  EXPECT_EQ(llvm::cantFail(solve(g.problem)).score.cost, 14);
}

/// mm1(L) - gelu(12,4) - mm2(L), cast 2: T4, where following loses.
TEST(Baselines, PaintingFollowsIntoADearNode) {
  TwoTypes g;
  ValueId x = g.value("x", 2), y = g.value("y", 2);
  g.pinnedLow("mm1", {}, {x}, 10);
  g.node("gelu", {x}, {y}, 12, 4);
  g.pinnedLow("mm2", {y}, {}, 10);
  Paint paints[] = {Allow, Infer, Allow};
  EXPECT_EQ(evaluate(g.problem, paintLikeGrappler(g.problem, paints)).cost, 32);
  EXPECT_EQ(evaluatePerUse(g.problem, paintLikeTVM(g.problem, paints)).cost, 32);
  EXPECT_EQ(llvm::cantFail(solve(g.problem)).score.cost, 28);
}

/// A value read narrow three times: one cast for Grappler, three for TVM.
TEST(Baselines, TVMCastsAtEveryUse) {
  TwoTypes g;
  ValueId v = g.value("v", 6);
  g.pinnedHigh("v", {}, {v});
  for (int i = 0; i < 3; ++i)
    g.node("user", {v}, {}, 7, 10);
  Paint paints[] = {Deny, Allow, Allow, Allow};
  Labels labels = paintLikeTVM(g.problem, paints);
  EXPECT_EQ(labels, paintLikeGrappler(g.problem, paints));
  EXPECT_EQ(evaluate(g.problem, labels).cost, 27);
  EXPECT_EQ(evaluatePerUse(g.problem, labels).cost, 39);
  EXPECT_EQ(evaluatePerUse(g.problem, labels).casts, 3);
}

/// deny - infer - deny stays wide in Grappler; allow - clear - infer - end turns narrow up to
/// clear.
TEST(Baselines, GrapplerSpreads) {
  TwoTypes g;
  ValueId a = g.value("a", 1), b = g.value("b", 1), c = g.value("c", 1), d = g.value("d", 1);
  g.node("deny", {}, {a}, 1, 1);
  g.node("infer", {a}, {b}, 1, 1);
  g.node("deny", {b}, {}, 1, 1);
  g.node("allow", {a}, {c}, 1, 1);
  g.node("clear", {c}, {d}, 1, 1);
  g.node("infer", {d}, {}, 1, 1);
  Paint paints[] = {Deny, Infer, Deny, Allow, Clear, Infer};
  EXPECT_EQ(paintLikeGrappler(g.problem, paints), (Labels{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(paintLikeTVM(g.problem, paints), (Labels{0, 0, 0, 1, 1, 1}));
}

TEST(Baselines, NeverBeatTheOptimum) {
  std::mt19937 random(11);
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  int better = 0;
  for (int i = 0; i < 300; ++i) {
    TwoTypes g;
    std::vector<Paint> paints;
    for (int n = pick(2, 40); n > 0; --n) {
      llvm::SmallVector<ValueId, 3> operands;
      for (int k = std::min<int>(pick(0, 2), g.problem.values.size()); k > 0; --k)
        operands.push_back(pick(0, g.problem.values.size() - 1));
      ValueId r = g.value("v", pick(1, 5));
      paints.push_back(Paint(pick(0, 3)));
      if (paints.back() == Deny)
        g.pinnedHigh("deny", operands, {r}, 5);
      else
        g.node("n", operands, {r}, pick(0, 6), paints.back() == Allow ? pick(6, 20) : pick(0, 8));
    }
    int64_t optimum = llvm::cantFail(solve(g.problem)).score.cost;
    Labels grappler = paintLikeGrappler(g.problem, paints);
    Labels tvm = paintLikeTVM(g.problem, paints), xla = paintLikeXLA(g.problem, paints);
    for (const Labels &labels : {grappler, tvm, xla})
      ASSERT_EQ(llvm::toString(checkFeasible(g.problem, labels)), "");
    ASSERT_LE(optimum, evaluate(g.problem, grappler).cost);
    ASSERT_LE(optimum, evaluate(g.problem, xla).cost);
    ASSERT_LE(evaluate(g.problem, tvm).cost, evaluatePerUse(g.problem, tvm).cost);
    ASSERT_LE(optimum, evaluate(g.problem, tvm).cost);
    EXPECT_EQ(evaluate(g.problem, xla).casts, 0);
    better += optimum < evaluate(g.problem, grappler).cost;
  }
  EXPECT_GT(better, 100);
}

} // namespace
