// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hypotheses of the lemmas violated by moving, rounding, masking or changing one of two values:
// each graph beside a twin of which the lemma holds.

#include "LemmaCase.h"

#include <functional>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// x less the maximum of rows of `of`, "x" or what `change` makes of it, itself changed by `then`.
std::string shiftedByMaximumOf(const std::function<std::string(GraphText &)> &change,
                               const std::function<std::string(GraphText &, std::string)> &then) {
  GraphText g(
      {"%x: tensor<4x4xf32>", "%y: tensor<4x4xf32>", "%v: tensor<4xf32>", "%m: tensor<4x4xi1>"});
  std::string max = g.reduce("maximumf", change ? change(g) : "%x", 1, kMinusInfinity);
  return g.finish(g.withVector("subf", "%x", then ? then(g, max) : max, "d0"));
}

std::string roundedTo(GraphText &g, llvm::StringRef value, llvm::StringRef format) {
  std::string narrow = g.append(
      llvm::formatv("arith.truncf {0} : tensor<4x4xf32> to tensor<4x4x{1}>", value, format));
  return g.append(
      llvm::formatv("arith.extf {0} : tensor<4x4x{1}> to tensor<4x4xf32>", narrow, format));
}

std::string masked(GraphText &g, llvm::StringRef value, llvm::StringRef other) {
  return g.append(
      llvm::formatv("arith.select %m, {0}, {1} : tensor<4x4xi1>, tensor<4x4xf32>", value, other));
}

constexpr const char *kPart = "[0, 0] [4, 4] [1, 1]";

/// Two 4x4 parts of an 8x8 tensor, as `tensor.extract_slice` takes them, the second read through
/// `map`: their difference.
std::string differenceOfParts(const char *part, const char *other, const char *map = "d0, d1") {
  return llvm::formatv(R"(
func.func @main(%x: tensor<8x8xf32>) -> tensor<4x4xf32> {{
  %a = tensor.extract_slice %x{0} : tensor<8x8xf32> to tensor<4x4xf32>
  %b = tensor.extract_slice %x{1} : tensor<8x8xf32> to tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ({2})>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {{
    ^bb0(%p: f32, %q: f32, %out: f32):
      %r = arith.subf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
)",
                       part, other, map);
}

/// A window of x, `divided` long, over the root of the squares of one that is `summed` long, both
/// from `stride` i on.
std::string overWindows(int summed, int divided, int strideOfSum = 1) {
  return llvm::formatv(R"(
func.func @main(%x: tensor<9xf32>) -> tensor<3x{1}xf32> {{
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant dense<1.0e-05> : tensor<3xf32>
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %w = tensor.empty() : tensor<{0}xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> ({2} * d0 + d1)>, affine_map<(d0, d1) -> (d1)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf32>, tensor<{0}xf32>) outs(%f : tensor<3xf32>) {{
    ^bb0(%p: f32, %q: f32, %out: f32):
      %m = arith.mulf %p, %p : f32
      %r = arith.addf %out, %m : f32
      linalg.yield %r : f32
    } -> tensor<3xf32>
  %se = arith.addf %s, %eps : tensor<3xf32>
  %root = math.sqrt %se : tensor<3xf32>
  %o = tensor.empty() : tensor<3x{1}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %root : tensor<9xf32>, tensor<3xf32>) outs(%o : tensor<3x{1}xf32>) {{
    ^bb0(%p: f32, %q: f32, %out: f32):
      %r = arith.divf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<3x{1}xf32>
  return %y : tensor<3x{1}xf32>
}
)",
                       summed, divided, strideOfSum);
}

/// Returns what `of` chooses where `compared` (a value and the limit, or others) says that x is
/// larger.
std::string chosenBy(llvm::StringRef compared, llvm::StringRef yes, llvm::StringRef no) {
  GraphText g({"%x: tensor<4x4xf32>", "%y: tensor<4x4xf32>"});
  std::string e = g.append("tensor.empty() : tensor<4x4xf32>");
  std::string limit = g.splat("8.0");
  std::string turned = g.append(llvm::formatv(
      "linalg.transpose ins(%x : tensor<4x4xf32>) outs({0} : tensor<4x4xf32>) permutation = [1, 0]",
      e));
  std::string updated = g.binary("addf", "%x", "%y");
  auto pick = [&](llvm::StringRef which) {
    return which == "limit"     ? limit
           : which == "turned"  ? turned
           : which == "updated" ? updated
                                : ("%" + which).str();
  };
  std::string truth =
      g.append(llvm::formatv("arith.cmpf ogt, {0}, {1} : tensor<4x4xf32>", pick(compared), limit));
  return g.finish(g.append(llvm::formatv(
      "arith.select {0}, {1}, {2} : tensor<4x4xi1>, tensor<4x4xf32>", truth, pick(yes), pick(no))));
}

/// exp(x - max x), changed by `change`, summed along rows from `init`.
std::string sumOfShifted(const std::function<std::string(GraphText &, std::string)> &change,
                         const char *init = "0.0") {
  GraphText g(
      {"%x: tensor<4x4xf32>", "%y: tensor<4x4xf32>", "%v: tensor<4xf32>", "%m: tensor<4x4xi1>"});
  std::string max = g.reduce("maximumf", "%x", 1, kMinusInfinity);
  std::string terms = change(g, g.withVector("subf", "%x", max, "d0"));
  return g.finish(g.reduce("addf", terms, 1, init), "tensor<4xf32>");
}

} // namespace

std::vector<LemmaCase> mlir::mp::test::lemmaHypothesisCases() {
  using L = Lemma;
  using G = GraphText &;
  auto exp = [](G g, std::string shifted) { return g.unary("exp", shifted); };
  return {
      // The same element, or one beside it.
      {"self_of_parts", L::SelfDifference, differenceOfParts(kPart, kPart)},
      {"self_of_other_rows", std::nullopt, differenceOfParts(kPart, "[1, 0] [4, 4] [1, 1]")},
      {"self_of_other_columns", std::nullopt, differenceOfParts(kPart, "[0, 4] [4, 4] [1, 1]")},
      {"self_of_strided", std::nullopt, differenceOfParts(kPart, "[0, 0] [4, 4] [2, 1]")},
      {"self_of_strided_alike", L::SelfDifference,
       differenceOfParts("[0, 0] [4, 4] [2, 1]", "[0, 0] [4, 4] [2, 1]")},
      {"self_of_reversed", std::nullopt, differenceOfParts(kPart, kPart, "d0, 3 - d1")},
      {"self_of_exchanged_axes", std::nullopt, differenceOfParts(kPart, kPart, "d1, d0")},
      {"self_of_rounded", std::nullopt,
       [] {
         GraphText g;
         return g.finish(g.binary("subf", "%x", roundedTo(g, "%x", "bf16")));
       }()},

      // b is a maximum over a group in which a lies, or of two, or that plus something not
      // negative.
      {"max_or_another", L::GroupMaximum,
       shiftedByMaximumOf(
           nullptr, [](G g, std::string max) { return g.binary("maximumf", max, "%v", "4"); })},
      {"min_of_max_and_another", std::nullopt,
       shiftedByMaximumOf(
           nullptr, [](G g, std::string max) { return g.binary("minimumf", max, "%v", "4"); })},
      {"max_dropped_for_nan", std::nullopt,
       shiftedByMaximumOf(
           nullptr, [](G g, std::string max) { return g.binary("maxnumf", max, "%v", "4"); })},
      {"max_plus_magnitude", L::GroupMaximum,
       shiftedByMaximumOf(nullptr,
                          [](G g, std::string max) {
                            return g.binary("addf", max, g.unary("absf", "%v", "4"), "4");
                          })},
      {"max_plus_any", std::nullopt,
       shiftedByMaximumOf(nullptr,
                          [](G g, std::string max) { return g.binary("addf", max, "%v", "4"); })},
      {"max_less_magnitude", std::nullopt,
       shiftedByMaximumOf(nullptr,
                          [](G g, std::string max) {
                            return g.binary("subf", max, g.unary("absf", "%v", "4"), "4");
                          })},
      {"max_halved", std::nullopt,
       shiftedByMaximumOf(nullptr,
                          [](G g, std::string max) { return g.vectorWith("mulf", max, "0.5"); })},
      {"max_of_the_rounded", std::nullopt,
       shiftedByMaximumOf([](G g) { return roundedTo(g, "%x", "bf16"); }, nullptr)},
      {"max_of_the_masked", std::nullopt,
       shiftedByMaximumOf([](G g) { return masked(g, "%x", "%y"); }, nullptr)},
      {"max_of_the_clamped", std::nullopt,
       shiftedByMaximumOf([](G g) { return g.binary("minimumf", "%x", g.splat("8.0")); }, nullptr)},
      {"max_of_an_update", std::nullopt,
       shiftedByMaximumOf([](G g) { return g.binary("addf", "%x", "%y"); }, nullptr)},
      {"max_of_reversed_rows", std::nullopt,
       shiftedByMaximum(1, "d0", kMinusInfinity, "3 - d0, d1")},
      {"max_spread_reversed", std::nullopt, shiftedByMaximum(1, "3 - d0", kMinusInfinity)},

      // Windows of fewer elements, or of others.
      {"windows_of_fewer", std::nullopt, overWindows(3, 4)},
      {"windows_strided", std::nullopt, overWindows(3, 3, 2)},

      // b sums |a|^p, and nothing less.
      {"over_sum_from_above", L::DominatedQuotient, overSum("d0", "exp", 1, "1.0")},
      {"over_sum_spread_reversed", std::nullopt, overSum("3 - d0", "exp")},

      // Some term of the sum is exp(0), and no other is negative.
      {"exponentials_from_below", std::nullopt, sumOfShifted(exp, "-1.0")},
      {"exponentials_masked", std::nullopt, sumOfShifted([](G g, std::string d) {
         return masked(g, g.unary("exp", d), g.splat("0.0"));
       })},
      {"exponentials_scaled", std::nullopt, sumOfShifted([](G g, std::string d) {
         return g.binary("mulf", g.unary("exp", d), g.splat("0.5"));
       })},
      {"exponentials_less_another", std::nullopt, sumOfShifted([](G g, std::string d) {
         return g.binary("subf", g.unary("exp", d), g.unary("absf", "%y"));
       })},
      {"exponentials_of_shifted_twice", std::nullopt, sumOfShifted([](G g, std::string d) {
         return g.unary("exp", g.binary("subf", d, g.splat("1.0")));
       })},

      // The chosen value was compared, here and not elsewhere.
      {"choice_where_compared", L::ComparedChoice, chosenBy("x", "limit", "x")},
      {"choice_of_the_transposed", std::nullopt, chosenBy("turned", "limit", "x")},
      {"choice_by_another", std::nullopt, chosenBy("y", "limit", "x")},
      {"choice_before_an_update", std::nullopt, chosenBy("x", "limit", "updated")},
  };
}

namespace {
using LemmaHypothesesTest = LemmaCaseTest;

TEST_P(LemmaHypothesesTest, AreChecked) { check(); }

INSTANTIATE_TEST_SUITE_P(Of, LemmaHypothesesTest, testing::ValuesIn(lemmaHypothesisCases()),
                         [](auto &info) { return info.param.name; });

} // namespace
