// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import as a function: damaged text, large text, lines.

#include "mp/Import/Import.h"
#include "gtest/gtest.h"

#include <ctime>
#include <random>

using namespace llvm;
using namespace mlir::mp;

static constexpr StringRef kEverything = R"(#map = affine_map<(d0) -> (d0)>
module @m attributes {mhlo.num_partitions = 1 : i32, keep = "a\"}{"} { // "comment {
  util.global private @w = #flow.parameter.named<"model"::"lin.w"> : tensor<4xf32>
  util.global private @c {noinline} = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  func private @old(%arg0: tensor<8xf32>) -> tensor<2x4xf32> {
    %cst = constant 0.0 : f32
    %0 = linalg.init_tensor [8] : tensor<8xf32>
    %1 = linalg.fill(%cst, %0) : f32, tensor<8xf32> -> tensor<8xf32>
    %2 = tensor.expand_shape %1 [[0, 1]] : tensor<8xf32> into tensor<2x4xf32>
    return %2 : tensor<2x4xf32>
  }
  util.func public @main(%arg0: tensor<4xf32> {jax.donor = true}, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %w = util.global.load @w : tensor<4xf32>
    %c = util.global.load @c : tensor<4xf32>
    %b = util.optimization_barrier %w : tensor<4xf32>
    %6 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%u, %i : tensor<2xf32>, tensor<2x1xi32>) outs(%b : tensor<4xf32>) {
    ^bb0(%arg3: f32, %arg4: f32):
      %7 = arith.addf %arg4, %arg3 : f32
      iree_linalg_ext.yield %7 : f32
    } -> tensor<4xf32>
    %s:2 = tm_tensor.sort dimension(0) outs(%6, %c : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %t: f32):
      %p = arith.cmpf oge, %x, %y : f32
      tm_tensor.yield %p : i1
    } -> tensor<4xf32>, tensor<4xf32>
    %l = "stablehlo.while"(%s#0) ({
    ^bb0(%x: tensor<4xf32>):
      %no = "arith.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%no) : (tensor<i1>) -> ()
    }, {
    ^bb0(%x: tensor<4xf32>):
      %v, %k = "chlo.top_k"(%x) <{k = 4 : i64}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>)
      %d = "stablehlo.scatter"(%v, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%old: tensor<f32>, %new: tensor<f32>):
        "stablehlo.return"(%new) : (tensor<f32>) -> ()
      }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
      "stablehlo.return"(%d) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    util.return %l, %s#1 : tensor<4xf32>, tensor<4xf32>
  }
}
)";

static std::string import(StringRef text) {
  auto result = importText(MemoryBufferRef(text, "t.mlir"));
  return result ? (*result)->getBuffer().str() : "error: " + toString(result.takeError());
}

TEST(ImportTest, KeepsLines) {
  std::string now = import(kEverything);
  EXPECT_EQ(StringRef(now).count('\n'), kEverything.count('\n'));
  EXPECT_FALSE(StringRef(now).contains("error"));
  for (StringRef gone : {"util.", "tm_tensor", "iree_linalg_ext", "mhlo", "jax."})
    EXPECT_FALSE(StringRef(now).contains(gone)) << gone.str();
  EXPECT_TRUE(StringRef(now).contains(R"(keep = "a\"}{")"));
}

TEST(ImportTest, IsIdempotentAndLeavesOtherTextAlone) {
  std::string now = import(kEverything);
  EXPECT_EQ(import(now), now);
  StringRef plain =
      "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }";
  auto result = importText(MemoryBufferRef(plain, "t.mlir"));
  ASSERT_TRUE(bool(result));
  EXPECT_EQ((*result)->getBufferStart(), plain.data()) << "copied";
}

// Names that the text has already are not taken again.
TEST(ImportTest, AvoidsNamesInUse) {
  std::string text = kEverything.str();
  size_t at = text.find("%arg0: tensor<4xf32>");
  text.replace(at, 5, "%import0");
  std::string now = import(text);
  EXPECT_EQ(StringRef(now).count("%import0"), 1u);
  EXPECT_TRUE(StringRef(now).contains("%import_"));
}

TEST(ImportTest, SurvivesTruncation) {
  for (size_t length = 0; length < kEverything.size(); ++length)
    import(kEverything.take_front(length));
}

TEST(ImportTest, SurvivesDamage) {
  std::mt19937 random(7);
  StringRef alphabet = "(){}[]<>,:=%@#!^\"-0x.a \n/";
  for (unsigned round = 0; round < 2000; ++round) {
    std::string text = kEverything.str();
    for (unsigned i = 0, edits = 1 + random() % 4; i < edits; ++i) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0: text[at] = alphabet[random() % alphabet.size()]; break;
      case 1: text.erase(at, 1 + random() % 20); break;
      default: text.insert(at, text.substr(random() % text.size(), random() % 40));
      }
    }
    import(text);
    explainLeftovers(MemoryBufferRef(text, "t.mlir"));
  }
}

// Time is linear in what is nested: dictionaries, unclosed brackets, ops with errors.
TEST(ImportTest, TakesHostileTextInItsStride) {
  for (StringRef piece :
       {"{a = ", "((((", "<[{", "util.global @a = ", "util.global.load ", "%0 = tm_tensor.scan ",
        "%0 = dim ", "stablehlo.add ", "util.func @f(", "%1 = util.optimization_barrier %0, ",
        "\"stablehlo.while\"(%0) ({ ", "\"stablehlo.sort\"(%0) ({^bb0(%a: f32): "}) {
    std::string text;
    while (text.size() < 1'000'000)
      text += piece;
    std::clock_t start = std::clock();
    import(text);
    double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 10.0) << piece.str(); // most take 0.1 s on an idle machine
  }
}

// Weights of a hundred megabytes are passed over, not read: as hexadecimal, as numbers, and as
// resources at the end of the file.
TEST(ImportTest, PassesOverWeightsAtMemorySpeed) {
  size_t size = 100'000'000;
  std::string numbers;
  while (numbers.size() < size)
    numbers += "1.00000000e+00, -2.50000000e-01, ";
  for (std::string text :
       {"%0 = arith.constant dense<\"0x" + std::string(size, 'A') + "\"> : tensor<4xf32>\n",
        "%0 = arith.constant dense<[" + numbers + "3.0]> : tensor<4xf32>\n",
        "{-# dialect_resources: { builtin: { w: \"0x" + std::string(size, '0') + "\" } } #-}\n"}) {
    std::clock_t start = std::clock();
    auto result = importText(MemoryBufferRef(text, "t.mlir"));
    double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    ASSERT_TRUE(bool(result));
    EXPECT_EQ((*result)->getBufferSize(), text.size());
    EXPECT_LT(seconds, 5.0); // the slowest takes 0.1 s on an idle machine
  }
}
