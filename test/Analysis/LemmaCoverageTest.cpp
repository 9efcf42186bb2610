// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each hypothesis of each lemma, as Lemmas.h states it, and the cases that violate it and nothing
// else. A lemma without such cases, a hypothesis without, or a case that belongs to none is a
// failure: no lemma is used that was not tried.

#include "LemmaCase.h"
#include "llvm/ADT/StringMap.h"

#include <set>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Hypothesis {
  Lemma lemma;
  const char *text;
  std::vector<const char *> violated; ///< names of cases
};

const Hypothesis kHypotheses[] = {
    {Lemma::SelfDifference,
     "one value, rounded alike and summed once",
     {"self_of_other", "self_of_rounded", "self_of_two_sums"}},
    {Lemma::SelfDifference,
     "the same element of it",
     {"self_transposed", "self_of_other_rows", "self_of_other_columns", "self_of_strided",
      "self_of_reversed", "self_of_exchanged_axes"}},

    {Lemma::GroupMaximum,
     "a lies in the group: its kept coordinates are those of the maximum",
     {"max_along_the_other_axis", "max_of_the_transposed", "max_beside_the_transposed",
      "max_of_another_batch", "max_of_reversed_rows", "max_spread_reversed"}},
    {Lemma::GroupMaximum,
     "the maximum is of a itself",
     {"max_of_the_rounded", "max_of_the_masked", "max_of_the_clamped", "max_of_an_update"}},
    {Lemma::GroupMaximum,
     "b is that maximum, one of two of which it is the smaller, or more by what is not negative",
     {"min_of_max_and_another", "max_plus_any", "max_less_magnitude", "max_halved"}},
    {Lemma::GroupMaximum, "it is not dropped for a NaN", {"max_dropped_for_nan"}},
    {Lemma::GroupMaximum,
     "behind a reshape, a is the element that lay in the group before it",
     {"max_of_groups_moved", "max_of_groups_moved_back", "max_of_groups_of_another",
      "max_of_groups_beside_the_transposed", "max_of_groups_spread_alternating",
      "max_of_half_groups"}},

    {Lemma::DominatedQuotient,
     "a lies in the group of what b sums or compares",
     {"rms_along_the_other_axis", "rms_of_the_transposed", "rms_divides_the_transposed", "window",
      "another_slice", "over_sum_of_the_other_axis", "over_largest_of_the_other_axis",
      "windows_of_fewer", "windows_strided", "over_sum_spread_reversed"}},
    {Lemma::DominatedQuotient,
     "b is made of |a|^p itself",
     {"rms_of_another", "rms_of_the_rounded", "rms_by_a_smaller_power", "rms_of_other_powers",
      "rms_of_powers_of_another", "over_sum_of_any_sign", "over_largest_of_any_sign"}},
    {Lemma::DominatedQuotient,
     "what is added to it is not negative",
     {"rms_negative_epsilon", "over_sum_from_below"}},
    {Lemma::DominatedQuotient,
     "it is scaled by a positive number",
     {"rms_negative_count", "rms_zero_count"}},
    {Lemma::DominatedQuotient,
     "b >= d > 0 where squares may be flushed to zero",
     {"rms_without_epsilon", "rms_subnormal_epsilon"}},
    {Lemma::DominatedQuotient,
     "behind a reshape, a is the element that lay in the group before it",
     {"norm_of_groups_moved", "norm_of_groups_moved_back", "norm_of_groups_of_another",
      "norm_of_groups_beside_the_transposed", "norm_of_groups_spread_alternating",
      "norm_of_half_groups"}},
    {Lemma::DominatedQuotient, "further factors are bounded", {"gain_unbounded"}},
    {Lemma::DominatedQuotient,
     "partial products are finite",
     {"gain_before_an_overflow", "inverse_that_overflows"}},

    {Lemma::ShiftedExponentials,
     "c is the maximum of x over the group or a part of it",
     {"exponentials_summed_across", "exponentials_shifted_across", "exponentials_not_shifted"}},
    {Lemma::ShiftedExponentials,
     "it is one of the x: it starts below them",
     {"exponentials_above_a_number", "exponentials_above_the_lowest"}},
    {Lemma::ShiftedExponentials,
     "terms are exp(x - c), none left out, scaled or shifted",
     {"exponentials_masked", "exponentials_scaled", "exponentials_less_another",
      "exponentials_of_shifted_twice"}},
    {Lemma::ShiftedExponentials, "the sum starts at zero or above", {"exponentials_from_below"}},

    {Lemma::ComparedChoice, "the predicate orders", {"choice_of_the_equal"}},
    {Lemma::ComparedChoice,
     "the other is no NaN where the predicate decides for NaN as for what is chosen",
     {"choice_beside_nan", "choice_that_nan_satisfies_too"}},
    {Lemma::ComparedChoice,
     "the chosen value was compared, as it is and where it is",
     {"choice_of_the_transposed", "choice_by_another", "choice_before_an_update"}},
};

TEST(LemmaCoverage, ViolatesEachHypothesisOfEachLemma) {
  llvm::StringMap<std::optional<Lemma>> concluded;
  unsigned held[kNumLemmas] = {}, hypotheses[kNumLemmas] = {};
  for (const auto &all : {lemmaCases(), lemmaHypothesisCases(), lemmaReshapeCases()})
    for (const LemmaCase &tried : all) {
      EXPECT_TRUE(concluded.try_emplace(tried.name, tried.lemma).second) << tried.name << " twice";
      if (tried.lemma)
        ++held[unsigned(*tried.lemma)];
    }
  std::set<StringRef> named;
  for (const Hypothesis &hypothesis : kHypotheses) {
    ++hypotheses[unsigned(hypothesis.lemma)];
    EXPECT_FALSE(hypothesis.violated.empty()) << hypothesis.text;
    for (const char *name : hypothesis.violated) {
      auto found = concluded.find(name);
      ASSERT_TRUE(found != concluded.end()) << name << " is no case";
      EXPECT_FALSE(found->second) << name << " violates nothing";
      EXPECT_TRUE(named.insert(name).second) << name << " violates one hypothesis alone";
    }
  }
  for (unsigned lemma = 0; lemma < kNumLemmas; ++lemma) {
    EXPECT_GT(hypotheses[lemma], 0u) << toString(Lemma(lemma)).str() << " has no hypothesis here";
    EXPECT_GT(held[lemma], 0u) << toString(Lemma(lemma)).str() << " is concluded nowhere";
  }
  for (const auto &[name, lemma] : concluded)
    EXPECT_TRUE(lemma || named.count(name)) << name.str() << " belongs to no hypothesis";
}

/// fibre-norm is the quotient's other conclusion: of what sums |a|^p, and of nothing that compares.
struct FibreNormTest : testing::Test, AnalysisContext {
  double normOf(const std::string &text) {
    auto module = parse(text);
    ModuleRanges ranges(*module);
    const LemmaBound *bound = ranges.get(getMain(*module)).findLemma(getReturned(*module)[0]);
    EXPECT_TRUE(bound && bound->lemma == Lemma::DominatedQuotient) << text;
    return bound && bound->normDims ? bound->norm : HUGE_VAL;
  }
};

TEST_F(FibreNormTest, IsOfSumsAlone) {
  EXPECT_NEAR(normOf(overSum("d0", "exp")), 1, 1e-3);
  GraphText g;
  std::string largest = g.reduce("maximumf", g.unary("absf", "%x"), 1, kMinusInfinity);
  EXPECT_EQ(normOf(g.finish(g.withVector("divf", "%x", largest, "d0"))), HUGE_VAL);
}

} // namespace
