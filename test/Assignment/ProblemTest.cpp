// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests what a problem accepts, what it says when it refuses, and its JSON form.

#include "Graphs.h"

#include "mp/Assignment/ProblemJSON.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

TwoTypes small() {
  TwoTypes g;
  ValueId x = g.value("x", 3), y = g.value("y", 3);
  g.pinnedHigh("in", {}, {x});
  g.node("mm", {x}, {y}, 10, 17);
  g.pinnedHigh("out", {y}, {});
  return g;
}

std::string refusal(const Problem &problem) { return llvm::toString(problem.validate()); }

TEST(Problem, ErrorsNameTheCulprit) {
  EXPECT_EQ(refusal(small().problem), "");

  TwoTypes g = small();
  g.problem.nodes[1].variants[0].in.clear();
  EXPECT_EQ(refusal(g.problem), "node 1 'mm' variant '': expected 1 operand and 1 result types, "
                                "found 0 and 1");
  g = small();
  g.problem.nodes[2].operands[0] = 7;
  EXPECT_EQ(refusal(g.problem), "node 2 'out' reads value 7, which does not exist");
  g = small();
  g.problem.nodes[1].results.push_back(0);
  g.problem.nodes[1].variants[0].out.push_back(0);
  g.problem.nodes[1].variants[1].out.push_back(0);
  EXPECT_EQ(refusal(g.problem), "value 0 'x' is defined 2 times, expected once");
  g = small();
  g.problem.values[0].casts.clear();
  EXPECT_EQ(refusal(g.problem), "value 0 'x' may be stored as f32 and read as bf16 but gives no "
                                "cost for that cast");
  g = small();
  g.problem.nodes[1].pinned = 2;
  EXPECT_EQ(refusal(g.problem), "node 1 'mm' is pinned to variant 2 but has 2");
  g = small();
  g.problem.ties.push_back({0, 1});
  EXPECT_NE(refusal(g.problem).find("another number of variants"), std::string::npos);
  g = small();
  g.problem.nodes[1].variants[0].cost = INT64_MAX / 2;
  EXPECT_NE(refusal(g.problem).find("use coarser units"), std::string::npos);
  g = small();
  g.problem.nodes[1].frequency = INT64_MAX;
  EXPECT_NE(refusal(g.problem).find("use coarser units"), std::string::npos);
}

TEST(Problem, RefusesCycles) {
  TwoTypes g;
  ValueId x = g.value("x", 1), y = g.value("y", 1);
  g.node("a", {x}, {y}, 1, 2);
  g.node("b", {y}, {x}, 1, 2);
  EXPECT_NE(refusal(g.problem).find("form a cycle"), std::string::npos);
}

TEST(Problem, RefusesContradictingPins) {
  TwoTypes g;
  NodeId a = g.node("a", {}, {}, 1, 2), b = g.node("b", {}, {}, 1, 2);
  g.problem.ties.push_back({a, b});
  g.problem.nodes[a].pinned = 0;
  g.problem.nodes[b].pinned = 1;
  EXPECT_NE(refusal(g.problem).find("pinned to different variants"), std::string::npos);
}

TEST(Problem, JSONRoundTrips) {
  TwoTypes g = small();
  g.problem.nodes[1].pinned = 1;
  g.problem.nodes[1].frequency = 3;
  g.problem.nodes[2].variants[0].in[0] = anyType;
  g.problem.values[0].constant = true;
  g.problem.ties.push_back({0, 2});
  g.problem.errorBudget = 5;
  Solution solution = llvm::cantFail(solve(g.problem));
  std::string first, second;
  llvm::raw_string_ostream firstOS(first), secondOS(second);
  writeProblem(g.problem, &solution, firstOS);
  ProblemFile file = llvm::cantFail(readProblem(first));
  ASSERT_TRUE(file.answer);
  EXPECT_EQ(file.answer->labels, solution.labels);
  EXPECT_EQ(file.answer->copies, solution.copies);
  EXPECT_EQ(file.problem.errorBudget, 5);
  writeProblem(file.problem, &solution, secondOS);
  EXPECT_EQ(first, second);
}

TEST(Problem, JSONErrorsNameThePlace) {
  auto message = [](llvm::StringRef text) {
    llvm::Expected<ProblemFile> file = readProblem(text);
    return file ? std::string() : llvm::toString(file.takeError());
  };
  EXPECT_NE(message("{").find("Expected"), std::string::npos);
  EXPECT_NE(message("[]").find("expected object"), std::string::npos);
  EXPECT_NE(message(R"({"schema": "other", "version": 1})").find("mp-assignment-problem"),
            std::string::npos);
  std::string head = R"({"schema": "mp-assignment-problem", "version": 1, "types": ["f32"],)";
  EXPECT_NE(message(head + R"("values": [], "ties": [],
      "nodes": [{"name": "a", "operands": [], "results": [], "variants":
                 [{"name": "v", "in": ["f8"], "out": [], "cost": 1}]}]})")
                .find("problem.nodes[0].variants[0].in[0]"),
            std::string::npos);
  EXPECT_NE(message(head + R"("values": [], "ties": []})").find("problem.nodes"),
            std::string::npos);
}

/// Damaged files are refused, never a crash.
TEST(Problem, SurvivesDamagedFiles) {
  TwoTypes g = small();
  g.problem.nodes[1].pinned = 1;
  g.problem.ties.push_back({0, 2});
  Solution solution = llvm::cantFail(solve(g.problem, {.certify = true}));
  std::string text;
  llvm::raw_string_ostream os(text);
  writeProblem(g.problem, &solution, os);
  std::mt19937 random(14);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (int k = 1 + random() % 3; k > 0; --k) {
      const char replacements[] = "0123456789-\"[]{}:,fx";
      damaged[random() % damaged.size()] = replacements[random() % (sizeof(replacements) - 1)];
    }
    llvm::Expected<ProblemFile> file = readProblem(damaged);
    if (!file) {
      llvm::consumeError(file.takeError());
      ++refused;
      continue;
    }
    llvm::consumeError(solve(file->problem).takeError());
    if (file->answer)
      llvm::consumeError(checkFeasible(file->problem, file->answer->labels));
  }
  EXPECT_GT(refused, 1000);
}

} // namespace
