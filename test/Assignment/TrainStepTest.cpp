// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Train steps: forward blocks, then a backward pass that reads what the forward pass left. Hundreds
// of values are live in the middle, which is what the frontier search cannot do.

#include "TrainStep.h"

#include "mp/Assignment/ProblemJSON.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

TEST(TrainStep, TwoTypesAreACut) {
  Solution s = llvm::cantFail(solve(trainStep({.layers = 48, .withFp8 = false})));
  EXPECT_EQ(s.method, Method::MinCut);
  EXPECT_TRUE(s.provenOptimal);
  EXPECT_GT(s.score.casts, 0);
}

TEST(TrainStep, BoundMeetsExpansionWithFp8) {
  for (int layers : {12, 48}) {
    Problem problem = trainStep({.layers = layers});
    Solution s = llvm::cantFail(solve(problem, {.certify = true}));
    EXPECT_EQ(s.method, Method::Expansion);
    EXPECT_LE(s.lowerBound, s.score.cost);
    EXPECT_LE(s.score.cost - s.lowerBound, s.score.cost / 1000);
    EXPECT_EQ(certifiedLowerBound(problem, *s.certificate), s.lowerBound);
    // fp8 on offer never makes it dearer.
    Solution without = llvm::cantFail(solve(trainStep({.layers = layers, .withFp8 = false})));
    EXPECT_LT(s.score.cost, without.score.cost);
  }
}

void checkBudgets(int layers, llvm::ArrayRef<int64_t> budgets, const SolveOptions &options = {}) {
  Problem problem = trainStep({.layers = layers, .withErrors = true});
  std::optional<int64_t> last;
  for (int64_t budget : budgets) {
    problem.errorBudget = budget;
    Solution s = llvm::cantFail(solve(problem, options));
    EXPECT_LE(s.score.error, budget);
    EXPECT_LE(s.lowerBound, s.score.cost);
    EXPECT_LE(s.score.cost - s.lowerBound, s.score.cost / 100);
    EXPECT_LE(s.score.cost, last.value_or(INT64_MAX)); // more error allowed, never dearer
    last = s.score.cost;
  }
}

TEST(TrainStep, BudgetIsKeptAndBounded) { checkBudgets(3, {250, 1000}, {.searchCap = 200000}); }
TEST(SlowTrainStep, BudgetIsKeptAndBounded) { checkBudgets(12, {100, 1000, 5000}); }

/// The same problems through another solver, from the files that we write.
TEST(SlowHiGHS, AgreesOnDumpedProblems) {
  llvm::ErrorOr<std::string> python = llvm::sys::findProgramByName("python3");
  if (!python)
    GTEST_SKIP() << "needs python3";
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mp-assignment", folder));
  std::vector<std::string> arguments = {*python,
                                        MP_SOURCE_DIR "/test/Assignment/solve_with_highs.py"};
  auto dump = [&](const Problem &problem, const SolveOptions &options = {}) {
    llvm::Expected<Solution> solution = solve(problem, options);
    if (!solution) { // an unreachable budget
      llvm::consumeError(solution.takeError());
      return;
    }
    std::string path = (folder + "/" + std::to_string(arguments.size()) + ".json").str();
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    ASSERT_FALSE(code);
    writeProblem(problem, &*solution, os);
    arguments.push_back(path);
  };
  for (int layers : {1, 2, 4, 12})
    for (bool withFp8 : {false, true}) {
      Problem problem = trainStep({.layers = layers, .withFp8 = withFp8, .withErrors = true});
      dump(problem);
      dump(problem, {.stateCap = 0, .boundRounds = 4});
      problem.errorBudget = 60 * layers;
      dump(problem);
    }
  std::mt19937 random(12);
  for (int i = 0; i < 60; ++i) {
    Problem problem = randomManyTypes(random, 40, /*withError=*/true);
    if (i % 4 == 1)
      problem.errorBudget = problem.nodes.size() * 2;
    if (i % 4 == 2)
      problem.costBudget = problem.nodes.size() * 5;
    dump(problem, {.stateCap = i % 2 ? 200000u : 0u});
  }
  std::vector<llvm::StringRef> refs(arguments.begin(), arguments.end());
  int status = llvm::sys::ExecuteAndWait(*python, refs);
  llvm::sys::fs::remove_directories(folder);
  if (status == 77)
    GTEST_SKIP() << "needs scipy";
  EXPECT_EQ(status, 0);
  EXPECT_GT(arguments.size(), 50u);
}

} // namespace
