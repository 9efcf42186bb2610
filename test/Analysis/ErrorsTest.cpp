// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error bounds and the model of averages have known answers on tiny graphs: a bound holds and is
// not far off what rounding can do; slopes of the model are derivatives.

#include "AnalysisTest.h"
#include "mp/Analysis/AccumulationModes.h"
#include "mp/Analysis/Error/ErrorBounds.h"
#include "mp/Analysis/Error/ErrorModel.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

constexpr double kF32 = 0x1p-24, kBF16 = 0x1p-8; ///< unit roundoffs

struct ErrorsTest : testing::Test, AnalysisContext {
  /// Parses what computes %r of %x within [-2, 2], %p within [1, 2] and %u, of any size.
  void compute(StringRef body) {
    module = parse((R"(
func.func @main(%x: tensor<4x4xf32> {mp.range = [-2.0, 2.0]}, %p: tensor<4x4xf32> {mp.range = [1.0, 2.0]}, %u: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  )" + body + "\n  return %r : tensor<4x4xf32>\n}")
                       .str());
  }
  double boundOf(StringRef body, StringRef chip = "") {
    compute(body);
    bounds.emplace(*module, chip);
    return bounds->lookup(getReturned(*module)[0]).abs;
  }
  OwningOpRef<ModuleOp> module;
  std::optional<ErrorBounds> bounds;
};

struct Bounded {
  const char *name;
  double least, most; ///< of the bound: what rounding can do, and how much is given away
  const char *body;
};

const Bounded kBounded[] = {
    {"negation_is_exact", 0, 0, "%r = arith.negf %x : tensor<4x4xf32>"},
    {"a_sum_rounds_once", 4 * kF32, 4.01 * kF32, "%r = arith.addf %x, %p : tensor<4x4xf32>"},
    {"a_product_rounds_once", 4 * kF32, 4.01 * kF32, "%r = arith.mulf %x, %p : tensor<4x4xf32>"},
    {"a_quotient_rounds_once", 2 * kF32, 2.01 * kF32, "%r = arith.divf %x, %p : tensor<4x4xf32>"},
    {"a_cast_rounds_to_its_format", kBF16 * 1.99, kBF16 * 2.01, R"(
  %n = arith.truncf %x : tensor<4x4xf32> to tensor<4x4xbf16>
  %r = arith.extf %n : tensor<4x4xbf16> to tensor<4x4xf32>)"},
    {"casts_of_factors_add_up", 2 * 4 * kBF16, 2.1 * 4 * kBF16, R"(
  %n = arith.truncf %x : tensor<4x4xf32> to tensor<4x4xbf16>
  %a = arith.extf %n : tensor<4x4xbf16> to tensor<4x4xf32>
  %m = arith.truncf %p : tensor<4x4xf32> to tensor<4x4xbf16>
  %b = arith.extf %m : tensor<4x4xbf16> to tensor<4x4xf32>
  %r = arith.mulf %a, %b : tensor<4x4xf32>)"},
    {"a_difference_of_equals_is_exact", 0, 1e-30, "%r = arith.subf %x, %x : tensor<4x4xf32>"},
    // 4 products of at most 4: each rounded, and summed up.
    {"a_contraction_sums_up", 4 * 4 * kF32, 4 * 4 * 5 * kF32,
     "%r = linalg.matmul ins(%x, %p : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : "
     "tensor<4x4xf32>) -> tensor<4x4xf32>"},
};

TEST_F(ErrorsTest, BoundsHoldWhatRoundingCanDoAndLittleMore) {
  for (const Bounded &tried : kBounded) {
    double bound = boundOf(tried.body);
    EXPECT_GE(bound, tried.least) << tried.name;
    EXPECT_LE(bound, tried.most) << tried.name;
  }
}

TEST_F(ErrorsTest, BoundsAreNoneWhereNothingIsKnownAndSayWhere) {
  EXPECT_TRUE(std::isinf(boundOf("%r = arith.addf %u, %x : tensor<4x4xf32>")));
  Operation *lost = bounds->getLostAt(getReturned(*module)[0]);
  EXPECT_TRUE(lost && lost->getName().getStringRef() == "arith.addf")
      << "its rounding is unbounded";
  // x may be zero, and its inverse anything.
  EXPECT_TRUE(std::isinf(boundOf(R"(
  %a = arith.mulf %x, %p : tensor<4x4xf32>
  %r = arith.divf %p, %a : tensor<4x4xf32>)")));
  lost = bounds->getLostAt(getReturned(*module)[0]);
  EXPECT_TRUE(lost && lost->getName().getStringRef() == "arith.divf");
}

/// Tensor Cores cut off what exact sums keep: a bound for a chip is no smaller than IEEE's.
TEST_F(ErrorsTest, BoundsCountWhatTensorCoresCutOff) {
  const char *body = R"(
  %n = arith.truncf %x : tensor<4x4xf32> to tensor<4x4xf16>
  %m = arith.truncf %p : tensor<4x4xf32> to tensor<4x4xf16>
  %r = linalg.matmul ins(%n, %m : tensor<4x4xf16>, tensor<4x4xf16>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>)";
  double ieee = boundOf(body), sm80 = boundOf(body, "sm_80");
  EXPECT_GE(sm80, ieee);
  EXPECT_LE(sm80, 1.01 * ieee) << "rounded factors are most of it";
  EXPECT_EQ(getAccumulationModes(Float16Type::get(&context), numerics::Format::F32, {}).size(), 1u);
  EXPECT_EQ(getAccumulationModes(Float16Type::get(&context), numerics::Format::F32,
                                 numerics::Architecture::SM80)
                .size(),
            2u);
}

struct Amplified {
  const char *name, *op; ///< whose errors are amplified
  double squared;        ///< mean square error of the result, relative, per that of `op`
  const char *body;
};

const Amplified kAmplified[] = {
    {"of_the_result_itself", "arith.addf", 1, "%r = arith.addf %u, %u : tensor<4x4xf32>"},
    {"scales_keep_relative_errors", "math.absf", 1, R"(
  %a = math.absf %u : tensor<4x4xf32>
  %r = arith.mulf %a, %p : tensor<4x4xf32>)"},
    {"squares_double_them", "math.absf", 4, R"(
  %a = math.absf %u : tensor<4x4xf32>
  %r = arith.mulf %a, %a : tensor<4x4xf32>)"},
    {"roots_halve_them", "math.absf", 0.25, R"(
  %a = math.absf %u : tensor<4x4xf32>
  %r = math.sqrt %a : tensor<4x4xf32>)"},
    {"clamps_let_none_through_where_they_cut", "math.absf", 0, R"(
  %tiny = arith.constant dense<1.0e-20> : tensor<4x4xf32>
  %a = math.absf %u : tensor<4x4xf32>
  %r = arith.minimumf %a, %tiny : tensor<4x4xf32>)"},
    // Each of two terms of one size has half of the sum's mean square.
    {"sums_share_them", "math.absf", 0.5, R"(
  %a = math.absf %u : tensor<4x4xf32>
  %b = arith.negf %u : tensor<4x4xf32>
  %r = arith.addf %a, %b : tensor<4x4xf32>)"},
    {"what_reaches_no_result_does_not_count", "math.absf", 0, R"(
  %a = math.absf %u : tensor<4x4xf32>
  %r = arith.negf %u : tensor<4x4xf32>)"},
};

TEST_F(ErrorsTest, TheModelsSlopesAreDerivatives) {
  for (const Amplified &tried : kAmplified) {
    compute(tried.body);
    ErrorModel model(getMain(*module));
    EXPECT_TRUE(model.isKnown()) << tried.name;
    EXPECT_NEAR(model.getAmplification(findOp(*module, tried.op)), tried.squared,
                0.05 * tried.squared)
        << tried.name;
  }
}

/// Means of elements of one sign have half of their errors in common, of either sign none.
TEST_F(ErrorsTest, TheModelAveragesErrorsOutByWhatElementsHaveInCommon) {
  auto amplificationOf =
      [&](StringRef function) {
        module = parse((R"(
func.func @main(%u: tensor<4x256xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant dense<256.0> : tensor<4xf32>
  %v = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %a = )" + function + R"( %u : tensor<4x256xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<4x256xf32>)
      outs(%f : tensor<4xf32>) dimensions = [1]
  %r = arith.divf %s, %n : tensor<4xf32>
  return %r : tensor<4xf32>
})")
                           .str());
        return ErrorModel(getMain(*module)).getAmplification(findOp(*module, function));
      };
  EXPECT_NEAR(amplificationOf("math.absf"), 1.0 / 16, 0.01);
  EXPECT_NEAR(amplificationOf("math.sin"), 1, 0.05) << "of a mean as small as its errors";
}

/// An addend of an activation counts by its size: biases little, other arguments as much.
TEST_F(ErrorsTest, TheModelTakesBiasesForSmall) {
  auto amplificationOf = [&](StringRef type, StringRef map) {
    module = parse((R"(
func.func @main(%u: tensor<4x4xf32>, %b: )" +
                    type + R"() -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = math.absf %u : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> )" +
                    map +
                    R"(>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x4xf32>, )" +
                    type + R"() outs(%e : tensor<4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
})")
                       .str());
    return ErrorModel(getMain(*module)).getAmplification(findOp(*module, "math.absf"));
  };
  EXPECT_NEAR(amplificationOf("tensor<4xf32>", "(j)"), 1 / 1.01, 0.001);
  EXPECT_NEAR(amplificationOf("tensor<4x4xf32>", "(i, j)"), 0.5, 0.001);
}

/// A choice by an inexact comparison is otherwise now and then; an extremum, or one by something
/// exact, is not.
TEST_F(ErrorsTest, TheModelCountsComparisonsThatComeOutOtherwise) {
  auto flipsOf = [&](StringRef compared) {
    compute(("%a = math.sin %u : tensor<4x4xf32>\n  %c = arith.cmpf ogt, " + compared +
             ", %zero : tensor<4x4xf32>\n  %r = arith.select %c, %p, %u : tensor<4x4xi1>, "
             "tensor<4x4xf32>")
                .str());
    return ErrorModel(getMain(*module)).getFlips(findOp(*module, "math.sin"));
  };
  EXPECT_GT(flipsOf("%a"), 0);
  EXPECT_EQ(flipsOf("%x"), 0);
}

/// Half an ulp, uniformly: u^2 / 3 of the value's own power of two for each factor, on average
/// u^2 / 3 * (1/2 to 1); sums of any number keep it.
TEST_F(ErrorsTest, TheModelsContractionsRoundBothFactors) {
  Builder builder(&context);
  for (int64_t products : {1, 64, 4096}) {
    double noise = getContractionNoise(builder.getBF16Type(), products, "sm_80");
    EXPECT_GT(noise, 2 * kBF16 * kBF16 / 12);
    EXPECT_LT(noise, 2 * kBF16 * kBF16 / 3 * 1.01);
    EXPECT_LT(getContractionNoise(builder.getF16Type(), products, "sm_80"), noise / 32);
    EXPECT_LT(getContractionNoise(builder.getF32Type(), products, ""),
              getContractionNoise(builder.getTF32Type(), products, "sm_80"));
  }
}

} // namespace
