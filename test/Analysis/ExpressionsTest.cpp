// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The normal form gives one expression to functions that are equal up to rounding, however they are
// spelled, and different ones to others. Where places are tracked, what is read elsewhere differs.

#include "mp/Analysis/Values/Expressions.h"
#include "AnalysisTest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Pair {
  const char *name;
  bool areEqual;
  const char *body; ///< defines %a and %b, 4x4, of %x and %y
};

const Pair kPairs[] = {
    {"root_and_quotient", true, R"(
  %r = math.rsqrt %y : tensor<4x4xf32>
  %a = arith.mulf %x, %r : tensor<4x4xf32>
  %s = math.sqrt %y : tensor<4x4xf32>
  %b = arith.divf %x, %s : tensor<4x4xf32>)"},
    {"other_root", false, R"(
  %r = math.rsqrt %y : tensor<4x4xf32>
  %a = arith.mulf %x, %r : tensor<4x4xf32>
  %b = arith.divf %x, %y : tensor<4x4xf32>)"},
    {"casts_are_nothing", true, R"(
  %n = arith.truncf %x : tensor<4x4xf32> to tensor<4x4xbf16>
  %a = arith.extf %n : tensor<4x4xbf16> to tensor<4x4xf32>
  %b = arith.addf %x, %zero : tensor<4x4xf32>)"},
    {"scales_stand_outermost", true, R"(
  %s = arith.mulf %x, %half : tensor<4x4xf32>
  %a = arith.mulf %s, %y : tensor<4x4xf32>
  %p = arith.mulf %x, %y : tensor<4x4xf32>
  %b = arith.mulf %p, %half : tensor<4x4xf32>)"},
    {"scale_and_quotient", true, R"(
  %a = arith.mulf %x, %half : tensor<4x4xf32>
  %b = arith.divf %x, %two : tensor<4x4xf32>)"},
    {"other_scale", false, R"(
  %a = arith.mulf %x, %half : tensor<4x4xf32>
  %b = arith.mulf %x, %two : tensor<4x4xf32>)"},
    {"exponentials_of_two_bases", true, R"(
  %s = arith.mulf %x, %log2e : tensor<4x4xf32>
  %a = math.exp2 %s : tensor<4x4xf32>
  %b = math.exp %x : tensor<4x4xf32>)"},
    {"exponentials_unscaled", false, R"(
  %a = math.exp2 %x : tensor<4x4xf32>
  %b = math.exp %x : tensor<4x4xf32>)"},
    {"differences_of_negations", true, R"(
  %n = arith.negf %y : tensor<4x4xf32>
  %a = arith.addf %x, %n : tensor<4x4xf32>
  %b = arith.subf %x, %y : tensor<4x4xf32>)"},
    {"differences_turned", false, R"(
  %a = arith.subf %y, %x : tensor<4x4xf32>
  %b = arith.subf %x, %y : tensor<4x4xf32>)"},
    {"square_of_the_magnitude", true, R"(
  %m = math.absf %x : tensor<4x4xf32>
  %a = arith.mulf %m, %m : tensor<4x4xf32>
  %b = arith.mulf %x, %x : tensor<4x4xf32>)"},
    {"quotient_of_a_quotient", true, R"(
  %one = arith.divf %two, %two : tensor<4x4xf32>
  %q = arith.divf %x, %y : tensor<4x4xf32>
  %a = arith.mulf %q, %y : tensor<4x4xf32>
  %p = arith.mulf %x, %y : tensor<4x4xf32>
  %b = arith.divf %p, %y : tensor<4x4xf32>)"},
    {"sigmoid_in_steps", true, R"(
  %n = arith.negf %x : tensor<4x4xf32>
  %e = math.exp %n : tensor<4x4xf32>
  %d = arith.addf %e, %one1 : tensor<4x4xf32>
  %a = arith.divf %one1, %d : tensor<4x4xf32>
  %b = tosa.sigmoid %x : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
    {"extremum_by_choice", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %a = arith.select %c, %x, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %b = arith.maximumf %x, %zero : tensor<4x4xf32>)"},
    {"another_choice", false, R"(
  %c = arith.cmpf ogt, %y, %zero : tensor<4x4xf32>
  %a = arith.select %c, %x, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %b = arith.maximumf %x, %zero : tensor<4x4xf32>)"},
    {"unknown_functions", false, R"(
  %a = func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>)"},
};

/// Equal to whoever does not ask where, and only to them.
const Pair kPlaces[] = {
    {"transposed", false, R"(
  %e = tensor.empty() : tensor<4x4xf32>
  %a = math.exp %x : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %b = math.exp %t : tensor<4x4xf32>)"},
    {"products_with_the_transposed", false, R"(
  %e = tensor.empty() : tensor<4x4xf32>
  %a = arith.mulf %x, %x : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %b = arith.mulf %x, %t : tensor<4x4xf32>)"},
    {"transposed_behind", true, R"(
  %e = tensor.empty() : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %u = math.exp %t : tensor<4x4xf32>
  %a = linalg.transpose ins(%u : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %b = math.exp %x : tensor<4x4xf32>)"},
};

struct ExpressionsTest : testing::Test, AnalysisContext {
  bool areEqual(const Pair &pair, bool tracksPlaces) {
    auto module = parse((R"(
func.func private @f(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %half = arith.constant dense<0.5> : tensor<4x4xf32>
  %one1 = arith.constant dense<1.0> : tensor<4x4xf32>
  %two = arith.constant dense<2.0> : tensor<4x4xf32>
  %log2e = arith.constant dense<1.44269504> : tensor<4x4xf32>)" +
                         Twine(pair.body) + R"(
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
})")
                            .str());
    ValueNumbering values(getMain(*module));
    ExpressionGraph graph(values, &context, tracksPlaces);
    Term a = graph.lookup(getReturned(*module)[0]), b = graph.lookup(getReturned(*module)[1]);
    return a && b && a == b;
  }
};

TEST_F(ExpressionsTest, AreEqualWhereFunctionsAre) {
  for (const Pair &pair : kPairs)
    for (bool tracksPlaces : {false, true})
      EXPECT_EQ(areEqual(pair, tracksPlaces), pair.areEqual) << pair.name << tracksPlaces;
}

TEST_F(ExpressionsTest, TellPlacesApartIfAsked) {
  for (const Pair &pair : kPlaces) {
    EXPECT_EQ(areEqual(pair, /*tracksPlaces=*/true), pair.areEqual) << pair.name;
    EXPECT_TRUE(areEqual(pair, /*tracksPlaces=*/false)) << pair.name;
  }
}

/// A sum over rows is a reduction of what stands in the same row, and of nothing else.
TEST_F(ExpressionsTest, KnowWhatLiesInTheGroupOfASum) {
  auto module = parse(R"(
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %v = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x4xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %rows = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
  %columns = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0]
  %a = arith.addf %x, %x : tensor<4x4xf32>
  return %x, %rows, %columns : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
})");
  ValueNumbering values(getMain(*module));
  auto returned = getReturned(*module);
  ExpressionGraph placed(values, &context, /*tracksPlaces=*/true);
  EXPECT_TRUE(placed.isReductionOf(placed.lookup(returned[1]), placed.lookup(returned[0])));
  EXPECT_FALSE(placed.isReductionOf(placed.lookup(returned[2]), placed.lookup(returned[0])));
  ExpressionGraph anywhere(values, &context, /*tracksPlaces=*/false);
  EXPECT_TRUE(anywhere.isReductionOf(anywhere.lookup(returned[2]), anywhere.lookup(returned[0])));
}

} // namespace
