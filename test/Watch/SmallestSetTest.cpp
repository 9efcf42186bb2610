// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets found beside those that trying all of them gives.

#include "mp/Watch/SmallestSet.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <random>

using namespace mpcore::watch;
using Set = std::vector<unsigned>;
using Holds = std::function<bool(llvm::ArrayRef<unsigned>)>;

static SetSearch searchFor(const std::vector<double> &suspicion, const Holds &holds,
                           size_t maxRuns = 100000) {
  auto ask = [&](llvm::ArrayRef<unsigned> set) -> llvm::Expected<bool> { return holds(set); };
  auto found = findSmallestSet(suspicion, ask, maxRuns);
  if (!found)
    ADD_FAILURE() << llvm::toString(found.takeError());
  return found ? *found : SetSearch();
}

/// The least number of members that suffice, by trying all sets.
static size_t leastSize(unsigned n, const Holds &holds) {
  size_t least = n + 1;
  for (unsigned bits = 0; bits < 1u << n; ++bits) {
    Set set;
    for (unsigned i = 0; i < n; ++i)
      if (bits >> i & 1)
        set.push_back(i);
    if (set.size() < least && holds(set))
      least = set.size();
  }
  return least;
}

TEST(SmallestSet, CulpritsAreFoundExactly) {
  std::mt19937 random(1);
  for (int run = 0; run < 200; ++run) {
    const unsigned n = 1 + random() % 12;
    Set culprits;
    std::vector<double> suspicion;
    for (unsigned i = 0; i < n; ++i) {
      suspicion.push_back(random() % 1000);
      if (random() % 4 == 0)
        culprits.push_back(i);
    }
    Holds holds = [&](llvm::ArrayRef<unsigned> set) { return llvm::includes(set, culprits); };
    const SetSearch found = searchFor(suspicion, holds);
    EXPECT_EQ(found.members, culprits);
    EXPECT_TRUE(found.isMinimal);
    EXPECT_EQ(found.members.size(), leastSize(n, holds));
    EXPECT_TRUE(found.failing.empty());
  }
}

TEST(SmallestSet, NoiseInTheRankingCostsFewRuns) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (unsigned n : {50, 500})
    for (unsigned count : {1, 2, 3}) {
      double runs = 0;
      for (int run = 0; run < 50; ++run) {
        Set culprits;
        while (culprits.size() < count) {
          const unsigned next = random() % n;
          if (!llvm::is_contained(culprits, next))
            culprits.push_back(next);
        }
        llvm::sort(culprits);
        std::vector<double> suspicion;
        for (unsigned i = 0; i < n; ++i)
          suspicion.push_back(normal(random) + (llvm::is_contained(culprits, i) ? 2 : 0));
        Holds holds = [&](llvm::ArrayRef<unsigned> set) { return llvm::includes(set, culprits); };
        const SetSearch found = searchFor(suspicion, holds);
        EXPECT_EQ(found.members, culprits);
        runs += double(found.runs) / 50;
      }
      double sets = 0; // log2 of n over count
      for (unsigned i = 0; i < count; ++i)
        sets += std::log2(double(n - i) / (i + 1));
      EXPECT_LE(runs, 2 * sets + 4) << n << " members, " << count << " culprits";
    }
}

/// Errors that add: any set that leaves less than the limit will do.
TEST(SmallestSet, AnErrorBudgetIsKeptWithinOneMemberOfTheLeast) {
  std::mt19937 random(3);
  std::lognormal_distribution<double> error(0, 2);
  for (int run = 0; run < 100; ++run) {
    const unsigned n = 4 + random() % 8;
    std::vector<double> errors;
    double total = 0;
    for (unsigned i = 0; i < n; ++i)
      total += errors.emplace_back(error(random));
    Holds holds = [&](llvm::ArrayRef<unsigned> wide) {
      double left = total;
      for (unsigned i : wide)
        left -= errors[i];
      return left <= 0.2 * total;
    };
    const SetSearch found = searchFor(errors, holds);
    EXPECT_LE(found.members.size(), leastSize(n, holds) + 1);
    EXPECT_TRUE(holds(found.members));
  }
}

TEST(SmallestSet, NothingIsLookedForWhereAllDoNotSuffice) {
  const SetSearch found = searchFor({1, 2, 3}, [](llvm::ArrayRef<unsigned>) { return false; });
  EXPECT_FALSE(found.holdsWithAll);
  EXPECT_EQ(found.runs, 1u);
}

TEST(SmallestSet, NothingIsNeededWhereNoneSuffice) {
  const SetSearch found = searchFor({1, 2, 3}, [](llvm::ArrayRef<unsigned>) { return true; });
  EXPECT_TRUE(found.members.empty());
  EXPECT_EQ(found.runs, 2u);
}

TEST(SmallestSet, ACriterionThatIsNotMonotoneIsReported) {
  // 0 spoils what 1 and 2 mend, unless 3 is there.
  Holds holds = [](llvm::ArrayRef<unsigned> set) {
    auto has = [&](unsigned member) { return llvm::is_contained(set, member); };
    return has(1) && has(2) && (!has(0) || has(3));
  };
  const SetSearch found = searchFor({4, 3, 2, 1}, holds);
  EXPECT_EQ(found.members, Set({1, 2}));
  EXPECT_EQ(found.passing, Set({1, 2}));
  EXPECT_EQ(found.failing, Set({0, 1, 2}));
}

TEST(SmallestSet, EndsAtTheLimitOfRunsWithASetThatSuffices) {
  std::vector<double> suspicion(64, 1);
  Holds holds = [](llvm::ArrayRef<unsigned> set) { return llvm::is_contained(set, 40u); };
  const SetSearch found = searchFor(suspicion, holds, 9);
  EXPECT_EQ(found.runs, 9u);
  EXPECT_FALSE(found.isMinimal);
  EXPECT_TRUE(holds(found.members));
}

TEST(SmallestSet, AFailedRunIsAnError) {
  auto ask = [](llvm::ArrayRef<unsigned> set) -> llvm::Expected<bool> {
    if (set.empty())
      return llvm::createStringError("no room");
    return true;
  };
  auto found = findSmallestSet({1, 2}, ask, 100);
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(llvm::toString(found.takeError()), "no room");
}
