// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks which constants reach a float whose bits were integers: masks, and finite numbers that a
// narrower format makes infinite.

#include "AnalysisTest.h"
#include "mp/Analysis/Ranges/MaskConstants.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Bits {
  const char *name;
  bool isMask, isHuge; ///< a mask, and what bf16 and f16 make infinite, reaches %r
  const char *body;    ///< of %x (4x4, any), %m (4x4 of i1) and %i (4 of i32)
};

const Bits kBits[] = {
    // 2139095039 is the largest float as an integer, 1065353216 is 1, 2139095040 infinity.
    {"written_as_integers", true, true, R"(
  %0 = arith.constant dense<2139095039> : tensor<4x4xi32>
  %r = arith.bitcast %0 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"modest_written_as_integers", false, false, R"(
  %0 = arith.constant dense<1065353216> : tensor<4x4xi32>
  %r = tensor.bitcast %0 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"infinity_written_as_integers", true, false, R"(
  %0 = arith.constant dense<2139095040> : tensor<4x4xi32>
  %r = tensor.bitcast %0 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"nan_written_as_integers", false, false, R"(
  %0 = arith.constant dense<-1> : tensor<4x4xi32>
  %r = tensor.bitcast %0 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_are_no_bits_where_they_are_counted", false, false, R"(
  %0 = arith.constant dense<2139095039> : tensor<4x4xi32>
  %r = arith.sitofp %0 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_chosen_and_picked", true, true, R"(
  %0 = arith.constant dense<-8388609> : tensor<2x2xi32>
  %c0 = arith.constant 0 : index
  %1 = tensor.extract %0[%c0, %c0] : tensor<2x2xi32>
  %2 = tensor.splat %1 : tensor<4x4xi32>
  %3 = arith.bitcast %x : tensor<4x4xf32> to tensor<4x4xi32>
  %4 = arith.select %m, %2, %3 : tensor<4x4xi1>, tensor<4x4xi32>
  %r = arith.bitcast %4 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"bits_of_floats_changed_and_read_again", true, true, R"(
  %0 = arith.select %m, %x, %lowest : tensor<4x4xi1>, tensor<4x4xf32>
  %1 = arith.bitcast %0 : tensor<4x4xf32> to tensor<4x4xi32>
  %2 = arith.constant dense<2147483647> : tensor<4x4xi32>
  %3 = arith.andi %1, %2 : tensor<4x4xi32>
  %r = arith.bitcast %3 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"bits_of_any_floats", false, false, R"(
  %1 = arith.bitcast %x : tensor<4x4xf32> to tensor<4x4xi32>
  %2 = arith.constant dense<2147483647> : tensor<4x4xi32>
  %3 = arith.andi %1, %2 : tensor<4x4xi32>
  %r = arith.bitcast %3 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_computed_of_constants", true, true, R"(
  %0 = arith.constant dense<1065353215> : tensor<4x4xi32>
  %1 = arith.constant dense<1073741824> : tensor<4x4xi32>
  %2 = arith.addi %0, %1 : tensor<4x4xi32>
  %r = arith.bitcast %2 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_computed_of_constants_beside_others", true, true, R"(
  %0 = arith.constant dense<1065353215> : tensor<4x4xi32>
  %1 = arith.constant dense<1073741824> : tensor<4x4xi32>
  %2 = arith.addi %0, %1 : tensor<4x4xi32>
  %3 = arith.bitcast %x : tensor<4x4xf32> to tensor<4x4xi32>
  %4 = arith.select %m, %2, %3 : tensor<4x4xi1>, tensor<4x4xi32>
  %r = arith.bitcast %4 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_of_an_index", true, true, R"(
  %k = arith.constant 2139095039 : index
  %0 = arith.index_cast %k : index to i32
  %1 = arith.bitcast %0 : i32 to f32
  %r = tensor.splat %1 : tensor<4x4xf32>)"},
    {"integers_of_a_place", false, false, R"(
  %c9 = arith.constant 1065353216 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%x : tensor<4x4xf32>) {
  ^bb0(%o: f32):
    %0 = linalg.index 0 : index
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.ori %1, %c9 : i32
    %3 = arith.bitcast %2 : i32 to f32
    linalg.yield %3 : f32
  } -> tensor<4x4xf32>)"},
    {"integers_carried_by_a_loop", true, true, R"(
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.constant dense<0> : tensor<4x4xi32>
  %1 = arith.constant dense<2139095039> : tensor<4x4xi32>
  %2 = scf.for %k = %c0 to %c1 step %c1 iter_args(%s = %0) -> tensor<4x4xi32> {
    scf.yield %1 : tensor<4x4xi32>
  }
  %r = arith.bitcast %2 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_filled_and_padded", true, true, R"(
  %0 = arith.constant 2139095039 : i32
  %1 = tensor.empty() : tensor<4x3xi32>
  %2 = arith.constant 0 : i32
  %3 = linalg.fill ins(%2 : i32) outs(%1 : tensor<4x3xi32>) -> tensor<4x3xi32>
  %4 = tensor.pad %3 low[0, 1] high[0, 0] {
  ^bb0(%k: index, %j: index):
    tensor.yield %0 : i32
  } : tensor<4x3xi32> to tensor<4x4xi32>
  %r = arith.bitcast %4 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_cut_from_wider_ones", true, true, R"(
  %0 = arith.constant dense<6434062335> : tensor<4x4xi64>
  %1 = arith.trunci %0 : tensor<4x4xi64> to tensor<4x4xi32>
  %r = arith.bitcast %1 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_put_together", true, true, R"(
  %c0 = arith.constant 0 : index
  %0 = arith.constant -8388609 : i32
  %1 = arith.constant 1065353216 : i32
  %2 = tensor.from_elements %0, %1 : tensor<2xi32>
  %3 = tensor.extract %2[%c0] : tensor<2xi32>
  %4 = tensor.generate {
  ^bb0(%k: index, %j: index):
    tensor.yield %3 : i32
  } : tensor<4x4xi32>
  %r = arith.bitcast %4 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"integers_computed_of_arguments", false, false, R"(
  %0 = arith.constant dense<1065353216> : tensor<4xi32>
  %1 = arith.constant dense<9> : tensor<4xi32>
  %2 = arith.shrui %i, %1 : tensor<4xi32>
  %3 = arith.ori %2, %0 : tensor<4xi32>
  %4 = arith.bitcast %3 : tensor<4xi32> to tensor<4xf32>
  %r = linalg.broadcast ins(%4 : tensor<4xf32>) outs(%x : tensor<4x4xf32>) dimensions = [1])"},
    {"integers_in_a_body", true, true, R"(
  %0 = arith.constant dense<[0, 2139095039, 0, 0]> : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4xi32>) outs(%x : tensor<4x4xf32>) {
  ^bb0(%k: i32, %o: f32):
    %1 = arith.bitcast %k : i32 to f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>)"},
    {"integers_through_a_branch", true, true, R"(
  %0 = arith.constant dense<1065353216> : tensor<4x4xi32>
  %1 = arith.constant dense<2139095039> : tensor<4x4xi32>
  %c0 = arith.constant 0 : index
  %t = tensor.extract %m[%c0, %c0] : tensor<4x4xi1>
  %2 = scf.if %t -> tensor<4x4xi32> {
    scf.yield %0 : tensor<4x4xi32>
  } else {
    scf.yield %1 : tensor<4x4xi32>
  }
  %r = tensor.bitcast %2 : tensor<4x4xi32> to tensor<4x4xf32>)"},
    {"upper_halves", true, true, R"(
  %0 = arith.constant dense<32639> : tensor<4x4xi16>
  %1 = arith.extui %0 : tensor<4x4xi16> to tensor<4x4xi32>
  %2 = arith.constant dense<16> : tensor<4x4xi32>
  %3 = arith.shli %1, %2 : tensor<4x4xi32>
  %r = arith.bitcast %3 : tensor<4x4xi32> to tensor<4x4xf32>)"},
};

TEST(BitPatterns, AreFollowedToConstants) {
  AnalysisContext analysis;
  for (const Bits &tried : kBits) {
    OwningOpRef<ModuleOp> module = analysis.parse((R"(
func.func @main(%x: tensor<4x4xf32>, %m: tensor<4x4xi1>, %i: tensor<4xi32>) -> tensor<4x4xf32> {
  %lowest = arith.constant dense<-3.40282347E+38> : tensor<4x4xf32>
)" + StringRef(tried.body) + "\n  return %r : tensor<4x4xf32>\n}")
                                                      .str());
    Value value = getReturned(*module)[0];
    EXPECT_EQ(findMaskConstant(value) != nullptr, tried.isMask) << tried.name;
    ModuleRanges ranges(*module);
    OverflowingConstants bf16(*module, ranges, BFloat16Type::get(&analysis.context)),
        f16(*module, ranges, Float16Type::get(&analysis.context));
    EXPECT_EQ(bf16.find(value) != nullptr, tried.isHuge) << tried.name;
    EXPECT_EQ(f16.find(value) != nullptr, tried.isHuge) << tried.name;
  }
}

} // namespace
