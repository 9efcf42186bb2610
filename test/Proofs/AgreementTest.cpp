// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker agrees with the analysis on graphs made to break it.

#include "../Transforms/Hostile/HostileGraph.h"
#include "ProofsFixture.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::proofs;
using namespace mlir::mp::test;

namespace {

/// Families of which the checker leaves a few graphs open, each for a reason that
/// docs/concepts/CheckingProofs.md names. Among the newest seeds any may be.
bool isBeyondChecker(const HostileRecipe &recipe) {
  if (recipe.seed >= kNewestSeeds)
    return true;
  return llvm::is_contained({"norm over groups", "norm by a power", "online softmax",
                             "product of unit rows", "powers of a range", "positions",
                             "reduced twice", "root of higher powers"},
                            recipe.familyName());
}

/// Every factor of hostile graphs that the analysis proves is confirmed, and there are many.
void expectAgreement(uint64_t from, uint64_t to) {
  ProofsFixture fixture;
  unsigned confirmed = 0, open = 0;
  for (uint64_t seed = from; seed < to; ++seed) {
    HostileRecipe recipe = HostileRecipe::of(seed);
    OwningOpRef<ModuleOp> module =
        fixture.decide(std::move(buildHostileGraph(&fixture.context, recipe).module));
    ASSERT_TRUE(module) << recipe.str();
    CheckResult result = fixture.check(*module, deriveProofs(*module));
    confirmed += result.conclusions;
    if (!result.isConfirmed() && isBeyondChecker(recipe)) {
      ++open;
      continue;
    }
    EXPECT_TRUE(result.isConfirmed())
        << recipe.str() << "\n"
        << fixture.errors << result.openConclusions << " factors are open";
  }
  EXPECT_GT(confirmed, (to - from) / 4);
  EXPECT_LE(open, (to - from) / 250);
}

TEST(Agreement, OfHostileGraphs) { expectAgreement(0, 300); }
TEST(Agreement, OfLaterFamilies) { expectAgreement(kLaterSeeds, kLaterSeeds + 150); }
TEST(Agreement, OfLatestFamilies) { expectAgreement(kLatestSeeds, kLatestSeeds + 150); }
TEST(Agreement, OfNewestFamilies) { expectAgreement(kNewestSeeds, kNewestSeeds + 150); }
TEST(Agreement, SlowOfManyHostileGraphs) { expectAgreement(300, 3000); }
TEST(Agreement, SlowOfManyLaterFamilies) { expectAgreement(kLaterSeeds + 150, kLaterSeeds + 3000); }
TEST(Agreement, SlowOfManyLatestFamilies) {
  expectAgreement(kLatestSeeds + 150, kLatestSeeds + 3000);
}

TEST(Agreement, SlowOfManyNewestFamilies) {
  expectAgreement(kNewestSeeds + 150, kNewestSeeds + 3000);
}

} // namespace
