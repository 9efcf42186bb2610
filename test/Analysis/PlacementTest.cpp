// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placements add up over functions by calls, without overflow and no surer than the least sure of
// them; amounts and suggestions as people read them; copies of functions and who calls them.

#include "mp/Analysis/Cost/Placement.h"
#include "AnalysisTest.h"
#include "mp/Analysis/FunctionCopies.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

Placement costing(int64_t before, int64_t after, int64_t lowerBound, int64_t calls) {
  Placement placement;
  placement.part = "sm_80";
  placement.objective = "time";
  placement.before = before;
  placement.after = after;
  placement.lowerBound = lowerBound;
  placement.calls = calls;
  placement.provenOptimal = true;
  placement.castBytes = 8;
  placement.baselines = {{"painted", after + 1, 2, 16}};
  return placement;
}

TEST(PlacementTest, AddsUpByCalls) {
  Placement sum = sumPlacements({costing(100, 60, 50, 1), costing(10, 7, 7, 3)});
  EXPECT_EQ(sum.before, 130);
  EXPECT_EQ(sum.after, 81);
  EXPECT_EQ(sum.lowerBound, 71);
  EXPECT_EQ(sum.castBytes, 32);
  ASSERT_EQ(sum.baselines.size(), 1u);
  EXPECT_EQ(sum.baselines[0].cost, 61 + 3 * 8);
  EXPECT_EQ(sum.baselines[0].castBytes, 16 + 3 * 16);
  EXPECT_TRUE(sum.provenOptimal);
  EXPECT_EQ(sumPlacements({costing(100, 60, 50, 0)}).after, 0) << "nobody calls it";
}

/// In whatever order, the sum is the same; a part that costs more never makes it cost less.
TEST(PlacementTest, AddsUpInAnyOrderAndMonotonously) {
  Placement a = costing(100, 60, 50, 2), b = costing(10, 7, 7, 3), more = costing(10, 9, 7, 3);
  EXPECT_EQ(sumPlacements({a, b}).after, sumPlacements({b, a}).after);
  EXPECT_GT(sumPlacements({a, more}).after, sumPlacements({a, b}).after);
}

TEST(PlacementTest, SaturatesInsteadOfTurningNegative) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  Placement sum = sumPlacements({costing(most, most / 2, 1, 3), costing(most, 1, 1, 1)});
  EXPECT_EQ(sum.before, most);
  EXPECT_EQ(sum.after, most);
  EXPECT_EQ(sum.lowerBound, 4);
}

TEST(PlacementTest, IsAsSureAsItsLeastSurePart) {
  Placement sure = costing(1, 1, 1, 1), other = sure;
  other.provenOptimal = false;
  other.assumedTrips = true;
  other.modelledError = 1e-3;
  Placement sum = sumPlacements({sure, other, sure});
  EXPECT_FALSE(sum.provenOptimal);
  EXPECT_TRUE(sum.assumedTrips);
  EXPECT_FALSE(sum.assumedSizes);
  ASSERT_TRUE(sum.modelledError);
  EXPECT_EQ(*sum.modelledError, 1e-3);
  EXPECT_FALSE(sumPlacements({sure}).modelledError);
}

TEST(PlacementTest, FormatsThreeDigits) {
  EXPECT_EQ(formatTime(0), "0 ps");
  EXPECT_EQ(formatTime(999), "999 ps");
  EXPECT_EQ(formatTime(1000), "1 ns");
  EXPECT_EQ(formatTime(2'500'000), "2.5 us");
  EXPECT_EQ(formatTime(123'456), "123 ns");
  EXPECT_EQ(formatTime(999'700), "1 us") << "rounded, it is of the next unit";
  EXPECT_EQ(formatTime(99'970), "100 ns");
  EXPECT_EQ(formatTime(5'000'000'000'000'000), "5000 s") << "no larger unit";
  EXPECT_EQ(formatBytes(1300), "1.3 kB");
  EXPECT_EQ(formatAmount(1300, "memory"), "1.3 kB");
  EXPECT_EQ(formatAmount(1300, "time"), "1.3 ns");
}

TEST(SuggestionTest, SaysWhatIsFoundAndWhereTheFormatEnds) {
  Suggestion clamp = {"clamp", "clamp-unproven=true", "operand 0", 1e6, 65504, "f16"};
  EXPECT_EQ(describeSuggestion(clamp),
            "clamp (clamp-unproven=true): operand 0 may reach 1e+06, f16 ends at 65504");
  clamp.found = std::numeric_limits<double>::infinity();
  EXPECT_EQ(describeSuggestion(clamp),
            "clamp (clamp-unproven=true): operand 0 has no bound, f16 ends at 65504");
  Suggestion norm = {"pre-scaled norm", "prescale-norms=true", "operand 1", 1e6, 65504, "f16", -5};
  EXPECT_TRUE(StringRef(describeSuggestion(norm)).ends_with("; times 2^-5 it fits"));
  Suggestion power = {"powers of two", "scale-by-powers=true", "operand 0", 1e6, 65504, "f16"};
  EXPECT_TRUE(StringRef(describeSuggestion(power)).contains("measured where it is computed"));
}

struct FunctionCopiesTest : testing::Test, AnalysisContext {};

TEST_F(FunctionCopiesTest, CallsOfAnOriginalAreThoseOfItsCopiesToo) {
  auto module = parse(R"(
func.func private @f(%x: f32) -> f32 {
  return %x : f32
}
func.func private @f_0(%x: f32) -> f32 attributes {mp.copy_of = "f"} {
  return %x : f32
}
func.func private @g(%x: f32) -> f32 attributes {mp.copy_of = "h"} {
  return %x : f32
}
func.func @main(%x: f32, %c: i1) -> f32 {
  %0 = call @f(%x) : (f32) -> f32
  %1 = scf.if %c -> f32 {
    %3 = func.call @f_0(%0) : (f32) -> f32
    scf.yield %3 : f32
  } else {
    scf.yield %0 : f32
  }
  %2 = call @g(%1) : (f32) -> f32
  return %2 : f32
}
)");
  auto named = [&](StringRef name) { return module->lookupSymbol<FunctionOpInterface>(name); };
  EXPECT_FALSE(getOriginalName(named("f")));
  EXPECT_EQ(getOriginalName(named("f_0")).getValue(), "f");
  auto namesOf = [&](StringRef original) {
    std::vector<std::string> names;
    for (CallOpInterface call : findCallsOf(getMain(*module), original))
      names.push_back(
          cast<SymbolRefAttr>(call.getCallableForCallee()).getLeafReference().getValue().str());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(namesOf("f"), (Names{"f", "f_0"}));
  EXPECT_EQ(namesOf("h"), Names{"g"});
  EXPECT_EQ(namesOf("f_0"), Names{"f_0"}) << "by its own name";
  EXPECT_EQ(namesOf("nobody"), Names{});
}

} // namespace
