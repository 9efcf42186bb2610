// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Assignment/Recompute.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace mpcore::assignment;
using Kind = ScheduledStep::Kind;

namespace {

/// Runs a schedule with real contents: a value is what computed it from what. Fails on a read of
/// what is not there; returns the bytes held at most, each freed behind its last use.
int64_t execute(const MemoryProblem &problem, const MemoryPlan &plan) {
  struct Held {
    uint64_t content;
    int64_t bytes;
    size_t until;
  };
  auto touches = [&](const ScheduledStep &s, uint32_t value) {
    if (s.kind == Kind::ToNarrow || s.kind == Kind::FromNarrow)
      return s.index == value;
    return llvm::is_contained(problem.steps[s.index].reads, value);
  };
  auto makes = [&](const ScheduledStep &s, uint32_t value) {
    if (s.kind == Kind::ToNarrow || s.kind == Kind::FromNarrow)
      return s.index == value;
    return problem.steps[s.index].writes == value;
  };
  std::map<uint32_t, Held> held;
  std::map<uint32_t, uint64_t> first; ///< contents as first computed
  int64_t peak = 0;
  auto contentOf = [&](uint32_t step) {
    uint64_t content = step + 1;
    for (uint32_t value : problem.steps[step].reads) {
      auto found = held.find(value);
      EXPECT_NE(found, held.end()) << "step " << step << " reads " << value;
      content = content * 1000003 + (found == held.end() ? 0 : found->second.content);
    }
    return content;
  };
  for (size_t at = 0; at != plan.schedule.size(); ++at) {
    const ScheduledStep &now = plan.schedule[at];
    std::map<uint32_t, Held> after = held;
    int64_t scratch = 0, replaced = 0;
    bool isCast = now.kind == Kind::ToNarrow || now.kind == Kind::FromNarrow;
    std::optional<uint32_t> written = isCast ? now.index : problem.steps[now.index].writes;
    uint64_t content = isCast ? held.at(now.index).content : contentOf(now.index);
    if (!isCast)
      scratch = problem.steps[now.index].scratch;
    if (written) {
      auto [it, isNew] = first.insert({*written, content});
      EXPECT_EQ(it->second, content) << "value " << *written << " has other contents";
      if (auto old = held.find(*written); old != held.end())
        replaced = old->second.bytes; // read while the new one is written
      const MemoryValue &value = problem.values[*written];
      size_t until = at;
      bool isMadeAgain = false;
      for (size_t later = at + 1; later != plan.schedule.size() && !isMadeAgain; ++later) {
        if (touches(plan.schedule[later], *written))
          until = later;
        isMadeAgain = makes(plan.schedule[later], *written);
      }
      if (value.isResult && !isMadeAgain)
        until = plan.schedule.size();
      after[*written] = {content, now.kind == Kind::ToNarrow ? *value.narrowBytes : value.bytes,
                         until};
    }
    int64_t live = scratch + (isCast ? replaced : 0);
    for (const auto &[value, buffer] : after)
      live += buffer.bytes;
    peak = std::max(peak, live);
    held.clear();
    for (const auto &[value, buffer] : after)
      if (buffer.until > at)
        held[value] = buffer;
  }
  return peak;
}

/// Layers forward and back: each step back reads what the step forth wrote.
MemoryProblem chain(unsigned length) {
  MemoryProblem problem;
  for (unsigned i = 0; i != length; ++i) {
    problem.values.push_back({1});
    problem.steps.push_back(
        {i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>{}, i, 1, true});
  }
  for (unsigned i = length; i-- > 0;) {
    uint32_t gradient = uint32_t(problem.values.size());
    problem.values.push_back({0});
    problem.steps.push_back({{i, gradient - 1}, gradient, 1, true});
  }
  problem.values.back().isResult = true;
  return problem;
}

MemoryProblem randomProblem(std::mt19937 &random, unsigned count) {
  MemoryProblem problem;
  auto draw = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  for (unsigned i = 0; i != count; ++i) {
    MemoryStep step{{}, i, draw(1, 9), draw(0, 4) != 0, draw(0, 3), draw(0, 1) == 0};
    for (int n = draw(0, 3); n > 0 && i > 0; --n) {
      uint32_t value = uint32_t(draw(0, int(i) - 1));
      if (!llvm::is_contained(step.reads, value))
        step.reads.push_back(value);
    }
    MemoryValue value{draw(0, 8), i + 1 == count || draw(0, 6) == 0};
    if (draw(0, 2) == 0) {
      value.narrowBytes = value.bytes / 2;
      value.castTime = draw(1, 3);
    }
    problem.values.push_back(value);
    problem.steps.push_back(step);
  }
  return problem;
}

/// The least time within the limit, of all choices.
std::optional<int64_t> enumerate(const MemoryProblem &problem, int64_t limit) {
  std::optional<int64_t> least;
  size_t count = problem.values.size();
  uint64_t choices = 1;
  for (size_t i = 0; i != count; ++i)
    choices *= 3;
  for (uint64_t number = 0; number != choices; ++number) {
    std::vector<Keeping> keeping;
    for (uint64_t rest = number; keeping.size() != count; rest /= 3)
      keeping.push_back(Keeping(rest % 3));
    MemoryPlan plan = evaluatePlan(problem, keeping);
    if (plan.keeping == keeping && !plan.readsNarrow && plan.peak <= limit &&
        (!least || plan.extra < *least))
      least = plan.extra;
  }
  return least;
}

TEST(Recompute, AChainIsKeptWholeWhereThereIsRoom) {
  MemoryAnswer answer = planMemory(chain(6), 6);
  EXPECT_TRUE(answer.isWithin && answer.isProven);
  EXPECT_EQ(answer.plan.peak, 6);
  EXPECT_EQ(answer.plan.extra, 0);
}

TEST(Recompute, AChainOfNineIsRecomputedBySegments) {
  // By hand: of d values that are dropped 9 - d are left at the end of the way forth, and each run
  // of dropped ones comes back when later ones are gone. The table has peak, then values computed
  // twice.
  MemoryProblem problem = chain(9);
  for (auto [limit, extra] : {std::pair(9, 0), {8, 1}, {7, 2}, {6, 3}, {5, 4}}) {
    MemoryAnswer answer = planMemory(problem, limit);
    EXPECT_TRUE(answer.isProven);
    EXPECT_TRUE(answer.isWithin) << limit;
    EXPECT_EQ(answer.plan.extra, extra) << limit;
    EXPECT_LE(answer.plan.peak, limit);
  }
}

TEST(Recompute, WhatCannotRunTwiceStays) {
  MemoryProblem problem = chain(6);
  for (MemoryStep &step : problem.steps)
    step.isRepeatable = false;
  MemoryAnswer answer = planMemory(problem, 3);
  EXPECT_FALSE(answer.isWithin);
  EXPECT_EQ(answer.plan.peak, 6) << "the least there is";
  EXPECT_EQ(answer.plan.extra, 0);
}

TEST(Recompute, ASecondReaderLaterIsServedByOneRun) {
  // v0 is read by steps 1, 4 and 5; between 1 and 4 it is free, and one run serves both.
  MemoryProblem problem;
  problem.values = {{8}, {1}, {8}, {1}, {1}, {1, true}};
  problem.steps = {{{}, 0, 5, true},  {{0}, 1, 1, true},    {{1}, 2, 1, true},
                   {{2}, 3, 1, true}, {{3, 0}, 4, 1, true}, {{4, 0}, 5, 1, true}};
  MemoryAnswer answer = planMemory(problem, 11);
  EXPECT_TRUE(answer.isWithin);
  EXPECT_EQ(answer.plan.extra, 5);
  EXPECT_EQ(llvm::count(answer.plan.schedule, (ScheduledStep{Kind::Again, 0})), 1);
  EXPECT_EQ(execute(problem, answer.plan), answer.plan.peak);
}

TEST(Recompute, WhatIsReadLateAloneIsComputedLateAndOnce) {
  MemoryProblem problem;
  problem.values = {{8}, {8}, {1}, {1, true}};
  problem.steps = {{{}, 0, 5, true}, {{}, 1, 1, true}, {{1}, 2, 1, true}, {{2, 0}, 3, 1, true}};
  MemoryAnswer answer = planMemory(problem, 10);
  EXPECT_TRUE(answer.isWithin);
  EXPECT_EQ(answer.plan.extra, 0);
  EXPECT_EQ(answer.plan.schedule.size(), 4u);
  EXPECT_EQ(execute(problem, answer.plan), 10);
  problem.steps[0].mayWait = false;
  answer = planMemory(problem, 10);
  EXPECT_EQ(answer.plan.extra, 5);
  EXPECT_EQ(answer.plan.schedule.size(), 5u);
}

TEST(Recompute, NothingIsMadeAgainFromWhatWasStoredNarrow) {
  MemoryProblem problem = chain(4);
  problem.values[0].narrowBytes = 0;
  std::vector<Keeping> keeping(problem.values.size(), Keeping::Whole);
  keeping[0] = Keeping::Narrow;
  EXPECT_FALSE(evaluatePlan(problem, keeping).readsNarrow);
  keeping[1] = Keeping::Recomputed;
  EXPECT_TRUE(evaluatePlan(problem, keeping).readsNarrow);
}

TEST(Recompute, RandomPlansRunAndHoldWhatTheySay) {
  std::mt19937 random(1);
  for (int trial = 0; trial != 300; ++trial) {
    MemoryProblem problem = randomProblem(random, 12);
    std::vector<Keeping> keeping;
    for (size_t i = 0; i != problem.values.size(); ++i)
      keeping.push_back(Keeping(std::uniform_int_distribution<int>(0, 2)(random)));
    MemoryPlan plan = evaluatePlan(problem, keeping);
    EXPECT_EQ(execute(problem, plan), plan.peak) << "trial " << trial;
  }
}

TEST(Recompute, SearchFindsWhatEnumerationFinds) {
  std::mt19937 random(2);
  int proven = 0, downhillOptimal = 0, feasible = 0;
  for (int trial = 0; trial != 40; ++trial) {
    MemoryProblem problem = randomProblem(random, 8);
    int64_t whole = evaluatePlan(problem, std::vector<Keeping>(8, Keeping::Whole)).peak;
    for (int64_t limit : {whole, whole * 3 / 4, whole / 2}) {
      std::optional<int64_t> least = enumerate(problem, limit);
      MemoryAnswer answer = planMemory(problem, limit), downhill = planMemory(problem, limit, 0);
      EXPECT_EQ(answer.isWithin, least.has_value());
      proven += answer.isProven;
      if (!least)
        continue;
      ++feasible;
      EXPECT_EQ(answer.plan.extra, *least);
      EXPECT_TRUE(!downhill.isWithin || downhill.plan.extra >= *least);
      downhillOptimal += downhill.isWithin && downhill.plan.extra == *least;
    }
  }
  EXPECT_EQ(proven, 120);
  EXPECT_GE(downhillOptimal * 10, feasible * 9) << downhillOptimal << " of " << feasible;
}

TEST(Recompute, NeverDearerThanSegments) {
  std::mt19937 random(4);
  for (int trial = 0; trial != 20; ++trial) {
    MemoryProblem problem = randomProblem(random, 60);
    for (unsigned segments : {1, 2, 3, 4, 6, 8}) {
      MemoryPlan checkpoints = evaluatePlan(problem, keepBorders(problem, segments));
      MemoryAnswer answer = planMemory(problem, checkpoints.peak);
      EXPECT_TRUE(answer.isWithin);
      EXPECT_LE(answer.plan.extra, checkpoints.extra);
      ASSERT_TRUE(answer.checkpointing);
      EXPECT_LE(answer.plan.extra, *answer.checkpointing);
    }
  }
}

} // namespace
