// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lemmas behind a reshape: groups of a reshaped tensor, with statistics that are reshaped back to
// where x is. Each hypothesis is violated by moving, replacing or regrouping one of the two.

#include "LemmaCase.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// x[4, 4] in two groups of eight, a statistic of each, and what x and that make together.
struct Groups {
  const char *of = "%x";      ///< what is grouped
  const char *to = "%x";      ///< what meets the statistic
  const char *spread = "2x8"; ///< the shape in which it is spread
  const char *map = "d0";     ///< and along what
  const char *back = "%back"; ///< or transposed: %turned
  bool isPartial = false;     ///< of the first half of each group

  /// x - max x
  std::string maximum() const { return text("maximumf", "0xFF800000", "%in", "subf", "%stat"); }
  /// x / sqrt(sum x^2 + e)
  std::string norm() const { return text("addf", "0.0", "%square", "divf", "%root"); }

private:
  std::string text(const char *combiner, const char *init, const char *term, const char *together,
                   const char *statistic) const {
    std::string body = R"(
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %flat = tensor.collapse_shape OF [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %groups = tensor.expand_shape %flat [[0, 1]] output_shape [2, 8] : tensor<16xf32> into tensor<2x8xf32>
  %part = tensor.extract_slice %groups[0, 0] [2, 4] [1, 1] : tensor<2x8xf32> to tensor<2x4xf32>
  %i = arith.constant INIT : f32
  %s = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%i : f32) outs(%s : tensor<2xf32>) -> tensor<2xf32>
  %stat = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
    iterator_types = ["parallel", "reduction"]} ins(GROUPS) outs(%f : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %r = arith.COMBINER %out, TERM : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %eps = arith.constant dense<1.0e-05> : tensor<2xf32>
  %more = arith.addf %stat, %eps : tensor<2xf32>
  %root = math.sqrt %more : tensor<2xf32>
  %w = tensor.empty() : tensor<SHAPExf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (MAP)>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]} ins(STATISTIC : tensor<2xf32>) outs(%w : tensor<SHAPExf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<SHAPExf32>
  %line = tensor.collapse_shape %wide [[0, 1]] : tensor<SHAPExf32> into tensor<16xf32>
  %back = tensor.expand_shape %line [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %turned = linalg.transpose ins(%back : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %y2 = arith.TOGETHER TO, BACK : tensor<4x4xf32>
  return %y2 : tensor<4x4xf32>
}
)";
    const char *groups = isPartial ? "%part : tensor<2x4xf32>" : "%groups : tensor<2x8xf32>";
    const std::pair<const char *, const char *> words[] = {{"OF", of},
                                                           {"INIT", init},
                                                           {"GROUPS", groups},
                                                           {"COMBINER", combiner},
                                                           {"TERM", term},
                                                           {"SHAPE", spread},
                                                           {"MAP", map},
                                                           {"STATISTIC", statistic},
                                                           {"TOGETHER", together},
                                                           {"TO", to},
                                                           {"BACK", back}};
    for (auto [word, text] : words)
      for (size_t at; (at = body.find(word)) != std::string::npos;)
        body.replace(at, strlen(word), text);
    return body;
  }
};

} // namespace

std::vector<LemmaCase> mlir::mp::test::lemmaReshapeCases() {
  using L = Lemma;
  Groups moved, behind, another, met, alternating, partial;
  moved.of = "%t";
  behind.back = "%turned";
  another.of = "%y";
  met.to = "%t";
  alternating.spread = "8x2", alternating.map = "d1"; // of the first group at every other element
  partial.isPartial = true;
  Groups both; // transposed before and behind: the groups of the transposed
  both.of = "%t", both.to = "%t";
  return {
      {"max_of_groups", L::GroupMaximum, Groups().maximum()},
      {"max_of_groups_of_the_transposed", L::GroupMaximum, both.maximum()},
      {"max_of_groups_moved", std::nullopt, moved.maximum()},
      {"max_of_groups_moved_back", std::nullopt, behind.maximum()},
      {"max_of_groups_of_another", std::nullopt, another.maximum()},
      {"max_of_groups_beside_the_transposed", std::nullopt, met.maximum()},
      {"max_of_groups_spread_alternating", std::nullopt, alternating.maximum()},
      {"max_of_half_groups", std::nullopt, partial.maximum()},
      {"norm_of_groups", L::DominatedQuotient, Groups().norm()},
      {"norm_of_groups_of_the_transposed", L::DominatedQuotient, both.norm()},
      {"norm_of_groups_moved", std::nullopt, moved.norm()},
      {"norm_of_groups_moved_back", std::nullopt, behind.norm()},
      {"norm_of_groups_of_another", std::nullopt, another.norm()},
      {"norm_of_groups_beside_the_transposed", std::nullopt, met.norm()},
      {"norm_of_groups_spread_alternating", std::nullopt, alternating.norm()},
      {"norm_of_half_groups", std::nullopt, partial.norm()},
  };
}

namespace {
using LemmaReshapesTest = LemmaCaseTest;

TEST_P(LemmaReshapesTest, HoldsExactlyUnderItsHypotheses) { check(); }

INSTANTIATE_TEST_SUITE_P(Of, LemmaReshapesTest, testing::ValuesIn(lemmaReshapeCases()),
                         [](auto &info) { return info.param.name; });

/// The groups are those before the reshape, so no norm along rows of x is concluded.
struct ReshapedNormTest : testing::Test, AnalysisContext {};

TEST_F(ReshapedNormTest, SaysNothingOfRowsBehindIt) {
  auto module = parse(Groups().norm());
  ModuleRanges ranges(*module);
  Value result = getReturned(*module)[0];
  const LemmaBound *bound = ranges.get(getMain(*module)).findLemma(result);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->normDims, 0u);
  EXPECT_NEAR(ranges.lookup(result).facts.range.hi, 1, 1e-3);
}

} // namespace
