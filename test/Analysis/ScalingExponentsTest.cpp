// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Powers of two go through ops as the ops' algebra says; constants that are added are adapted, and
// what is no multiple is refused.

#include "mp/Analysis/Scaling/ScalingExponents.h"
#include "AnalysisTest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Case {
  const char *name;
  std::optional<int64_t> power; ///< of the result where %x is multiplied by 2^4, and %y by 2^6
  unsigned constants;           ///< that have to be adapted
  const char *op;               ///< computes %r of %x, %y (4x4) and constants
};

const Case kCases[] = {
    {"sum_of_equal_powers", 4, 0, "arith.addf %x, %x : tensor<4x4xf32>"},
    {"sum_of_other_powers", std::nullopt, 0, "arith.addf %x, %y : tensor<4x4xf32>"},
    {"sum_with_a_constant", 4, 1, "arith.addf %x, %c : tensor<4x4xf32>"},
    {"sum_with_another", std::nullopt, 0, "arith.addf %x, %w : tensor<4x4xf32>"},
    {"product", 10, 0, "arith.mulf %x, %y : tensor<4x4xf32>"},
    {"product_with_a_constant", 4, 0, "arith.mulf %x, %c : tensor<4x4xf32>"},
    {"quotient", -2, 0, "arith.divf %x, %y : tensor<4x4xf32>"},
    {"root", 2, 0, "math.sqrt %x : tensor<4x4xf32>"},
    {"inverse_root", -3, 0, "math.rsqrt %y : tensor<4x4xf32>"},
    {"magnitude", 4, 0, "math.absf %x : tensor<4x4xf32>"},
    {"exponential", std::nullopt, 0, "math.exp %x : tensor<4x4xf32>"},
    {"exponential_of_another", 0, 0, "math.exp %w : tensor<4x4xf32>"},
    {"maximum_with_a_constant", 4, 1, "arith.maximumf %x, %c : tensor<4x4xf32>"},
    {"contraction", 10, 1,
     "linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> "
     "tensor<4x4xf32>"},
    {"contraction_onto_another", std::nullopt, 0,
     "linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%w : tensor<4x4xf32>) -> "
     "tensor<4x4xf32>"},
    {"body", 8, 1,
     R"(linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf32>) outs(%w : tensor<4x4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %k = arith.constant 3.0 : f32
      %s = arith.mulf %p, %p : f32
      %t = arith.addf %s, %k : f32
      linalg.yield %t : f32
    } -> tensor<4x4xf32>)"},
    {"unknown_call", std::nullopt, 0, "func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>"},
};

struct ScalingExponentsTest : testing::Test, AnalysisContext {};

TEST_F(ScalingExponentsTest, GoThroughOpsByTheirAlgebra) {
  for (const Case &tried : kCases) {
    auto module = parse((R"(
func.func private @f(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<3.0> : tensor<4x4xf32>
  %r = )" + Twine(tried.op) +
                         R"(
  return %r : tensor<4x4xf32>
})")
                            .str());
    FunctionOpInterface main = getMain(*module);
    Operation *op = getReturned(*module)[0].getDefiningOp();
    auto transfer = transferExponent(op, [&](OpOperand &operand) -> int64_t {
      return operand.get() == main.getArgument(0)   ? 4
             : operand.get() == main.getArgument(1) ? 6
                                                    : 0;
    });
    EXPECT_EQ(transfer.has_value(), tried.power.has_value()) << tried.name;
    if (!transfer)
      continue;
    EXPECT_EQ(transfer->power, tried.power.value_or(0)) << tried.name;
    EXPECT_EQ(transfer->constants.size(), tried.constants) << tried.name;
    for (auto [constant, power] : transfer->constants)
      EXPECT_EQ(power, transfer->power) << tried.name;
  }
}

TEST_F(ScalingExponentsTest, RefuseRootsOfOddPowers) {
  auto module = parse(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.sqrt %x : tensor<4xf32>
  return %r : tensor<4xf32>
})");
  Operation *op = getReturned(*module)[0].getDefiningOp();
  EXPECT_FALSE(transferExponent(op, [](OpOperand &) { return 3; }));
  EXPECT_TRUE(transferExponent(op, [](OpOperand &) { return -4; }));
}

TEST_F(ScalingExponentsTest, MultiplyConstantsExactlyOrNotAtAll) {
  Builder builder(&context);
  auto f32 = [&](float value) { return builder.getF32FloatAttr(value); };
  EXPECT_EQ(timesPowerOfTwo(f32(3), 4), f32(48));
  EXPECT_EQ(timesPowerOfTwo(f32(3), -130), Attribute()) << "subnormal";
  EXPECT_EQ(timesPowerOfTwo(f32(3), 127), Attribute()) << "infinite";
  EXPECT_EQ(timesPowerOfTwo(f32(0), 1000), f32(0));
  float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(timesPowerOfTwo(f32(-infinity), -8), f32(-infinity));
}

} // namespace
