// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More than two types: the known answers M1 to M5, brute force on random graphs, bounds and moves.

#include "Graphs.h"

#include "gtest/gtest.h"

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

/// Products on f32 data: f32 20, tf32 8 (no cast), bf16 5, fp8 3 (stores bf16).
struct Products {
  Problem problem;
  TypeId f32 = problem.addType("f32"), bf16 = problem.addType("bf16"), f8 = problem.addType("fp8");
  int64_t cast;
  bool withFp8 = true;

  explicit Products(int64_t cast) : cast(cast) {}

  ValueId value(llvm::StringRef name) {
    llvm::SmallVector<CastCost> casts;
    for (TypeId s : {f32, bf16, f8})
      for (TypeId t : {f32, bf16, f8})
        if (s != t)
          casts.push_back({s, t, cast});
    return problem.addValue(name, casts);
  }
  ValueId input() {
    ValueId r = value("in");
    problem.addNode({"in", {{"f32", {}, {f32}, 0}}, {}, {r}});
    return r;
  }
  void output(ValueId v) { problem.addNode({"out", {{"f32", {f32}, {}, 0}}, {v}, {}}); }
  ValueId wide(ValueId v, int64_t cost) {
    ValueId r = value("f32");
    problem.addNode({"f32", {{"f32", {f32}, {f32}, cost}}, {v}, {r}});
    return r;
  }
  ValueId mm(llvm::ArrayRef<ValueId> operands) {
    ValueId r = value("mm");
    Node node;
    node.name = "mm";
    node.operands.assign(operands.begin(), operands.end());
    node.results = {r};
    auto add = [&](llvm::StringRef name, TypeId in, TypeId out, int64_t cost) {
      Variant v;
      v.name = name.str();
      v.in.assign(operands.size(), in);
      v.out = {out};
      v.cost = cost;
      node.variants.push_back(v);
    };
    add("f32", f32, f32, 20);
    add("tf32", f32, f32, 8);
    add("bf16", bf16, bf16, 5);
    if (withFp8)
      add("fp8", f8, bf16, 3);
    problem.addNode(node);
    return r;
  }

  std::pair<int64_t, std::string> answer(SolveOptions options = {}) {
    options.countCasts = false;
    Solution s = llvm::cantFail(solve(problem, options));
    EXPECT_TRUE(s.provenOptimal);
    std::string names;
    for (size_t n = 0; n < problem.nodes.size(); ++n)
      if (problem.nodes[n].name != "in" && problem.nodes[n].name != "out")
        names += problem.nodes[n].variants[s.labels[n]].name + " ";
    return {s.score.cost, names};
  }
};

std::pair<int64_t, std::string> chainOf(int length, int64_t cast, bool withFp8 = true) {
  Products p(cast);
  p.withFp8 = withFp8;
  ValueId v = p.input();
  for (int i = 0; i < length; ++i)
    v = p.mm({v});
  p.output(v);
  return p.answer();
}

TEST(ManyTypes, M1OneProduct) {
  EXPECT_EQ(chainOf(1, 2), (std::pair<int64_t, std::string>(7, "fp8 ")));
  EXPECT_EQ(chainOf(1, 2, false), (std::pair<int64_t, std::string>(8, "tf32 ")));
}

TEST(ManyTypes, M2ToM4Chains) {
  EXPECT_EQ(chainOf(2, 2), (std::pair<int64_t, std::string>(12, "fp8 bf16 ")));
  EXPECT_EQ(chainOf(3, 2), (std::pair<int64_t, std::string>(17, "fp8 bf16 bf16 ")));
  EXPECT_EQ(chainOf(3, 1), (std::pair<int64_t, std::string>(13, "fp8 fp8 fp8 ")));
}

TEST(ManyTypes, M5Attention) {
  Products p(2);
  ValueId x = p.input();
  ValueId q = p.mm({x}), k = p.mm({x}), v = p.mm({x});
  ValueId s = p.wide(p.mm({q, k}), 4);
  p.output(p.mm({s, v}));
  EXPECT_EQ(p.answer(), (std::pair<int64_t, std::string>(31, "fp8 fp8 fp8 bf16 f32 bf16 ")));
}

TEST(ManyTypes, P2FrontierEqualsBruteForce) {
  std::mt19937 random(4);
  int frontier = 0;
  for (int i = 0; i < 600 || frontier < 400; ++i) {
    Problem problem = randomManyTypes(random, 6);
    ASSERT_EQ(llvm::toString(problem.validate()), "");
    Solution s = llvm::cantFail(solve(problem));
    frontier += s.method == Method::Frontier;
    ASSERT_TRUE(s.provenOptimal);
    std::pair<int64_t, int64_t> best = {INT64_MAX, 0};
    forEachAssignment(problem, [&](const Labels &labels) {
      int64_t casts;
      int64_t cost = plainCost(problem, labels, &casts);
      best = std::min(best, {cost, casts});
    });
    ASSERT_EQ(std::pair(s.score.cost, s.score.casts), best) << "graph " << i;
    ASSERT_EQ(plainCost(problem, s.labels), best.first);
  }
}

TEST(ManyTypes, P3SameAnswerInAnyOrder) {
  std::mt19937 random(5);
  for (SolveOptions options : {SolveOptions{}, SolveOptions{.stateCap = 0}})
    for (int i = 0; i < 150; ++i) {
      Problem problem = randomManyTypes(random, options.stateCap ? 25 : 15);
      Solution s = llvm::cantFail(solve(problem, options));
      std::vector<NodeId> nodeAt;
      Problem other = shuffled(problem, random, nodeAt);
      Solution same = llvm::cantFail(solve(other, options));
      ASSERT_EQ(s.lowerBound, same.lowerBound);
      ASSERT_EQ(s.method, same.method);
      for (size_t n = 0; n < nodeAt.size(); ++n)
        ASSERT_EQ(s.labels[n], same.labels[nodeAt[n]]) << "graph " << i << " node " << n;
    }
}

/// Without the frontier search: never below the optimum, never above it claimed as a bound.
TEST(ManyTypes, ExpansionAndBoundEncloseTheOptimum) {
  std::mt19937 random(6);
  int proven = 0, optimal = 0, total = 0;
  for (int i = 0; i < 400; ++i) {
    Problem problem = randomManyTypes(random, 14);
    Solution exact = llvm::cantFail(solve(problem));
    Solution s = llvm::cantFail(solve(problem, {.stateCap = 0, .certify = true}));
    ASSERT_TRUE(exact.provenOptimal);
    ASSERT_LE(s.lowerBound, exact.score.cost) << "graph " << i;
    ASSERT_GE(s.score.cost, exact.score.cost) << "graph " << i;
    ASSERT_EQ(plainCost(problem, s.labels), s.score.cost);
    if (s.provenOptimal) {
      ASSERT_EQ(s.score.cost, exact.score.cost);
    }
    ASSERT_TRUE(s.certificate);
    ASSERT_EQ(certifiedLowerBound(problem, *s.certificate), s.lowerBound) << "graph " << i;
    if (s.method == Method::Expansion) {
      ++total;
      proven += s.provenOptimal;
      optimal += s.score.cost == exact.score.cost;
    }
  }
  RecordProperty("expansion", total);
  RecordProperty("optimal", optimal);
  RecordProperty("proven", proven);
  EXPECT_GT(total, 200);
  EXPECT_GT(optimal * 10, total * 8);
  EXPECT_GT(proven * 10, total * 6);
}

/// Transformer blocks with five variants per product and storage choices.
TEST(ManyTypes, TransformersKeepTheFrontierSmall) {
  Products p(3);
  ValueId x = p.input();
  for (int layer = 0; layer < 24; ++layer) {
    ValueId norm = p.wide(x, 4);
    ValueId q = p.mm({norm}), k = p.mm({norm}), v = p.mm({norm});
    ValueId s = p.wide(p.mm({q, k}), 4);
    ValueId attention = p.mm({p.mm({s, v})});
    ValueId sum = p.value("sum");
    p.problem.addNode(
        {"add",
         {{"f32", {anyType, anyType}, {p.f32}, 6}, {"bf16", {anyType, anyType}, {p.bf16}, 4}},
         {attention, x},
         {sum}});
    x = p.mm({p.mm({p.wide(sum, 4)})});
  }
  p.output(x);
  Solution s = llvm::cantFail(solve(p.problem));
  EXPECT_EQ(s.method, Method::Frontier);
  EXPECT_TRUE(s.provenOptimal);
  Solution moves = llvm::cantFail(solve(p.problem, {.stateCap = 0}));
  EXPECT_GE(moves.score.cost, s.score.cost);
  EXPECT_LE(moves.lowerBound, s.score.cost);
}

/// An exact cut is proved by its flow, with the checker that shares no code with it.
TEST(Certificates, FlowProvesTheCut) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    TwoTypes g;
    std::uniform_int_distribution<int> cost(0, 12), small(0, 6), count(0, 3);
    int n = 2 + i % 30;
    for (int k = 0; k < n; ++k) {
      llvm::SmallVector<ValueId, 3> operands;
      for (int o = std::min<int>(count(random), g.problem.values.size()); o > 0; --o)
        operands.push_back(random() % g.problem.values.size());
      ValueId r = g.value("v", small(random), small(random));
      g.node("n", operands, {r}, cost(random), cost(random));
      if (cost(random) == 0)
        g.problem.nodes.back().pinned = random() % 2;
    }
    Solution s = llvm::cantFail(solve(g.problem, {.certify = true}));
    ASSERT_EQ(s.method, Method::MinCut);
    ASSERT_TRUE(s.certificate);
    ASSERT_EQ(dualBound(g.problem, s.certificate->objective, s.certificate->multipliers),
              s.certificate->bound);
    ASSERT_EQ(certifiedLowerBound(g.problem, *s.certificate), s.score.cost) << "graph " << i;
    // A forged certificate proves nothing more than it can.
    Certificate forged = *s.certificate;
    for (Multiplier &m : forged.multipliers)
      m.amount += Weight(random() % 1000) * forged.objective.cost;
    ASSERT_LE(certifiedLowerBound(g.problem, forged), s.score.cost);
  }
}

} // namespace
