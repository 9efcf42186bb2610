// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/Support/Words.h"
#include "gtest/gtest.h"

using namespace mpcore::support;

namespace {

TEST(Words, NameWhatIsNear) {
  EXPECT_EQ(didYouMean("mian", {"gather", "main"}), "; did you mean 'main'?");
  EXPECT_EQ(didYouMean("fromat", {"format", "target"}, "--"), "; did you mean '--format'?");
  EXPECT_EQ(didYouMean("SM_90A", {"sm_90", "sm_90a"}), "; did you mean 'sm_90a'?");
  EXPECT_EQ(didYouMean("sm_81", {"sm_70", "sm_89", "sm_80"}), "; did you mean 'sm_89'?");
}

TEST(Words, AndNothingThatIsFar) {
  EXPECT_EQ(didYouMean("atol", {"html", "dim"}), "");
  EXPECT_EQ(didYouMean("q", {"dim", "json"}), "");
  EXPECT_EQ(didYouMean("h100", {"sm_100", "sm_90"}), "");
  EXPECT_EQ(didYouMean("gfx942", {"sm_89", "sm_90a"}), "");
  EXPECT_EQ(suggestWord("atol", {"html", "dim"}, "--"), "; known: --html, --dim");
}

} // namespace
