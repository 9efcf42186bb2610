// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of averages knows what values have in common: what drops out of a softmax, which sums
// are of one sign, how large a chosen class is, and what a stated range changes.

#include "mp/Analysis/Error/ErrorModel.h"
#include "AnalysisTest.h"
#include "mp/Domains/Variance.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct ErrorModelTest : testing::Test, AnalysisContext {
  /// Mean square of the relative error of the result of `body`, per that of `op`'s.
  double amplificationOf(StringRef op, StringRef body) {
    module = parse(body);
    return ErrorModel(getMain(*module)).getAmplification(findOp(*module, op));
  }
  OwningOpRef<ModuleOp> module;
};

/// The part that stays of n logits of size s, by 4000 rows of numpy's normal numbers.
struct Kept {
  int64_t n;
  double s, part;
};
const Kept kKept[] = {{2, 0.1, 0.492}, {2, 1, 0.235},  {2, 4, 0.053},   {10, 0.1, 0.897},
                      {10, 2, 0.313},  {10, 8, 0.066}, {100, 1, 0.911}, {100, 4, 0.235}};

TEST_F(ErrorModelTest, ASoftmaxKeepsWhatElementsDoNotHaveInCommon) {
  for (const Kept &known : kKept)
    EXPECT_NEAR(mpcore::domains::softmaxShare(known.s, known.n), known.part, 0.15 * known.part)
        << known.n << " of " << known.s;
  EXPECT_NEAR(mpcore::domains::softmaxShare(3, 1), 0, 1e-12) << "one element is 1, whatever it was";
}

/// Logits 1/10 in size, whose errors of 1/10 are relative ones of the exponentials; half of their
/// mean square is common to two.
TEST_F(ErrorModelTest, AWrittenOutSoftmaxIsOne) {
  auto quotient = [](StringRef summed) {
    return (R"(
func.func @main(%u: tensor<64x2xf32> {mp.range = [-0.1732, 0.1732]}, %o: tensor<64x2xf32> {mp.range = [0.99, 1.01]}) -> tensor<64x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %m = tensor.empty() : tensor<64x2xf32>
  %a = math.sin %u : tensor<64x2xf32>
  %e = math.exp %a : tensor<64x2xf32>
  %s = linalg.reduce { arith.addf } ins()" +
            summed + R"( : tensor<64x2xf32>) outs(%zero : tensor<64xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<64xf32>) outs(%m : tensor<64x2xf32>) dimensions = [1]
  %r = arith.divf %e, %b : tensor<64x2xf32>
  return %r : tensor<64x2xf32>
})")
        .str();
  };
  EXPECT_NEAR(amplificationOf("math.sin", quotient("%e")), 0.01 * 0.5, 0.0005);
  EXPECT_NEAR(amplificationOf("math.sin", quotient("%o")), 0.01, 0.001) << "a sum of others";
}

std::string product(StringRef range, StringRef made) {
  return (R"(
func.func @main(%u: tensor<64x256xf32>, %w: tensor<256x64xf32>)" +
          range + R"(, %p: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = math.absf %u : tensor<64x256xf32>
)" + made +
          R"(
  %s = linalg.matmul ins(%a, %f : tensor<64x256xf32>, tensor<256x64xf32>) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = arith.addf %s, %p : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
})")
      .str();
}

/// 256 products of size 1/16 add up to 1, as much as what they are added to.
TEST_F(ErrorModelTest, AParameterOfStatedRangeIsAParameter) {
  StringRef weight = "  %f = tensor.cast %w : tensor<256x64xf32> to tensor<256x64xf32>";
  double assumed = amplificationOf("linalg.matmul", product("", weight)),
         stated =
             amplificationOf("linalg.matmul", product(" {mp.range = [-0.10825, 0.10825]}", weight));
  EXPECT_NEAR(assumed, 0.5, 0.01);
  EXPECT_NEAR(stated, 0.5, 0.01);
}

/// In 0.9 m + 0.1 g the argument m counts as 9 times 0.1 g where all g are of one sign, 6.5 times
/// where they are half in common, and as of size 1 where it is no average. g is of size 0.01.
TEST_F(ErrorModelTest, ARunningAverageIsAsLargeAsWhatIsAveraged) {
  auto step = [](StringRef range, StringRef gradient, StringRef decay) {
    return (R"(
func.func @main(%m: tensor<64x64xf32>)" +
            range +
            R"(, %u: tensor<64x64xf32> {mp.range = [-0.01732, 0.01732]}) -> tensor<64x64xf32> {
  %old = arith.constant dense<)" +
            decay + R"(> : tensor<64x64xf32>
  %new = arith.constant dense<0.1> : tensor<64x64xf32>
  %g = math.sin %u : tensor<64x64xf32>
  %x = math.)" +
            gradient + R"( %g : tensor<64x64xf32>
  %a = arith.mulf %m, %old : tensor<64x64xf32>
  %b = arith.mulf %x, %new : tensor<64x64xf32>
  %r = arith.addf %a, %b : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
})")
        .str();
  };
  EXPECT_NEAR(amplificationOf("math.sin", step("", "absf", "0.9")), 1.0 / 82, 1e-4);
  EXPECT_NEAR(amplificationOf("math.sin", step("", "atan", "0.9")), 1 / (1 + 6.53 * 6.53), 5e-4);
  // No average, but a sum; and one whose size is known.
  EXPECT_LT(amplificationOf("math.sin", step("", "absf", "1.0")), 1e-4);
  EXPECT_NEAR(amplificationOf("math.sin", step(" {mp.range = [-1.732, 1.732]}", "absf", "0.9")),
              1e-6 / 0.81, 1e-7);
}

/// Activations that are not negative weigh what they meet, but nothing says that this has one sign.
TEST_F(ErrorModelTest, OnlyAveragesAreOfWhatHasMuchInCommon) {
  StringRef computed = "  %f = math.sin %w : tensor<256x64xf32>";
  EXPECT_NEAR(
      amplificationOf("linalg.matmul", product(" {mp.range = [-0.10825, 0.10825]}", computed)), 0.5,
      0.01);
}

/// One of ten is 1, so that a mean square is 1/10.
TEST_F(ErrorModelTest, AOneHotIsAsLargeAsOneOfMany) {
  auto sum = [](StringRef compared) {
    return (R"(
func.func @main(%l: tensor<32xi32>, %u: tensor<32x10xf32>) -> tensor<32x10xf32> {
  %e = tensor.empty() : tensor<32x10xf32>
  %a = math.absf %u : tensor<32x10xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%l, %a : tensor<32xi32>, tensor<32x10xf32>) outs(%e : tensor<32x10xf32>) {
  ^bb0(%label: i32, %x: f32, %o: f32):
    %p = linalg.index 1 : index
    %i = arith.index_cast %p : index to i32
    %t = arith.cmpi )" +
            compared + R"( : i32
    %f = arith.uitofp %t : i1 to f32
    %s = arith.addf %x, %f : f32
    linalg.yield %s : f32
  } -> tensor<32x10xf32>
  return %r : tensor<32x10xf32>
})")
        .str();
  };
  EXPECT_NEAR(amplificationOf("math.absf", sum("eq, %i, %label")), 1 / 1.1, 0.001);
  EXPECT_NEAR(amplificationOf("math.absf", sum("slt, %i, %label")), 0.5, 0.001);
}

/// A quarter of the elements is sin u; all are added to numbers of the same size, 1/10.
TEST_F(ErrorModelTest, ZerosAroundAndBetweenElementsAreElements) {
  auto sum = [&](StringRef part) {
    return amplificationOf("math.sin", (R"(
func.func @main(%u: tensor<8x8xf32> {mp.range = [-0.1732, 0.1732]}, %o: tensor<16x16xf32> {mp.range = [-0.1732, 0.1732]},
                %p: tensor<16x16xf32> {mp.range = [-0.1732, 0.1732]}) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %zeros = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = math.sin %u : tensor<8x8xf32>
)" + part + R"(
  %r = arith.addf %s, %p : tensor<16x16xf32>
  return %r : tensor<16x16xf32>
})")
                                           .str());
  };
  auto inserted = [&](StringRef into) {
    return sum(("  %s = tensor.insert_slice %a into " + into +
                "[0, 0] [8, 8] [2, 2] : tensor<8x8xf32> into tensor<16x16xf32>")
                   .str());
  };
  auto padded = [&](StringRef with) {
    return sum(("  %s = tensor.pad %a low[4, 4] high[4, 4] {\n  ^bb0(%i: index, %j: index):\n    "
                "tensor.yield " +
                with + " : f32\n  } : tensor<8x8xf32> to tensor<16x16xf32>")
                   .str());
  };
  EXPECT_NEAR(inserted("%zeros"), 0.25 / 1.25, 0.005);
  EXPECT_NEAR(inserted("%o"), 0.25 / 2, 0.005) << "between others of its size";
  EXPECT_NEAR(padded("%zero"), 0.25 / 1.25, 0.005);
  EXPECT_NEAR(padded("%least"), 0.5, 0.005) << "what maxima begin with is no part of a size";
  EXPECT_NEAR(sum("  %h = tensor.concat dim(0) %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
                  "tensor<16x8xf32>\n  %q = tensor.extract_slice %o[0, 0] [16, 8] [1, 1] : "
                  "tensor<16x16xf32> to tensor<16x8xf32>\n  %s = tensor.concat dim(1) %h, %q : "
                  "(tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x16xf32>"),
              0.5 / 2, 0.005);
}

/// The format of a convolution of TOSA is that of its results and of its bias; a product of
/// matrices keeps f32 results.
TEST_F(ErrorModelTest, WhatAConvolutionOfTosaStoresIsRounded) {
  module = parse(R"(
func.func @main(%x: tensor<1x4x4x16xf32> {mp.range = [-0.1732, 0.1732]}, %w: tensor<8x1x1x16xf32> {mp.range = [-1.732, 1.732]},
                %b: tensor<8xf32> {mp.range = [-0.5196, 0.5196]}, %v: tensor<1x16x16xf32> {mp.range = [-1.732, 1.732]})
    -> (tensor<1x4x4x8xf32>, tensor<1x16x16xf32>) {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<[1, 16, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %c = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x4x16xf32>, tensor<8x1x1x16xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  %r = tosa.reshape %x, %shape : (tensor<1x4x4x16xf32>, !tosa.shape<3>) -> tensor<1x16x16xf32>
  %m = tosa.matmul %r, %v, %zp, %zp : (tensor<1x16x16xf32>, tensor<1x16x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16xf32>
  return %c, %m : tensor<1x4x4x8xf32>, tensor<1x16x16xf32>
})");
  ErrorModel model(getMain(*module));
  auto storedBy = [&](StringRef op, FloatType format) {
    return model.getStored(findOp(*module, op), format);
  };
  // 16 products of size 1/10 and a bias of 3/10: half a unit, of which the bias is three fifths.
  double rounding = mpcore::domains::kRoundingRms * 0x1p-11;
  EXPECT_NEAR(storedBy("tosa.conv2d", Float16Type::get(&context)),
              rounding * rounding * (1 + 0.09 / 0.25), 1e-3 * rounding * rounding);
  EXPECT_EQ(storedBy("tosa.conv2d", FloatTF32Type::get(&context)), 0) << "stored as f32";
  EXPECT_EQ(storedBy("tosa.matmul", Float16Type::get(&context)), 0);
}

/// 16 products of x and weights of 1/64, each layer behind a ReLU: x, of size 1, becomes 1/16, and
/// half of its square is left by ReLU. Initialisers make arguments as large as what they multiply
/// needs, so that of those nothing is known.
TEST_F(ErrorModelTest, SizesBehindConstantsAreKnown) {
  auto layer = [](StringRef x, StringRef result, StringRef weight) {
    return ("  %" + result + R"(s = linalg.matmul ins(%)" + x + ", %" + weight +
            R"( : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  %)" + result +
            " = arith.maximumf %" + result + R"(s, %zero : tensor<16x16xf32>
)")
        .str();
  };
  module = parse(R"(
func.func @main(%x: tensor<16x16xf32> {mp.range = [-1.7320508, 1.7320508]}, %p: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %w = arith.constant dense<0.015625> : tensor<16x16xf32>
)" + layer("x", "a", "w") +
                 layer("a", "b", "w") + layer("x", "c", "p") + R"(
  return %b, %c : tensor<16x16xf32>, tensor<16x16xf32>
})");
  ErrorModel model(getMain(*module));
  SmallVector<double> sizes;
  getMain(*module)->walk([&](linalg::MatmulOp product) {
    sizes.push_back(model.getKnownSize(product.getInputs()[0]).value_or(-1));
    sizes.push_back(model.getKnownSize(product.getResult(0)).value_or(-1));
  });
  ASSERT_EQ(sizes.size(), 6u);
  EXPECT_EQ(sizes[0], -1) << "an argument";
  EXPECT_NEAR(sizes[1], 1.0 / 16, 1e-6);
  EXPECT_NEAR(sizes[2], 1.0 / 16 / std::sqrt(2.0), 1e-4) << "by quadrature, up to four deviations";
  EXPECT_NEAR(sizes[3], 1.0 / 256 / std::sqrt(2.0), 1e-5);
  EXPECT_EQ(sizes[5], -1) << "made by a parameter";
}

/// f16 has steps of 2^-24 below its normal numbers: of elements as large as one step, rounding
/// loses 1/12 of the square, and of zeros nothing.
TEST_F(ErrorModelTest, SmallElementsUnderflow) {
  FloatType f16 = Float16Type::get(&context);
  const double step = std::ldexp(1.0, -24);
  EXPECT_NEAR(getUnderflowNoise(step, f16), 1.0 / 12, 1e-9);
  EXPECT_NEAR(getUnderflowNoise(8 * step, f16), 1.0 / 12 / 64, 1e-9);
  EXPECT_EQ(getUnderflowNoise(step / 100, f16), 1) << "all of it";
  EXPECT_EQ(getUnderflowNoise(0, f16), 0);
}

} // namespace
