// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lemma of continuity: selections whose arms are equal at the threshold do not jump, and each
// hypothesis is needed.

#include "AnalysisTest.h"
#include "mp/Analysis/Error/ErrorModel.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Choice {
  const char *name;
  bool jumps; ///< the result does, where x = sin(u) passes what it is compared with
  const char *body;
};

/// Each hypothesis of continuity holds of the first, and one does not of each of the others.
const Choice kChoices[] = {
    {"prelu", false, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %0 = arith.mulf %s, %x : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"the_threshold_on_the_left", false, R"(
  %c = arith.cmpf ule, %zero, %x : tensor<4x4xf32>
  %0 = arith.mulf %x, %s : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"an_op_for_each_part", false, R"(
  %e = tensor.empty() : tensor<4x4xi1>
  %f = tensor.empty() : tensor<4x4xf32>
  %z = arith.constant 0.0 : f32
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xi1>) {
  ^bb0(%a: f32, %o: i1):
    %1 = arith.cmpf ogt, %a, %z : f32
    linalg.yield %1 : i1
  } -> tensor<4x4xi1>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<4x4xf32>, tensor<4xf32>) outs(%f : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) {
  ^bb0(%a: i1, %b: f32, %d: f32, %o: f32):
    %1 = arith.select %a, %b, %d : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>)"},
    {"prelu_of_tosa", false, R"(
  %z = "tosa.const"() {values = dense<0.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
  %n = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %c = tosa.greater_equal %x, %z : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xi1>
  %0 = tosa.mul %x, %s, %n : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  %r = tosa.select %c, %x, %0 : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>)"},
    {"elu", false, R"(
  %c = arith.cmpf oge, %x, %zero : tensor<4x4xf32>
  %0 = math.exp %x : tensor<4x4xf32>
  %1 = arith.subf %0, %one : tensor<4x4xf32>
  %r = arith.select %c, %x, %1 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"both_plus_the_same", false, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %0 = arith.addf %x, %y : tensor<4x4xf32>
  %1 = arith.subf %y, %x : tensor<4x4xf32>
  %r = arith.select %c, %0, %1 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"softplus", false, R"(
  %h = arith.constant dense<20.0> : tensor<4x4xf32>
  %c = arith.cmpf ogt, %x, %h : tensor<4x4xf32>
  %0 = math.exp %x : tensor<4x4xf32>
  %1 = math.log1p %0 : tensor<4x4xf32>
  %r = arith.select %c, %x, %1 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"another_choice_away_from_the_threshold", false, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %d = arith.cmpf ogt, %x, %one : tensor<4x4xf32>
  %0 = arith.mulf %s, %x : tensor<4x4xf32>
  %1 = arith.select %d, %one, %x : tensor<4x4xi1>, tensor<4x4xf32>
  %r = arith.select %c, %1, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"another_choice_at_the_threshold", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %d = arith.cmpf oge, %x, %zero : tensor<4x4xf32>
  %1 = arith.select %d, %one, %x : tensor<4x4xi1>, tensor<4x4xf32>
  %r = arith.select %c, %1, %x : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"the_other_choice_jumps_there", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %d = arith.cmpf ogt, %x, %one : tensor<4x4xf32>
  %1 = arith.select %d, %x, %one : tensor<4x4xi1>, tensor<4x4xf32>
  %r = arith.select %c, %1, %x : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"a_small_jump", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %d = arith.constant dense<1.0e-4> : tensor<4x4xf32>
  %0 = arith.addf %x, %d : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"threshold_elsewhere", true, R"(
  %q = arith.constant dense<0.25> : tensor<4x4xf32>
  %c = arith.cmpf ogt, %x, %one : tensor<4x4xf32>
  %0 = arith.mulf %x, %q : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"zero_below_a_threshold", true, R"(
  %h = arith.constant dense<0.5> : tensor<4x4xf32>
  %c = arith.cmpf ogt, %x, %h : tensor<4x4xf32>
  %r = arith.select %c, %x, %zero : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"one_less_below", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %0 = arith.mulf %s, %x : tensor<4x4xf32>
  %1 = arith.subf %0, %one : tensor<4x4xf32>
  %r = arith.select %c, %x, %1 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"slope_away_from_the_threshold", true, R"(
  %c = arith.cmpf ogt, %x, %one : tensor<4x4xf32>
  %0 = arith.mulf %s, %x : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"another_is_compared", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %0 = arith.mulf %s, %y : tensor<4x4xf32>
  %r = arith.select %c, %y, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"compared_with_no_constant", true, R"(
  %c = arith.cmpf ogt, %x, %y : tensor<4x4xf32>
  %0 = arith.mulf %s, %x : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"another_element_is_compared", true, R"(
  %f = tensor.empty() : tensor<4x4xf32>
  %p = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) permutation = [1, 0]
  %c = arith.cmpf ogt, %p, %zero : tensor<4x4xf32>
  %0 = arith.mulf %s, %x : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"something_else_is_added", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %0 = arith.addf %x, %y : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"a_pole_times_zero", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %0 = arith.divf %one, %x : tensor<4x4xf32>
  %1 = arith.mulf %x, %0 : tensor<4x4xf32>
  %r = arith.select %c, %1, %zero : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"steps_beside_the_threshold", true, R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %0 = math.ceil %x : tensor<4x4xf32>
  %r = arith.select %c, %0, %x : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"compared_for_equality", true, R"(
  %c = arith.cmpf one, %x, %zero : tensor<4x4xf32>
  %0 = arith.mulf %s, %x : tensor<4x4xf32>
  %r = arith.select %c, %x, %0 : tensor<4x4xi1>, tensor<4x4xf32>)"},
};

TEST(Jumps, AreNoneWhereArmsMeetAtTheThreshold) {
  AnalysisContext analysis;
  auto flipsOf = [&](StringRef body) {
    OwningOpRef<ModuleOp> module = analysis.parse((R"(
func.func @main(%u: tensor<4x4xf32>, %y: tensor<4x4xf32>, %s: tensor<4x4xf32>, %t: tensor<4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %x = math.sin %u : tensor<4x4xf32>)" + body + "\n  return %r : tensor<4x4xf32>\n}")
                                                      .str());
    ErrorModel model(getMain(*module));
    Operation *sine = findOp(*module, "math.sin");
    return std::pair(model.getFlips(sine), model.getAmplification(sine));
  };
  for (const Choice &choice : kChoices) {
    auto [flips, passedOn] = flipsOf(choice.body);
    if (choice.jumps)
      EXPECT_GT(flips, 0.01) << choice.name;
    else
      EXPECT_TRUE(flips == 0 && passedOn > 0) << choice.name;
  }
}

} // namespace
