// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph whose result a lemma bounds or must not, how that is checked, and graphs that several
// tests change in one place.

#ifndef MP_TEST_ANALYSIS_LEMMACASE_H
#define MP_TEST_ANALYSIS_LEMMACASE_H

#include "AnalysisTest.h"
#include "GraphText.h"
#include "mp/Analysis/Ranges/Lemmas.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp::test {

/// A graph whose result a lemma bounds, or must not.
struct LemmaCase {
  const char *name;
  std::optional<Lemma> lemma;
  std::string text;
};

/// All cases: each lemma with its hypotheses (LemmasTest.cpp), ways of moving, rounding and
/// changing one of two values (LemmaHypothesesTest.cpp), and groups of reshaped tensors
/// (LemmaReshapesTest.cpp).
std::vector<LemmaCase> lemmaCases();
std::vector<LemmaCase> lemmaReshapeCases();
std::vector<LemmaCase> lemmaHypothesisCases();

inline constexpr const char *kMinusInfinity = "0xFF800000";

struct LemmaCaseTest : testing::TestWithParam<LemmaCase>, AnalysisContext {
  /// Expects of the only result of @main what the case says.
  void check() {
    const LemmaCase &tried = GetParam();
    auto module = parse(tried.text);
    ASSERT_TRUE(module);
    ModuleRanges ranges(*module);
    const FunctionRanges &found = ranges.get(getMain(*module));
    Value result = getReturned(*module)[0];
    const LemmaBound *bound = found.findLemma(result);
    EXPECT_EQ(bound ? toString(bound->lemma).str() : "none",
              tried.lemma ? toString(*tried.lemma).str() : "none")
        << tried.text << found.lookup(result).facts.range.lo << " "
        << found.lookup(result).facts.range.hi;
  }
};

inline std::string shiftedByMaximum(unsigned axis, const char *map, const char *init,
                                    const char *mapOfMax = "d0, d1", const char *mapOfX = "d0, d1",
                                    const char *combiner = "maximumf") {
  GraphText g;
  return g.finish(
      g.withVector("subf", "%x", g.reduce(combiner, "%x", axis, init, mapOfMax), map, mapOfX));
}

inline std::string overSum(const char *map, const char *function, unsigned axis = 1,
                           const char *init = "0.0") {
  GraphText g;
  std::string positive = g.unary(function, "%x");
  return g.finish(g.withVector("divf", positive, g.reduce("addf", positive, axis, init), map));
}

} // namespace mlir::mp::test

#endif // MP_TEST_ANALYSIS_LEMMACASE_H
