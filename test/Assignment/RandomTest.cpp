// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random graphs against brute force, and answers under reordering.

#include "Graphs.h"

#include "mp/Assignment/Bound.h"

#include "gtest/gtest.h"

#include <chrono>

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

/// A random graph of two types: pins, ties, shared and directed casts, constants, loops, readers
/// that take any type, and contractions that choose operand and result type apart.
Problem randomTwoLabel(std::mt19937 &random, int maxNodes) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  TwoTypes g;
  int n = pick(1, maxNodes);
  for (int i = 0; i < n; ++i) {
    llvm::SmallVector<ValueId, 3> operands;
    for (int k = pick(0, std::min<int>(3, g.problem.values.size())); k > 0; --k)
      operands.push_back(pick(0, g.problem.values.size() - 1));
    ValueId result = g.value("v" + std::to_string(i), pick(0, 6), pick(0, 6));
    g.problem.values[result].constant = pick(0, 9) == 0;
    std::string name = "n" + std::to_string(i);
    NodeId id = g.node(name, operands, {result}, pick(0, 12), pick(0, 12));
    Node &node = g.problem.nodes[id];
    node.frequency = pick(0, 4) == 0 ? 3 : 1;
    if (int kind = pick(0, 7); kind == 0) {
      node.pinned = pick(0, 1);
    } else if (kind == 1) { // narrow operands, wide result in between
      Variant mixed = node.variants[1];
      mixed.out[0] = g.h;
      mixed.cost = pick(0, 12);
      node.variants.insert(node.variants.begin() + 1, mixed);
    } else if (kind == 2) { // only storage is chosen
      for (Variant &v : node.variants)
        llvm::fill(v.in, anyType);
    } else if (kind == 3) { // two ways to do the same
      node.variants.push_back(node.variants.back());
      node.variants.back().cost = pick(0, 12);
    }
  }
  if (n >= 3 && pick(0, 2) == 0) {
    NodeId a = pick(0, n - 1), b = pick(0, n - 1);
    auto &nodes = g.problem.nodes;
    if (a != b && nodes[a].variants.size() == 2 && nodes[b].variants.size() == 2 &&
        !nodes[a].pinned && !nodes[b].pinned)
      g.problem.ties.push_back({a, b});
  }
  return g.problem;
}

/// P1: the cut finds the optimum, and its two canonical answers are the intersection and the union
/// of the high sides of all optimal answers.
TEST(RandomGraphs, P1CutEqualsBruteForce) {
  std::mt19937 random(1);
  int tested = 0, notBinary = 0;
  while (tested < 3000) {
    Problem problem = randomTwoLabel(random, 10);
    ASSERT_EQ(llvm::toString(problem.validate()), "");
    SolveOptions options;
    options.countCasts = false;
    llvm::Expected<Solution> high = solve(problem, options);
    if (!high || high->method != Method::MinCut) {
      llvm::consumeError(high.takeError());
      ++notBinary;
      continue;
    }
    options.prefer = Preference::Low;
    Solution low = llvm::cantFail(solve(problem, options));
    ++tested;

    int64_t best = INT64_MAX;

    auto ports = [&](const Labels &labels) {
      std::vector<TypeId> types;
      for (size_t n = 0; n < labels.size(); ++n) {
        const Variant &v = problem.nodes[n].variants[labels[n]];
        types.insert(types.end(), v.in.begin(), v.in.end());
        types.insert(types.end(), v.out.begin(), v.out.end());
      }
      return types;
    };
    std::vector<TypeId> least, most;
    forEachAssignment(problem, [&](const Labels &labels) {
      int64_t cost = plainCost(problem, labels);
      if (cost > best)
        return;
      std::vector<TypeId> types = ports(labels);
      if (cost < best) {
        best = cost;
        least = most = types;
      }
      for (size_t i = 0; i < types.size(); ++i) {
        least[i] = std::min(least[i], types[i]);
        most[i] = std::max(most[i], types[i]);
      }
    });
    ASSERT_EQ(high->score.cost, best) << "graph " << tested;
    ASSERT_EQ(low.score.cost, best) << "graph " << tested;
    ASSERT_EQ(plainCost(problem, high->labels), best);
    ASSERT_EQ(ports(high->labels), least) << "graph " << tested;
    ASSERT_EQ(ports(low.labels), most) << "graph " << tested;
  }
  EXPECT_LT(notBinary, 1500); // mixed variants are not always submodular
}

/// With casts counted, the answer has the fewest among the cheapest.
TEST(RandomGraphs, FewestCastsAmongTheCheapest) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    Problem problem = randomTwoLabel(random, 8);
    llvm::Expected<Solution> solution = solve(problem);
    if (!solution || solution->method != Method::MinCut) {
      llvm::consumeError(solution.takeError());
      continue;
    }
    std::pair<int64_t, int64_t> best = {INT64_MAX, 0};
    forEachAssignment(problem, [&](const Labels &labels) {
      int64_t casts;
      int64_t cost = plainCost(problem, labels, &casts);
      best = std::min(best, {cost, casts});
    });
    ASSERT_EQ(std::pair(solution->score.cost, solution->score.casts), best) << "graph " << i;
  }
}

/// P3: every node keeps its decision when nodes and values are created in another order.
TEST(RandomGraphs, P3SameAnswerInAnyOrder) {
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    Problem problem = randomTwoLabel(random, 40);
    llvm::Expected<Solution> solution = solve(problem);
    if (!solution) {
      llvm::consumeError(solution.takeError());
      continue;
    }
    std::vector<NodeId> nodeAt;
    Problem other = shuffled(problem, random, nodeAt);
    Solution same = llvm::cantFail(solve(other));
    for (size_t n = 0; n < nodeAt.size(); ++n)
      ASSERT_EQ(solution->labels[n], same.labels[nodeAt[n]]) << "graph " << i << " node " << n;
  }
}

/// S1: transformer blocks of 16 nodes with residual connections.
Problem transformer(int layers) {
  TwoTypes g;
  ValueId x = g.value("x", 40);
  g.pinnedHigh("in", {}, {x});
  for (int i = 0; i < layers; ++i) {
    auto op = [&](llvm::StringRef name, llvm::ArrayRef<ValueId> operands, int low, int high) {
      ValueId r = g.value(name, 40 + i % 3);
      g.node(name, operands, {r}, low, high);
      return r;
    };
    auto wide = [&](llvm::StringRef name, llvm::ArrayRef<ValueId> operands, int cost) {
      ValueId r = g.value(name, 40);
      g.pinnedHigh(name, operands, {r}, cost);
      return r;
    };
    ValueId norm = wide("norm", {x}, 30);
    ValueId q = op("q", {norm}, 30, 200), k = op("k", {norm}, 30, 200),
            v = op("v", {norm}, 30, 200);
    ValueId scores = op("scores", {q, k}, 20, 90 + i % 7);
    ValueId probs = wide("softmax", {scores}, 50);
    ValueId context = op("context", {probs, v}, 20, 90);
    ValueId projected = op("project", {context}, 30, 200);
    ValueId sum = op("add", {projected, x}, 20, 40);
    ValueId norm2 = wide("norm", {sum}, 30);
    ValueId up = op("up", {norm2}, 100, 800), bias = op("bias", {up}, 30, 60);
    ValueId act = op("gelu", {bias}, 40, 80), down = op("down", {act}, 100, 800);
    ValueId bias2 = op("bias", {down}, 20, 40);
    x = op("add", {bias2, sum}, 20, 40);
  }
  g.pinnedHigh("out", {x}, {});
  return g.problem;
}

double seconds(llvm::function_ref<void()> work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Scale, S1SixteenThousandNodes) {
  Problem problem = transformer(1000);
  ASSERT_GE(problem.nodes.size(), 16000u);
  Solution solution;
  double time = seconds([&] { solution = llvm::cantFail(solve(problem)); });
  EXPECT_TRUE(solution.provenOptimal);
  EXPECT_LT(time, 1.0);
  RecordProperty("seconds", std::to_string(time));
}

TEST(SlowScale, SixteenTimesTenThousandNodes) {
  Problem problem = transformer(10000);
  double time = seconds([&] { EXPECT_TRUE(llvm::cantFail(solve(problem)).provenOptimal); });
  EXPECT_LT(time, 8.0);
  RecordProperty("seconds", std::to_string(time));
}

/// One chain of 20,000 nodes whose ends disagree: the longest paths a flow can take here.
TEST(Scale, LongChain) {
  TwoTypes g;
  ValueId x = g.value("x", 7);
  g.pinnedHigh("in", {}, {x}, 0);
  for (int i = 0; i < 20000; ++i) {
    ValueId y = g.value("y", 7 + i % 5);
    g.node("mid", {x}, {y}, 1 + i % 2, 1 + i % 2);
    x = y;
  }
  g.pinnedLow("out", {x}, {}, 0);
  double time = seconds([&] { EXPECT_EQ(llvm::cantFail(solve(g.problem)).score.casts, 1); });
  EXPECT_LT(time, 2.0);
}

} // namespace
