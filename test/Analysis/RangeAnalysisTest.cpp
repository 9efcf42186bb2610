// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Laws of the range analysis on small graphs: what a loop carries holds in every trip, a callee is
// analysed for each of its calls, NaN and infinities are facts, and evidence is the weakest of what
// a range rests on.

#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "AnalysisTest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;
using domains::FloatFacts;
using domains::Interval;

namespace {

struct RangeAnalysisTest : testing::Test, AnalysisContext {
  /// Returns what is known of the first result of @main.
  FloatFacts factsOf(StringRef text, RangeOptions options = {}) {
    module = parse(text);
    ranges = std::make_unique<ModuleRanges>(*module, options);
    return ranges->lookup(getReturned(*module)[0]).facts;
  }
  Evidence evidenceOf(StringRef text) {
    (void)factsOf(text);
    return ranges->get(getMain(*module))
        .findEvidence(getReturned(*module)[0], Float16Type::get(&context));
  }

  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ModuleRanges> ranges;
};

void expectWithin(const FloatFacts &facts, double lo, double hi) {
  EXPECT_GE(facts.range.lo, lo);
  EXPECT_LE(facts.range.hi, hi);
}

TEST_F(RangeAnalysisTest, CountsEveryTripOfALoop) {
  const char *text = R"(
func.func @main(%x: tensor<4xf32> {mp.range = [-1.0, 1.0]}, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %t = arith.addf %s, %x : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
)";
  FloatFacts facts = factsOf(text);
  EXPECT_FALSE(facts.range.isBounded() && facts.mag() < 1e30);
  std::string squashed(text);
  squashed.replace(squashed.find("arith.addf %s, %x"), 17, "math.tanh %s");
  expectWithin(factsOf(squashed), -1.001, 1.001);
}

/// Sums of s w[k, j] over k, for each j: the sums make a row, and what is read first has no such.
TEST_F(RangeAnalysisTest, TakesNormsOfRowsForThoseOfSumsOnlyWhereTheyAre) {
  auto normOf =
      [&](StringRef inputs, StringRef maps, StringRef arguments, StringRef value) {
        return factsOf((R"(
func.func @main(%s: tensor<1xf32> {mp.range = [-1.0, 1.0]}) -> tensor<1x3xf32> {
  %w = arith.constant dense<[[-1.5, -1.5, 0.0], [0.5, -2.0, 2.0]]> : tensor<2x3xf32>
  %zero = arith.constant dense<0.0> : tensor<1x3xf32>
  %r = linalg.generic {indexing_maps = [)" +
                        maps + R"(, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins()" +
                        inputs + R"() outs(%zero : tensor<1x3xf32>) {
  ^bb0()" + arguments + R"(, %o: f32):
    %m = )" + value + R"( : f32
    %a = arith.addf %o, %m : f32
    linalg.yield %a : f32
  } -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
})")
                           .str())
            .norm2;
      };
  double first = normOf("%s, %w : tensor<1xf32>, tensor<2x3xf32>",
                        "affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (k, j)>",
                        "%p: f32, %q: f32", "arith.mulf %p, %q");
  EXPECT_GE(first, std::sqrt(1 + 3.5 * 3.5 + 2 * 2)) << "which s = 1 gives";
  double rows =
      normOf("%w : tensor<2x3xf32>", "affine_map<(i, j, k) -> (k, j)>", "%q: f32", "arith.negf %q");
  EXPECT_GE(rows, std::sqrt(1 + 3.5 * 3.5 + 2 * 2));
  EXPECT_LE(rows, 2 * std::sqrt(0.25 + 4 + 4) * 1.001) << "two rows of w";
}

TEST_F(RangeAnalysisTest, KeepsWhatALoopThatMayNotRunLeaves) {
  expectWithin(factsOf(R"(
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant dense<7.0> : tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %seven) -> tensor<4xf32> {
    %t = math.tanh %x : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
)"),
               -1.001, 7);
  EXPECT_EQ(ranges->lookup(getReturned(*module)[0]).facts.range.hi, 7);
}

TEST_F(RangeAnalysisTest, AnalysesEachCallAlone) {
  const char *text = R"(
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {mp.range = [0.0, 1.0]}, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = call @twice(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
)";
  expectWithin(factsOf(text), 0, 2);
  EXPECT_FALSE(ranges->lookup(getReturned(*module)[1]).facts.range.isBounded());
  // Inside, the values are those of both calls.
  auto callee = module->lookupSymbol<FunctionOpInterface>("twice");
  EXPECT_FALSE(ranges->lookup(callee.getArgument(0)).facts.range.isBounded());
}

TEST_F(RangeAnalysisTest, KnowsNothingOfRecursion) {
  FloatFacts facts = factsOf(R"(
func.func private @grow(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %d = arith.addf %x, %x : tensor<4xf32>
    %s = func.call @grow(%d, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {mp.range = [0.0, 1.0]}, %c: i1) -> tensor<4xf32> {
  %a = call @grow(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
)");
  EXPECT_FALSE(facts.range.isBounded());
}

TEST_F(RangeAnalysisTest, TellsNaNFromRange) {
  // maxnum drops a NaN, maximum keeps it.
  const char *text = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %a = arith.maxnumf %x, %zero : tensor<4xf32>
  %b = arith.minnumf %a, %one : tensor<4xf32>
  return %b : tensor<4xf32>
}
)";
  FloatFacts dropped = factsOf(text);
  expectWithin(dropped, 0, 1);
  EXPECT_FALSE(dropped.mayNaN);
  std::string keeping(text);
  keeping.replace(keeping.find("maxnumf"), 7, "maximumf");
  keeping.replace(keeping.find("minnumf"), 7, "minimumf");
  EXPECT_TRUE(factsOf(keeping).mayNaN);
}

/// Extrema that drop NaN leave what they began with where all elements are NaN.
TEST_F(RangeAnalysisTest, KnowsWhatExtremaOfNoNumberGive) {
  auto lowestOf = [&](StringRef op) {
    return factsOf(("func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {\n"
                    "  %t = tosa.tanh %x : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>\n  %r = " +
                    op +
                    " : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>\n"
                    "  return %r : tensor<1x4x4x2xf32>\n}\n")
                       .str())
        .range.lo;
  };
  const char *pool = "tosa.max_pool2d %t {kernel = array<i64: 2, 2>, pad = array<i64: 0, 1, 0, 1>, "
                     "stride = array<i64: 1, 1>, nan_mode = MODE}";
  auto with = [&](StringRef mode) {
    std::string text = pool;
    return text.replace(text.find("MODE"), 4, mode.str());
  };
  EXPECT_LE(lowestOf(with("IGNORE")), -0x1.fffffep127);
  EXPECT_GE(lowestOf(with("PROPAGATE")), -1.001);
  EXPECT_LE(
      lowestOf("tosa.clamp %t {min_val = -8.0 : f32, max_val = 8.0 : f32, nan_mode = IGNORE}"), -8);
}

TEST_F(RangeAnalysisTest, RoundsToTheFormatThatComputes) {
  // 65504 + 65504 overflows f16, and is a number in f32.
  EXPECT_TRUE(factsOf(R"(
func.func @main() -> tensor<4xf16> {
  %c = arith.constant dense<6.5504e+4> : tensor<4xf16>
  %r = arith.addf %c, %c : tensor<4xf16>
  return %r : tensor<4xf16>
}
)")
                  .mayInf);
  EXPECT_FALSE(factsOf(R"(
func.func @main() -> tensor<4xf32> {
  %c = arith.constant dense<6.5504e+4> : tensor<4xf32>
  %r = arith.addf %c, %c : tensor<4xf32>
  return %r : tensor<4xf32>
}
)")
                   .mayInf);
}

TEST_F(RangeAnalysisTest, TakesContractionsAsAnyNumberOfTheirMagnitudeIfAsked) {
  const char *text = R"(
func.func @main(%x: tensor<4x4xf32> {mp.range = [0.5, 1.0]}) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %r = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
)";
  expectWithin(factsOf(text), 0.99, 4.01);
  // Factors keep their signs, or are zero, and rounding them adds a share of all magnitudes.
  FloatFacts any = factsOf(text, {.anyContraction = true});
  EXPECT_EQ(any.range.lo, 0);
  EXPECT_GE(any.range.hi, 4 * 1.25 * 1.25); // in E2M1
  expectWithin(any, 0, 6.5);
}

/// The share is one of what is added up, not of what is left where it cancels, and what is smaller
/// than f16 has numbers may double.
TEST_F(RangeAnalysisTest, TakesContractionsThatCancelAsAnyNumberOfWhatTheyAddUp) {
  auto rangeOf = [&](StringRef range, StringRef start) {
    std::string text = R"(
func.func @main(%x: tensor<4x1xf32> {mp.range = [)" +
                       range.str() + R"(]}) -> tensor<4x1xf32> {
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %start = arith.constant dense<)" +
                       start.str() + R"(> : tensor<4x1xf32>
  %r = linalg.matmul ins(%x, %one : tensor<4x1xf32>, tensor<1x1xf32>) outs(%start : tensor<4x1xf32>) -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}
)";
    return factsOf(text, {.anyContraction = true}).range;
  };
  EXPECT_LE(rangeOf("1.0e4, 1.0001e4", "-1.0e4").lo, 9984 - 1e4); // in bf16
  EXPECT_GE(rangeOf("-1.0001e4, -1.0e4", "1.0e4").hi, 1e4 - 9984);
  EXPECT_GE(rangeOf("0.0, 3.0e-8", "0.0").hi, 0x1p-24);
  EXPECT_EQ(rangeOf("0.0, 3.0e-8", "0.0").lo, 0);
}

/// Each element of a row of 4 is within 1 by pieces, so that the sum of their squares is within 4.
TEST_F(RangeAnalysisTest, CountsTheElementsOfARowThatIsBoundedInPieces) {
  FloatFacts facts = factsOf(R"(
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1x4xf32>
  %f = tensor.empty() : tensor<1x1xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.mulf %p, %p : f32
    %c = arith.cmpf olt, %s, %one : f32
    %q = arith.mulf %s, %p : f32
    %r = arith.select %c, %q, %one : f32
    linalg.yield %r : f32
  } -> tensor<1x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%f : tensor<1x1xf32>) -> tensor<1x1xf32>
  %1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%0, %0 : tensor<1x4xf32>, tensor<1x4xf32>) outs(%i : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}
)");
  EXPECT_GE(facts.range.hi, 4);
  expectWithin(facts, -4.1, 4.1);
}

/// Nothing cancels, so that what additions lose is a share of the sum, however large it may be.
TEST_F(RangeAnalysisTest, KeepsMostOfSumsOfOneSign) {
  auto least = [&](StringRef range, StringRef type) {
    std::string text = R"(
func.func @main(%x: tensor<4x3xT> {mp.range = [RANGE]}) -> tensor<4x1xT> {
  %0 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x3xT>) -> tensor<4x1xT>
  return %0 : tensor<4x1xT>
}
)";
    auto replace = [&](StringRef from, StringRef to) {
      for (size_t at; (at = text.find(from)) != std::string::npos;)
        text.replace(at, from.size(), to);
    };
    replace("RANGE", range);
    replace("xT", ("x" + type).str());
    return factsOf(text).range.lo;
  };
  EXPECT_GT(least("1.0e-20, 1.0e20", "f32"), 2.99e-20);
  EXPECT_LE(least("1.0e-20, 1.0e20", "f32"), 3e-20);
  EXPECT_LE(least("1.0e-20, 1.0e20", "bf16"), 3e-20 * (1 - 0x1p-8)); // 2 additions
  EXPECT_LT(least("-1.0e-20, 1.0e20", "f32"), -1e12);                // cancels
  EXPECT_EQ(least("1.0e-44, 1.0", "f32"), 0);                        // may be flushed
}

TEST_F(RangeAnalysisTest, LetsInfinitiesThroughExtremaOfOneElement) {
  FloatFacts facts = factsOf(R"(
func.func @main(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
)");
  EXPECT_EQ(facts.range.lo, -std::numeric_limits<double>::infinity());
}

std::string narrow(StringRef argument, StringRef op) {
  return ("func.func @main(%x: tensor<4xf32>" + argument + ") -> tensor<4xf32> {\n  %r = " + op +
          " %x : tensor<4xf32>\n  return %r : tensor<4xf32>\n}\n")
      .str();
}

TEST_F(RangeAnalysisTest, SaysWhatARangeRestsOn) {
  EXPECT_EQ(evidenceOf(narrow("", "math.tanh")), Evidence::Proved);
  EXPECT_EQ(evidenceOf(narrow(" {mp.range = [-1.0, 1.0]}", "math.exp")), Evidence::Stated);
  EXPECT_EQ(evidenceOf(narrow("", "math.absf")), Evidence::Assumed);
  EXPECT_EQ(evidenceOf(narrow("", "math.exp")), Evidence::None);
  // A range stated beyond the format is evidence against it.
  EXPECT_EQ(evidenceOf(narrow(" {mp.range = [-1.0e6, 1.0e6]}", "math.absf")), Evidence::None);
}

} // namespace
