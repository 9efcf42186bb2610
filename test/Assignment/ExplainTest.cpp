// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers that lie are seen, and those that do not are confirmed.

#include "TrainStep.h"

#include "mp/Assignment/Explain.h"
#include "mp/Assignment/ProblemJSON.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <random>

using namespace mpcore::assignment;
using namespace mpcore::assignment::test;

namespace {

TEST(Explain, CheckerConfirmsAnswersAndFindsLies) {
  Problem problem = trainStep({.layers = 3});
  Solution s = llvm::cantFail(solve(problem, {.certify = true}));
  CheckedAnswer checked = llvm::cantFail(checkAnswer(problem, s));
  EXPECT_TRUE(checked.certifiedOptimal);

  auto complaint = [&](const Solution &lie) {
    llvm::Expected<CheckedAnswer> result = checkAnswer(problem, lie);
    return result ? std::string() : llvm::toString(result.takeError());
  };
  Solution lie = s;
  --lie.score.cost;
  EXPECT_NE(complaint(lie).find("claims cost"), std::string::npos);
  lie = s;
  lie.copies.pop_back();
  EXPECT_NE(complaint(lie).find("other casts"), std::string::npos);
  lie = s;
  lie.labels[0] = 99;
  EXPECT_NE(complaint(lie).find("out of range"), std::string::npos);
  lie = s;
  lie.lowerBound = lie.score.cost + 1;
  EXPECT_NE(complaint(lie).find("lower bound"), std::string::npos);
}

/// Wherever an answer is changed the checker sees it; a changed certificate proves less, never too
/// much.
TEST(Explain, EveryMutationOfAnAnswerIsSeen) {
  std::mt19937_64 random(11);
  unsigned weaker = 0, certificates = 0;
  for (int layers : {1, 2, 3}) {
    Problem problem = trainStep({.layers = layers});
    Solution s = llvm::cantFail(solve(problem, {.certify = true}));
    ASSERT_TRUE(llvm::cantFail(checkAnswer(problem, s)).certifiedOptimal);
    for (unsigned i = 0; i < 200; ++i) {
      Solution lie = s;
      std::string what;
      switch (i % 6) {
      case 0: { // another variant, sums as they were
        NodeId node = random() % problem.nodes.size();
        unsigned variants = problem.nodes[node].variants.size();
        if (variants < 2)
          continue;
        lie.labels[node] = (lie.labels[node] + 1 + random() % (variants - 1)) % variants;
        llvm::Error infeasible = checkFeasible(problem, lie.labels);
        bool isAsGood = !infeasible && evaluate(problem, lie.labels).cost == s.score.cost;
        llvm::consumeError(std::move(infeasible));
        if (isAsGood)
          continue;
        what = "a label";
        break;
      }
      case 1:
        lie.score.cost += random() % 2 ? 1 : -1;
        what = "the cost";
        break;
      case 2:
        lie.score.error += 1;
        what = "the error";
        break;
      case 3:
        lie.copies.erase(lie.copies.begin() + random() % lie.copies.size());
        what = "a cast left out";
        break;
      case 4:
        lie.lowerBound = lie.score.cost + 1 + random() % 100;
        what = "the bound";
        break;
      default: { // the proof itself
        Multiplier &changed =
            lie.certificate->multipliers[random() % lie.certificate->multipliers.size()];
        Weight size = changed.amount < 0 ? -changed.amount : changed.amount;
        changed.amount += (random() % 2 ? 1 : -1) * (size / 2 + lie.certificate->objective.cost);
        lie.certificate->bound += 1000000;
        CheckedAnswer checked = llvm::cantFail(checkAnswer(problem, lie));
        EXPECT_LE(checked.certifiedBound, s.score.cost);
        weaker += !checked.certifiedOptimal;
        ++certificates;
        continue;
      }
      }
      llvm::Expected<CheckedAnswer> checked = checkAnswer(problem, lie);
      EXPECT_FALSE(checked) << what << " was changed, " << layers << " layers, mutation " << i;
      llvm::consumeError(checked.takeError());
    }
  }
  EXPECT_GE(certificates, 90u);
  EXPECT_GE(weaker * 4, certificates); // what is slack may change without harm
}

/// A written answer carries its certificate, and the reader gets the same proof.
TEST(Explain, CertificatesSurviveJSON) {
  Problem problem = trainStep({.layers = 2, .withErrors = true});
  problem.errorBudget = 400;
  Solution s = llvm::cantFail(solve(problem, {.certify = true}));
  std::string text;
  llvm::raw_string_ostream os(text);
  writeProblem(problem, &s, os);
  ProblemFile file = llvm::cantFail(readProblem(text));
  ASSERT_TRUE(file.answer);
  ASSERT_TRUE(file.answer->certificate);
  CheckedAnswer here = llvm::cantFail(checkAnswer(problem, s));
  CheckedAnswer there = llvm::cantFail(checkAnswer(file.problem, *file.answer));
  EXPECT_GT(here.certifiedBound, 0);
  EXPECT_EQ(here.certifiedBound, there.certifiedBound);
  EXPECT_EQ(file.answer->method, s.method);
  EXPECT_EQ(file.answer->provenOptimal, s.provenOptimal);
}

} // namespace
