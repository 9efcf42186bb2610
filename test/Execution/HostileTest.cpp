// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No proof is false: what is proved holds on graphs and arguments made to break it.

#include "HostileRun.h"
#include "mlir/IR/Verifier.h"
#include "mp/Pipelines/Promises.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

HostileOptions testOptions() {
  HostileOptions options;
  options.proved = MP_SOURCE_DIR "/test/Transforms/Assign/Inputs/proved.json";
  return options;
}

struct Context {
  Context() : context(MLIRContext::Threading::DISABLED) { loadHostileDialects(context); }
  MLIRContext context;
};

TEST(HostileGraph, IsValidAndTheSameForEqualSeeds) {
  Context own;
  constexpr uint64_t first[] = {0,           kLaterSeeds,  kLatestSeeds, kNewestSeeds,
                                kFreshSeeds, kChoiceSeeds, kJumpSeeds};
  for (uint64_t number = 0; number < 4900; ++number) {
    uint64_t seed = first[number / 700] + number % 700;
    HostileRecipe recipe = HostileRecipe::of(seed);
    EXPECT_LE(hostileFamilies()[recipe.family].since, first[number / 700]) << recipe.str();
    HostileGraph graph = buildHostileGraph(&own.context, recipe);
    ASSERT_TRUE(succeeded(verify(*graph.module))) << recipe.str();
    if (seed % 10)
      continue;
    Context other;
    EXPECT_EQ(printModule(*graph.module),
              printModule(*buildHostileGraph(&other.context, recipe).module));
  }
}

/// Every hypothesis of every claim is broken by some graph that verifies.
TEST(HostileGraph, BreaksEveryHypothesis) {
  Context own;
  for (auto [index, family] : llvm::enumerate(hostileFamilies()))
    for (StringRef hypothesis : family.hypotheses())
      for (Spelling spelling : {Spelling::Tensor, Spelling::Generic, Spelling::Tosa}) {
        HostileRecipe recipe;
        recipe.seed = index;
        recipe.family = index;
        recipe.broken = hypothesis.str();
        recipe.spelling = spelling;
        EXPECT_TRUE(succeeded(verify(*buildHostileGraph(&own.context, recipe).module)))
            << recipe.str();
      }
}

HostileRecipe recipeOf(StringRef family, StringRef broken) {
  HostileRecipe recipe;
  recipe.family = llvm::find_if(hostileFamilies(), [&](auto &row) { return row.name == family; }) -
                  hostileFamilies().begin();
  recipe.broken = broken.str();
  return recipe;
}

/// Collects the verdicts about graphs of which every contraction is made f16.
std::set<Verdict> verdictsIfForced(HostileRecipe recipe) {
  Context own;
  HostileOptions options;
  options.proved = MP_SOURCE_DIR "/test/Execution/Inputs/forced-narrow.json";
  HostileTally tally;
  for (recipe.seed = 1; recipe.seed < 6; recipe.seed += 2)
    checkHostileGraphs(own.context, recipe, options, tally);
  std::set<Verdict> verdicts;
  for (const Finding &finding : tally.findings)
    verdicts.insert(finding.verdict);
  return verdicts;
}

/// Planted overflows and poles are found, and told apart: the checks below can fail.
TEST(HostileRun, TellsOverflowFromPoles) {
  using V = Verdict;
  EXPECT_EQ(verdictsIfForced(recipeOf("function of a range", "x")), std::set{V::Overflow});
  EXPECT_EQ(verdictsIfForced(recipeOf("sum of bounded terms", "")), std::set<V>{});
  EXPECT_EQ(verdictsIfForced(recipeOf("norm of a small product", "nothing guards the pole")),
            std::set{V::Pole});
  EXPECT_EQ(verdictsIfForced(recipeOf("norm of a small product", "")), std::set<V>{});
}

/// Makes what is stated of arguments a thousandth of what it was: all that follows is false, too.
void shrinkRanges(func::FuncOp main) {
  Builder builder(main.getContext());
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto range = main.getArgAttrOfType<ArrayAttr>(i, kRangeAttrName)) {
      SmallVector<Attribute> ends;
      for (Attribute end : range)
        ends.push_back(builder.getF64FloatAttr(cast<FloatAttr>(end).getValueAsDouble() / 1000));
      main.setArgAttr(i, kRangeAttrName, builder.getArrayAttr(ends));
    }
}

/// Says that what each contraction reads first is at most a millionth, as a false lemma would have
/// it.
void boundFactors(func::FuncOp main) {
  Builder builder(main.getContext());
  Attribute tiny = builder.getF64FloatAttr(1e-6), most = builder.getF64FloatAttr(-1e-6);
  main.walk([&](linalg::ContractionOpInterface op) {
    if (Operation *factor = op->getOperand(0).getDefiningOp())
      factor->setAttr(kRangeAttrName, builder.getArrayAttr({most, tiny}));
  });
}

/// Collects the verdicts about some graphs of which this is said falsely.
std::set<Verdict> verdictsIfPlanted(void (*plant)(func::FuncOp)) {
  Context own;
  HostileOptions options = testOptions();
  options.plant = plant;
  std::vector<HostileRecipe> recipes;
  for (uint64_t seed = 0; seed < 28; ++seed)
    recipes.push_back(HostileRecipe::of(seed));
  HostileTally tally;
  checkHostileGraphs(own.context, recipes, options, tally);
  std::set<Verdict> verdicts;
  for (const Finding &finding : tally.findings)
    verdicts.insert(finding.verdict);
  return verdicts;
}

/// The run can fail: a false premise and a false conclusion are seen in ranges, errors and
/// overflows; without them, nothing is seen in the same graphs.
TEST(HostileRun, SeesPlantedFalsehoods) {
  std::set<Verdict> sound = verdictsIfPlanted(nullptr), premise = verdictsIfPlanted(shrinkRanges),
                    conclusion = verdictsIfPlanted(boundFactors);
  for (Verdict verdict : {Verdict::Range, Verdict::Error, Verdict::Overflow})
    EXPECT_FALSE(sound.count(verdict)) << toString(verdict).str();
  for (Verdict verdict : {Verdict::Range, Verdict::Error, Verdict::Overflow})
    EXPECT_TRUE(premise.count(verdict) && conclusion.count(verdict)) << toString(verdict).str();
}

/// Scores of which f64 says 1e67 are infinite in f32 already: that rounding their factors turns the
/// sum of products into NaN breaks no promise.
TEST(HostileRun, HoldsNothingBeyondF32ToItsPromise) {
  Context own;
  HostileTally tally;
  checkHostileGraphs(own.context, HostileRecipe::of(23534), testOptions(), tally);
  EXPECT_TRUE(tally.findings.empty());
  EXPECT_EQ(tally.beyond, 1u);
}

using Seeds = std::pair<uint64_t, uint64_t>;
class Hostile : public testing::TestWithParam<Seeds> {};

TEST_P(Hostile, ProvesNothingFalse) {
  auto [begin, end] = GetParam();
  Context own;
  std::vector<HostileRecipe> recipes;
  for (uint64_t seed = begin; seed < end; ++seed)
    recipes.push_back(HostileRecipe::of(seed));
  HostileTally tally;
  checkHostileGraphs(own.context, recipes, testOptions(), tally);
  printTally(llvm::outs(), tally);
  llvm::outs().flush();
  EXPECT_EQ(tally.graphs, end - begin);
  // Else the test says little.
  HostileTally::Claim valid = tally.sum(true), broken = tally.sum(false);
  EXPECT_GE(valid.narrow, valid.contractions / 2);
  EXPECT_GE(broken.contractions, valid.contractions);
  // Bounds of errors are of the graph with the constants that it has, and say so.
  for (const FindingClass &found : classesOf(tally))
    EXPECT_TRUE(found.smallest.verdict == Verdict::Assumed ||
                found.smallest.verdict == Verdict::Constants)
        << found.smallest.reproducer();
}

std::vector<Seeds> chunksOf(uint64_t size, uint64_t begin, uint64_t end) {
  std::vector<Seeds> chunks;
  for (; begin < end; begin += size)
    chunks.push_back({begin, std::min(begin + size, end)});
  return chunks;
}

std::string nameOf(const testing::TestParamInfo<Seeds> &info) {
  return std::to_string(info.param.first);
}

/// So many of each set run in CI, the night runs the rest.
constexpr uint64_t kByDay = 105;

auto byDay(uint64_t first) { return testing::ValuesIn(chunksOf(kByDay, first, first + kByDay)); }

auto atNight(uint64_t first, uint64_t graphs = 10000) {
  return testing::ValuesIn(chunksOf(1000, first + kByDay, first + graphs));
}

INSTANTIATE_TEST_SUITE_P(Quick, Hostile, byDay(0), nameOf);
INSTANTIATE_TEST_SUITE_P(SlowLater, Hostile, byDay(kLaterSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(SlowLatest, Hostile, byDay(kLatestSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(SlowNewest, Hostile, byDay(kNewestSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(SlowFresh, Hostile, byDay(kFreshSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(SlowChoice, Hostile, byDay(kChoiceSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(SlowJump, Hostile, byDay(kJumpSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(Nightly, Hostile, atNight(0, 40000), nameOf);
INSTANTIATE_TEST_SUITE_P(NightlyLater, Hostile, atNight(kLaterSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(NightlyLatest, Hostile, atNight(kLatestSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(NightlyNewest, Hostile, atNight(kNewestSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(NightlyFresh, Hostile, atNight(kFreshSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(NightlyChoice, Hostile, atNight(kChoiceSeeds), nameOf);
INSTANTIATE_TEST_SUITE_P(NightlyJump, Hostile, atNight(kJumpSeeds), nameOf);

} // namespace
