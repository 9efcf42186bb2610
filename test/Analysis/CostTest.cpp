// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks what cost models count: elements, bytes, multiply-adds and runs by their definitions, and
// which ops share a kernel.

#include "AnalysisTest.h"
#include "mp/Analysis/Cost/ExecutionFrequency.h"
#include "mp/Analysis/Cost/FusionGroups.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Analysis/ReductionLength.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct CostTest : testing::Test, AnalysisContext {};

TEST_F(CostTest, CountsElementsAndAssumesWhatIsDynamic) {
  Builder builder(&context);
  Sizes sizes(100);
  EXPECT_EQ(sizes.countElements(RankedTensorType::get({3, 5}, builder.getF32Type())), 15u);
  EXPECT_EQ(sizes.countElements(builder.getF32Type()), 1u);
  EXPECT_EQ(sizes.countElements(RankedTensorType::get({3, 0}, builder.getF32Type())), 0u);
  EXPECT_FALSE(sizes.assumedSize());
  EXPECT_EQ(
      sizes.countElements(RankedTensorType::get({3, ShapedType::kDynamic}, builder.getF32Type())),
      300u);
  EXPECT_TRUE(sizes.assumedSize());
  int64_t huge = int64_t(1) << 40;
  EXPECT_EQ(sizes.countElements(RankedTensorType::get({huge, huge}, builder.getF32Type())),
            ~uint64_t(0))
      << "saturates";
}

TEST_F(CostTest, TakesStatedSizesOfArguments) {
  auto module = parse(R"(
func.func @main(%x: tensor<?x4xf32> {mp.dim = array<i64: 7, 4>}, %y: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  return %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
})");
  Sizes sizes(100);
  EXPECT_EQ(sizes.countElements(getMain(*module).getArgument(0)), 28u);
  EXPECT_EQ(sizes.countBytes(getMain(*module).getArgument(0), 16), 56u);
  EXPECT_EQ(sizes.countBytes(getMain(*module).getArgument(0), 4), 28u) << "whole bytes";
  EXPECT_FALSE(sizes.assumedSize());
  EXPECT_EQ(sizes.countElements(getMain(*module).getArgument(1)), 400u);
}

struct Work {
  const char *op, *text;
  uint64_t multiplyAdds;
  std::optional<int64_t> length;
};

const Work kWork[] = {
    {"linalg.matmul", R"(
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
})",
     30, 3},
    {"linalg.batch_matmul", R"(
func.func @main(%a: tensor<7x2x3xf32>, %b: tensor<7x3x5xf32>, %c: tensor<7x2x5xf32>) -> tensor<7x2x5xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<7x2x3xf32>, tensor<7x3x5xf32>) outs(%c : tensor<7x2x5xf32>) -> tensor<7x2x5xf32>
  return %r : tensor<7x2x5xf32>
})",
     210, 3},
    {"linalg.conv_2d_nhwc_hwcf", R"(
func.func @main(%a: tensor<1x6x6x3xf32>, %b: tensor<3x3x3x8xf32>, %c: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x6x6x3xf32>, tensor<3x3x3x8xf32>) outs(%c : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %r : tensor<1x4x4x8xf32>
})",
     16 * 8 * 27, 27},
    {"tosa.conv2d", R"(
func.func @main(%a: tensor<1x6x6x3xf32>, %b: tensor<8x3x3x3xf32>, %c: tensor<8xf32>) -> tensor<1x4x4x8xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.conv2d %a, %b, %c, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x3xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  return %r : tensor<1x4x4x8xf32>
})",
     16 * 8 * 27, 27},
    {"linalg.matmul", R"(
func.func @main(%a: tensor<2x?xf32>, %b: tensor<?x5xf32>, %c: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2x?xf32>, tensor<?x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
})",
     1000, std::nullopt},
};

TEST_F(CostTest, CountsMultiplyAddsByDefinition) {
  for (const Work &tried : kWork) {
    auto module = parse(tried.text);
    Operation *op = findOp(*module, tried.op);
    EXPECT_EQ(Sizes(100).countMultiplyAdds(op), tried.multiplyAdds) << tried.text;
    EXPECT_EQ(getReductionLength(op), tried.length) << tried.text;
  }
}

TEST_F(CostTest, CountsRunsOfLoopsAndCalls) {
  auto module = parse(R"(
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.exp %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @nobody(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = math.tanh %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %a = scf.for %i = %c0 to %c7 step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %t = func.call @inner(%s) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> tensor<4xf32> {
    %t = math.absf %s : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  %c = func.call @inner(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
})");
  ExecutionFrequency frequency(*module);
  EXPECT_EQ(frequency.getCalls(module->lookupSymbol("inner")), 8);
  EXPECT_EQ(frequency.getCalls(module->lookupSymbol("nobody")), 0);
  Operation *unknown = findOp(*module, "math.absf");
  EXPECT_TRUE(getRunsPerCall(unknown).assumed);
  EXPECT_EQ(getRunsPerCall(unknown).count, 10);
  EXPECT_FALSE(getRunsPerCall(findOp(*module, "func.return")).assumed);
}

/// A chain into a reduction, a product with two readers, a cast with two, a contraction.
TEST_F(CostTest, GroupsWhatSharesAKernel) {
  auto module = parse(R"(
func.func @main(%x: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %v = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %0 = math.absf %x : tensor<4x4xf32>
  %1 = arith.subf %0, %x : tensor<4x4xf32>
  %2 = linalg.reduce { arith.addf } ins(%1 : tensor<4x4xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %3 = math.exp %x : tensor<4x4xf32>
  %4 = arith.negf %3 : tensor<4x4xf32>
  %5 = linalg.matmul ins(%3, %4 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2, %5, %4 : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
})");
  FusionGroups groups(getMain(*module));
  Operation *reduce = findOp(*module, "linalg.reduce"), *product = findOp(*module, "linalg.matmul");
  EXPECT_EQ(groups.getRoot(findOp(*module, "arith.subf")), reduce);
  EXPECT_TRUE(groups.isAbsorbed(findOp(*module, "arith.subf")));
  EXPECT_FALSE(groups.isAbsorbed(findOp(*module, "math.exp"))) << "it has two readers";
  EXPECT_FALSE(groups.isAbsorbed(reduce));
  EXPECT_EQ(groups.getRoot(product), product);
  EXPECT_EQ(groups.getKind(product), KernelKind::Contraction);
  EXPECT_EQ(groups.getKind(reduce), KernelKind::Reduction);
  EXPECT_EQ(groups.getKind(findOp(*module, "linalg.fill")), KernelKind::None);
}

TEST_F(CostTest, TakesSecondFactorsForParameters) {
  auto module = parse(R"(
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x5xf32>, %a: tensor<7x3x5xf32>, %b: tensor<7x2x3xf32>, %c: tensor<2x5xf32>, %d: tensor<7x2x5xf32>)
    -> (tensor<2x5xf32>, tensor<7x2x5xf32>) {
  %r = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x5xf32>) outs(%c : tensor<2x5xf32>) -> tensor<2x5xf32>
  %s = linalg.batch_matmul ins(%b, %a : tensor<7x2x3xf32>, tensor<7x3x5xf32>) outs(%d : tensor<7x2x5xf32>) -> tensor<7x2x5xf32>
  return %r, %s : tensor<2x5xf32>, tensor<7x2x5xf32>
})");
  FunctionOpInterface main = getMain(*module);
  EXPECT_EQ(whyParameter(main, 0), "") << "a first factor";
  EXPECT_NE(whyParameter(main, 1), "");
  EXPECT_EQ(whyParameter(main, 2), "") << "keys of a batch";
  main.setArgAttr(0, "mp.role", StringAttr::get(&context, "parameter"));
  EXPECT_NE(whyParameter(main, 0), "");
  EXPECT_EQ(whyParameter(main, 1), "") << "where roles are given, nothing is found besides";
}

TEST_F(CostTest, HashesContentAlone) {
  auto hashOf = [&](StringRef text) { return hashFunction(getMain(*parse(text))); };
  std::string text = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %r = arith.addf %x, %c : tensor<4xf32>
  return %r : tensor<4xf32>
})";
  auto with = [&](StringRef from, StringRef to) {
    std::string changed = text;
    return changed.replace(changed.find(from.str()), from.size(), to.str());
  };
  EXPECT_EQ(hashOf(text), hashOf(text));
  EXPECT_EQ(hashOf(text),
            hashOf(with("%x: tensor<4xf32>)", "%x: tensor<4xf32> {mp.storage = bf16})")));
  EXPECT_NE(hashOf(text), hashOf(with("dense<1.0>", "dense<1.5>")));
  EXPECT_NE(hashOf(text), hashOf(with("%x, %c", "%c, %x")));
  EXPECT_NE(hashOf(text), hashOf(with("arith.addf", "arith.subf")));
}

} // namespace
