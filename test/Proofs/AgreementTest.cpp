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

/// Lists what the checker knows less of than the analysis, by description: maxima over padded
/// windows, functions that comparisons put together of pieces, and sums that the analysis keeps
/// above zero by a number that may be flushed.
bool isBeyondChecker(const HostileRecipe &recipe) {
  std::string text = recipe.str();
  return recipe.familyName() == "pooling" || recipe.familyName() == "function in pieces" ||
         StringRef(text).contains("epsilon subnormal");
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
  EXPECT_LE(open, (to - from) / 100);
}

TEST(Agreement, OfHostileGraphs) { expectAgreement(0, 300); }
TEST(Agreement, SlowOfManyHostileGraphs) { expectAgreement(300, 3000); }

} // namespace
