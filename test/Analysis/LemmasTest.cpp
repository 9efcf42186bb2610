// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each lemma holds where its hypotheses do, and is refused where one of them is violated: a table
// of graphs that differ in one place.

#include "LemmaCase.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// x / sqrt(mean x^2 + e), of which each part can be put differently.
struct RootMeanSquare {
  std::string squared = "%x", divided = "%x";
  unsigned axis = 1;
  const char *map = "d0", *mapOfDivided = "d0, d1", *mapOfSquared = "d0, d1";
  const char *count = "0.25", *epsilon = "1.0e-05", *outside = nullptr;
  const char *power = nullptr, *square = nullptr; ///< exponents in place of root and product
  bool isRounded = false, isSliced = false;

  std::string text() const {
    GraphText g({"%x: tensor<4x4xf32>", "%y: tensor<4x4xf32>"});
    std::string of = squared;
    if (isRounded)
      of = g.append(llvm::formatv(
          "arith.extf {0} : tensor<4x4xbf16> to tensor<4x4xf32>",
          g.append(llvm::formatv("arith.truncf {0} : tensor<4x4xf32> to tensor<4x4xbf16>", of))));
    std::string squares = g.binary("mulf", of, of);
    if (square)
      squares =
          g.append(llvm::formatv("math.powf {0}, {1} : tensor<4x4xf32>", of, g.splat(square)));
    std::string mean =
        g.vectorWith("mulf", g.reduce("addf", squares, axis, "0.0", mapOfSquared), count);
    std::string inside = epsilon ? g.vectorWith("addf", mean, epsilon) : mean;
    std::string root = g.vector("sqrt", inside);
    if (power) {
      std::string exponent = g.constant(llvm::formatv("dense<{0}>", power).str(), "tensor<4xf32>");
      root = g.append(llvm::formatv("math.powf {0}, {1} : tensor<4xf32>", inside, exponent));
    }
    if (outside)
      root = g.vectorWith("addf", root, outside);
    return g.finish(g.withVector("divf", divided, root, map, mapOfDivided));
  }
};

/// x[i, j, k] less the maximum of x[`mapOfX`, k] over k: of the same rows of a batch, or of others.
std::string shiftedByMaximumOfBatch(const char *mapOfX) {
  return llvm::formatv(R"(
func.func @main(%x: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {{
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x4x4xf32>
  %s = tensor.empty() : tensor<4x4xf32>
  %i = linalg.fill ins(%lowest : f32) outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> ({0}, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x4x4xf32>) outs(%i : tensor<4x4xf32>) {{
  ^bb0(%p: f32, %out: f32):
    %r = arith.maximumf %out, %p : f32
    linalg.yield %r : f32
  } -> tensor<4x4xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>,
    affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %m : tensor<4x4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4x4xf32>) {{
  ^bb0(%p: f32, %q: f32, %out: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<4x4x4xf32>
  return %y : tensor<4x4x4xf32>
}
)",
                       mapOfX);
}

/// sum of exp(x - max x), the maximum along one axis and the sum along another.
std::string shiftedExponentials(unsigned axisOfMax, const char *map, unsigned axisOfSum,
                                const char *init = kMinusInfinity, bool shifts = true) {
  GraphText g;
  std::string max = g.reduce("maximumf", "%x", axisOfMax, init);
  std::string shifted = shifts ? g.withVector("subf", "%x", max, map) : std::string("%x");
  std::string sum = g.reduce("addf", g.unary("exp", shifted), axisOfSum);
  return g.finish(sum, "tensor<4xf32>");
}

std::string overLargest(const char *map, bool ofMagnitudes, const char *floor) {
  GraphText g;
  std::string of = ofMagnitudes ? g.unary("absf", "%x") : std::string("%x");
  std::string largest = g.reduce("maximumf", of, 1, kMinusInfinity);
  if (floor)
    largest = g.vectorWith("maximumf", largest, floor);
  return g.finish(g.withVector("divf", "%x", largest, map));
}

/// y windows of x: sums over x[i + j], subtracted from or divided into x[i + j] with other sizes.
std::string overWindow() {
  return R"(
    func.func @main(%x: tensor<7xf32>) -> tensor<3x5xf32> {
      %zero = arith.constant 0.0 : f32
      %eps = arith.constant dense<1.0e-05> : tensor<3xf32>
      %e = tensor.empty() : tensor<3xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
      %w = tensor.empty() : tensor<2xf32>
      %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>,
          affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
          ins(%x, %w : tensor<7xf32>, tensor<2xf32>) outs(%f : tensor<3xf32>) {
        ^bb0(%p: f32, %q: f32, %out: f32):
          %m = arith.mulf %p, %p : f32
          %r = arith.addf %out, %m : f32
          linalg.yield %r : f32
        } -> tensor<3xf32>
      %se = arith.addf %s, %eps : tensor<3xf32>
      %root = math.sqrt %se : tensor<3xf32>
      %o = tensor.empty() : tensor<3x5xf32>
      %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d0)>,
          affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%x, %root : tensor<7xf32>, tensor<3xf32>) outs(%o : tensor<3x5xf32>) {
        ^bb0(%p: f32, %q: f32, %out: f32):
          %r = arith.divf %p, %q : f32
          linalg.yield %r : f32
        } -> tensor<3x5xf32>
      return %y : tensor<3x5xf32>
    })";
}

/// x / sqrt(sum of squares of a slice of x + e).
std::string overSlice(bool normalizesSlice) {
  std::string body = R"(
    func.func @main(%x: tensor<4x4xf32>) -> tensor<4xf32> {
      %zero = arith.constant 0.0 : f32
      %eps = arith.constant 1.0e-05 : f32
      %part = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
      %other = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
      %e = tensor.empty() : tensor<f32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
      %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
          iterator_types = ["reduction"]} ins(%part : tensor<4xf32>) outs(%f : tensor<f32>) {
        ^bb0(%p: f32, %out: f32):
          %m = arith.mulf %p, %p : f32
          %r = arith.addf %out, %m : f32
          linalg.yield %r : f32
        } -> tensor<f32>
      %o = tensor.empty() : tensor<4xf32>
      %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>,
          affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(SOURCE, %s : tensor<4xf32>, tensor<f32>) outs(%o : tensor<4xf32>) {
        ^bb0(%p: f32, %q: f32, %out: f32):
          %qe = arith.addf %q, %eps : f32
          %root = math.sqrt %qe : f32
          %r = arith.divf %p, %root : f32
          linalg.yield %r : f32
        } -> tensor<4xf32>
      return %y : tensor<4xf32>
    })";
  size_t at = body.find("SOURCE");
  return body.replace(at, 6, normalizesSlice ? "%part" : "%other");
}

/// x or a limit of magnitude 8, which may be NaN or not, as a comparison of the two says.
std::string selected(const char *predicate, const char *yes, const char *no,
                     bool limitIsNaN = false) {
  GraphText g({"%x: tensor<4x4xf32>", "%y: tensor<4x4xf32>"});
  std::string limit = g.splat("8.0");
  if (limitIsNaN)
    limit = g.binary("minimumf", g.binary("maximumf", "%y", g.splat("-8.0")), limit);
  auto pick = [&](llvm::StringRef which) { return which == "limit" ? limit : std::string("%x"); };
  std::string truth =
      g.append(llvm::formatv("arith.cmpf {0}, %x, {1} : tensor<4x4xf32>", predicate, limit));
  return g.finish(g.append(llvm::formatv(
      "arith.select {0}, {1}, {2} : tensor<4x4xi1>, tensor<4x4xf32>", truth, pick(yes), pick(no))));
}

/// (x g) / sqrt(sum x^2 + e), x and g as large as their ranges say; "" for anything.
std::string gained(const char *rangeOfX, const char *rangeOfGain) {
  GraphText g({std::string("%x: tensor<4x4xf32>") + rangeOfX,
               std::string("%g: tensor<4x4xf32>") + rangeOfGain});
  std::string sum = g.reduce("addf", g.binary("mulf", "%x", "%x"), 1);
  std::string root = g.vector("sqrt", g.vectorWith("addf", sum, "1.0e-05"));
  return g.finish(g.withVector("divf", g.binary("mulf", "%x", "%g"), root, "d0"));
}

/// |x| (1 / (sum |x| + e)), or without e.
std::string timesInverse(const char *epsilon) {
  GraphText g;
  std::string size = g.unary("absf", "%x");
  std::string sum = g.reduce("addf", size, 1);
  if (epsilon)
    sum = g.vectorWith("addf", sum, epsilon);
  std::string one = g.constant("dense<1.0>", "tensor<4xf32>");
  return g.finish(g.withVector("mulf", size, g.binary("divf", one, sum, "4"), "d0"));
}

} // namespace

std::vector<LemmaCase> mlir::mp::test::lemmaCases() {
  using L = Lemma;
  RootMeanSquare rms;
  auto with = [&](auto change) {
    RootMeanSquare changed = rms;
    change(changed);
    return changed.text();
  };
  std::vector<LemmaCase> all = {
      // self-difference
      {"self", L::SelfDifference,
       [] {
         GraphText g;
         return g.finish(g.binary("subf", "%x", "%x"));
       }()},
      {"self_of_other", std::nullopt,
       [] {
         GraphText g({"%x: tensor<4x4xf32>", "%y: tensor<4x4xf32>"});
         return g.finish(g.binary("subf", "%x", "%y"));
       }()},
      {"self_transposed", std::nullopt,
       [] {
         GraphText g;
         std::string e = g.append("tensor.empty() : tensor<4x4xf32>");
         std::string t =
             g.append(llvm::formatv("linalg.transpose ins(%x : tensor<4x4xf32>) outs({0} : "
                                    "tensor<4x4xf32>) permutation = [1, 0]",
                                    e));
         return g.finish(g.binary("subf", "%x", t));
       }()},
      {"self_of_two_sums", std::nullopt,
       [] { // added up in orders that may differ
         GraphText g;
         std::string a = g.reduce("addf", "%x", 1), b = g.reduce("addf", "%x", 1);
         return g.finish(g.binary("subf", a, b, "4"), "tensor<4xf32>");
       }()},

      // group-maximum
      {"max_of_rows", L::GroupMaximum, shiftedByMaximum(1, "d0", kMinusInfinity)},
      {"max_of_columns", L::GroupMaximum, shiftedByMaximum(0, "d1", kMinusInfinity)},
      {"max_from_lowest", L::GroupMaximum, shiftedByMaximum(1, "d0", "-3.40282347E+38")},
      {"max_from_number", L::GroupMaximum, shiftedByMaximum(1, "d0", "1.0")},
      {"max_transposed_twice", L::GroupMaximum,
       shiftedByMaximum(1, "d0", kMinusInfinity, "d1, d0", "d1, d0")},
      {"max_along_the_other_axis", std::nullopt, shiftedByMaximum(1, "d1", kMinusInfinity)},
      {"max_of_the_transposed", std::nullopt, shiftedByMaximum(1, "d0", kMinusInfinity, "d1, d0")},
      {"max_beside_the_transposed", std::nullopt,
       shiftedByMaximum(1, "d0", kMinusInfinity, "d0, d1", "d1, d0")},
      {"max_of_the_same_batch", L::GroupMaximum, shiftedByMaximumOfBatch("d0, d1")},
      {"max_of_another_batch", std::nullopt, shiftedByMaximumOfBatch("d1, d0")},
      {"min_of_rows", L::GroupMaximum,
       shiftedByMaximum(1, "d0", "0x7F800000", "d0, d1", "d0, d1", "minimumf")},

      // dominated-quotient, and its norm
      {"rms", L::DominatedQuotient, rms.text()},
      {"rms_of_columns", L::DominatedQuotient, with([](auto &r) { r.axis = 0, r.map = "d1"; })},
      {"rms_with_epsilon_outside", L::DominatedQuotient,
       with([](auto &r) { r.epsilon = nullptr, r.outside = "1.0e-05"; })},
      {"rms_by_a_power", L::DominatedQuotient, with([](auto &r) { r.power = "0.5"; })},
      {"rms_by_a_smaller_power", std::nullopt, with([](auto &r) { r.power = "0.25"; })},
      {"rms_of_powers", L::DominatedQuotient, with([](auto &r) { r.square = "2.0"; })},
      {"rms_of_other_powers", std::nullopt, with([](auto &r) { r.square = "1.5"; })},
      {"rms_of_powers_of_another", std::nullopt,
       with([](auto &r) { r.square = "2.0", r.divided = "%y"; })},
      {"rms_wrong_count", L::DominatedQuotient, with([](auto &r) { r.count = "7.0"; })},
      {"rms_along_the_other_axis", std::nullopt, with([](auto &r) { r.map = "d1"; })},
      {"rms_of_the_transposed", std::nullopt, with([](auto &r) { r.mapOfSquared = "d1, d0"; })},
      {"rms_divides_the_transposed", std::nullopt,
       with([](auto &r) { r.mapOfDivided = "d1, d0"; })},
      {"rms_of_another", std::nullopt, with([](auto &r) { r.divided = "%y"; })},
      {"rms_of_the_rounded", std::nullopt, with([](auto &r) { r.isRounded = true; })},
      {"rms_without_epsilon", std::nullopt, with([](auto &r) { r.epsilon = nullptr; })},
      {"rms_negative_epsilon", std::nullopt, with([](auto &r) { r.epsilon = "-1.0e-05"; })},
      {"rms_subnormal_epsilon", std::nullopt, with([](auto &r) { r.epsilon = "1.0e-45"; })},
      {"rms_negative_count", std::nullopt, with([](auto &r) { r.count = "-0.25"; })},
      {"rms_zero_count", std::nullopt, with([](auto &r) { r.count = "0.0"; })},
      {"window", std::nullopt, overWindow()},
      {"slice", L::DominatedQuotient, overSlice(true)},
      {"another_slice", std::nullopt, overSlice(false)},
      {"over_sum", L::DominatedQuotient, overSum("d0", "exp")},
      {"over_sum_of_magnitudes", L::DominatedQuotient, overSum("d0", "absf")},
      {"over_sum_of_any_sign", std::nullopt, overSum("d0", "sin")},
      {"over_sum_of_the_other_axis", std::nullopt, overSum("d1", "exp")},
      {"over_sum_from_below", std::nullopt, overSum("d0", "exp", 1, "-1.0")},
      {"over_largest", L::DominatedQuotient, overLargest("d0", true, nullptr)},
      {"over_largest_or_one", L::DominatedQuotient, overLargest("d0", true, "1.0")},
      {"over_largest_of_any_sign", std::nullopt, overLargest("d0", false, nullptr)},
      {"over_largest_of_the_other_axis", std::nullopt, overLargest("d1", true, nullptr)},
      {"gain_bounded", L::DominatedQuotient,
       gained(" {mp.range = [-1.0e+30, 1.0e+30]}", " {mp.range = [-4.0, 4.0]}")},
      {"gain_unbounded", std::nullopt, gained(" {mp.range = [-1.0e+30, 1.0e+30]}", "")},
      {"gain_before_an_overflow", std::nullopt, gained("", " {mp.range = [-4.0, 4.0]}")},
      {"inverse_of_a_sum", L::DominatedQuotient, timesInverse("1.0e-05")},
      {"inverse_that_overflows", std::nullopt, timesInverse(nullptr)},

      // shifted-exponentials
      {"exponentials", L::ShiftedExponentials, shiftedExponentials(1, "d0", 1)},
      {"exponentials_of_columns", L::ShiftedExponentials, shiftedExponentials(0, "d1", 0)},
      {"exponentials_summed_across", std::nullopt, shiftedExponentials(1, "d0", 0)},
      {"exponentials_shifted_across", std::nullopt, shiftedExponentials(1, "d1", 1)},
      {"exponentials_above_a_number", std::nullopt, shiftedExponentials(1, "d0", 1, "0.0")},
      {"exponentials_above_the_lowest", std::nullopt,
       shiftedExponentials(1, "d0", 1, "-3.40282347E+38")},
      // compared-choice
      {"choice_of_the_smaller", L::ComparedChoice, selected("ogt", "limit", "x")},
      {"choice_of_the_smaller_or_equal", L::ComparedChoice, selected("ole", "x", "limit")},
      {"choice_of_the_larger", L::ComparedChoice, selected("ogt", "x", "limit")},
      {"choice_of_the_equal", std::nullopt, selected("one", "limit", "x")},
      {"choice_beside_nan", std::nullopt, selected("ogt", "limit", "x", true)},
      {"choice_that_nan_satisfies", L::ComparedChoice, selected("ugt", "limit", "x", true)},
      {"choice_that_nan_satisfies_too", std::nullopt, selected("ule", "x", "limit", true)},
      {"exponentials_not_shifted", std::nullopt,
       shiftedExponentials(1, "d0", 1, kMinusInfinity, false)},
  };
  return all;
}

namespace {
using LemmasTest = LemmaCaseTest;

TEST_P(LemmasTest, HoldsExactlyUnderItsHypotheses) { check(); }

INSTANTIATE_TEST_SUITE_P(Of, LemmasTest, testing::ValuesIn(lemmaCases()),
                         [](auto &info) { return info.param.name; });

} // namespace
