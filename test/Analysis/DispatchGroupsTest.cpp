// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks which ops are expected to share a kernel with a product or a reduction, and which not.

#include "mp/Analysis/Cost/DispatchGroups.h"
#include "AnalysisTest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct DispatchGroupsTest : testing::Test, AnalysisContext {
  /// Groups of a function's ops, with `products` on Tensor Cores or not.
  struct Grouped {
    OwningOpRef<ModuleOp> module;
    FusionGroups fusion;
    Sizes sizes;
    DispatchGroups groups;

    Grouped(OwningOpRef<ModuleOp> parsed, bool products)
        : module(std::move(parsed)), fusion(getMain(*module)), sizes(128),
          groups(
              getMain(*module), fusion, sizes,
              [=](Operation *op) {
                return products ? FloatType(BFloat16Type::get(op->getContext())) : FloatType();
              },
              /*fusesAttention=*/true) {}

    /// The op at a line of the body, counted from 0, constants included.
    Operation *at(unsigned index) {
      auto &block = getMain(*module).getFunctionBody().front();
      return &*std::next(block.begin(), index);
    }
    std::optional<unsigned> kernel(unsigned index) { return groups.getKernel(at(index)); }
    bool isInternal(unsigned index) { return groups.isInternal(at(index)->getResult(0)); }
  };
};

constexpr const char *kLayer = R"(
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<8x16xf32>, %v: tensor<8xf32>) -> tensor<8x16xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = arith.addf %0, %b : tensor<8x16xf32>
  %2 = arith.addf %1, %x : tensor<8x16xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<8x16xf32>) outs(%v : tensor<8xf32>) dimensions = [1]
  %4 = math.rsqrt %3 : tensor<8xf32>
  %5 = linalg.broadcast ins(%4 : tensor<8xf32>) outs(%b : tensor<8x16xf32>) dimensions = [1]
  %6 = arith.mulf %2, %5 : tensor<8x16xf32>
  return %6 : tensor<8x16xf32>
})";

TEST_F(DispatchGroupsTest, ProductsShareALaunchThroughReshapesOfTheirOwn) {
  Grouped of(parse(R"(
func.func @main(%x: tensor<1x8x16xf32>, %y: tensor<1x8x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>, %u: tensor<16x16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x8x16xf32> into tensor<8x16xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x8x16xf32> into tensor<8x16xf32>
  %3 = linalg.matmul ins(%2, %v : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  %4 = tensor.collapse_shape %y [[0, 1], [2]] : tensor<1x8x16xf32> into tensor<8x16xf32>
  %5 = linalg.matmul ins(%4, %u : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %5 : tensor<8x16xf32>
})"),
             /*products=*/true);
  EXPECT_FALSE(of.groups.sharesLaunch(of.at(1))) << "the first";
  EXPECT_TRUE(of.groups.sharesLaunch(of.at(3)));
  EXPECT_FALSE(of.groups.sharesLaunch(of.at(5))) << "another operand";
}

TEST_F(DispatchGroupsTest, EpiloguesJoinProductsAndRowsTheirReductions) {
  Grouped of(parse(kLayer), /*products=*/true);
  EXPECT_EQ(of.kernel(0), of.kernel(1)) << "bias";
  EXPECT_EQ(of.kernel(0), of.kernel(2)) << "residual";
  EXPECT_NE(of.kernel(2), of.kernel(3)) << "a reduction is no epilogue";
  EXPECT_EQ(of.kernel(3), of.kernel(4));
  EXPECT_EQ(of.kernel(3), of.kernel(6)) << "what reads a row's sum";
  EXPECT_TRUE(of.groups.hasEpilogue(of.at(0)));
  EXPECT_TRUE(of.isInternal(0));
  EXPECT_TRUE(of.isInternal(1));
  EXPECT_FALSE(of.isInternal(2)) << "another kernel reads it";
  EXPECT_TRUE(of.isInternal(3));
  EXPECT_FALSE(of.isInternal(6)) << "it is returned";
  for (unsigned op : {0, 3})
    EXPECT_TRUE(of.groups.isFirst(of.at(op)));
  for (unsigned op : {1, 2, 4, 5, 6})
    EXPECT_FALSE(of.groups.isFirst(of.at(op)));
}

TEST_F(DispatchGroupsTest, NothingJoinsProductsOfScalarUnits) {
  Grouped of(parse(kLayer), /*products=*/false);
  EXPECT_NE(of.kernel(0), of.kernel(1));
  EXPECT_FALSE(of.isInternal(0));
  EXPECT_FALSE(of.groups.hasEpilogue(of.at(0)));
  EXPECT_EQ(of.kernel(1), of.kernel(6)) << "rows take it";
}

/// The second sum needs the product of what the first gives: one kernel for both would need itself.
TEST_F(DispatchGroupsTest, NoKernelNeedsItself) {
  Grouped of(parse(R"(
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = math.tanh %0 : tensor<8x16xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = arith.addf %1, %2 : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
})"),
             /*products=*/true);
  EXPECT_EQ(of.kernel(0), of.kernel(1));
  EXPECT_EQ(of.kernel(2), of.kernel(3)) << "the later product";
  EXPECT_NE(of.kernel(0), of.kernel(2));
}

/// Products read what is transposed where it lies, but others do not.
TEST_F(DispatchGroupsTest, TranspositionsOfOperandsAreNoKernels) {
  Grouped of(parse(R"(
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<8x16xf32>, %c: tensor<16x16xf32>, %d: tensor<16x8xf32>) -> (tensor<16x16xf32>, tensor<16x8xf32>) {
  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = linalg.transpose ins(%0 : tensor<8x16xf32>) outs(%d : tensor<16x8xf32>) permutation = [1, 0]
  %2 = linalg.matmul ins(%1, %x : tensor<16x8xf32>, tensor<8x16xf32>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = linalg.transpose ins(%x : tensor<8x16xf32>) outs(%d : tensor<16x8xf32>) permutation = [1, 0]
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%d : tensor<16x8xf32>) {
  ^bb0(%e: f32, %f: f32):
    linalg.yield %e : f32
  } -> tensor<16x8xf32>
  %5 = linalg.matmul ins(%4, %x : tensor<16x8xf32>, tensor<8x16xf32>) outs(%2 : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %5, %3 : tensor<16x16xf32>, tensor<16x8xf32>
})"),
             /*products=*/true);
  EXPECT_TRUE(of.groups.showsOperand(of.at(1)));
  EXPECT_EQ(of.kernel(1), of.kernel(0));
  EXPECT_FALSE(of.groups.showsOperand(of.at(3)));
  EXPECT_TRUE(of.groups.showsOperand(of.at(4))) << "as torch spells it";
}

/// A gate: two products of one operand, of which either may take the product of both.
TEST_F(DispatchGroupsTest, ProductsOfOneOperandShareALaunch) {
  Grouped of(parse(R"(
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %u: tensor<16x16xf32>, %n: tensor<16x4xf32>, %b: tensor<8x16xf32>, %c: tensor<8x4xf32>) -> (tensor<8x16xf32>, tensor<8x4xf32>) {
  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = linalg.matmul ins(%x, %u : tensor<8x16xf32>, tensor<16x16xf32>) outs(%b : tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = linalg.matmul ins(%x, %n : tensor<8x16xf32>, tensor<16x4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = arith.mulf %0, %1 : tensor<8x16xf32>
  return %3, %2 : tensor<8x16xf32>, tensor<8x4xf32>
})"),
             /*products=*/true);
  EXPECT_FALSE(of.groups.sharesLaunch(of.at(0)));
  EXPECT_TRUE(of.groups.sharesLaunch(of.at(1)));
  EXPECT_FALSE(of.groups.sharesLaunch(of.at(2))) << "of another size";
  EXPECT_EQ(of.kernel(3), of.kernel(0));
  EXPECT_NE(of.kernel(0), of.kernel(1));
}

TEST_F(DispatchGroupsTest, ZerosAroundOperandsOfProductsAreNoKernel) {
  const char *text = R"(
func.func @main(%x: tensor<1x4x4x3xf32>, %w: tensor<3x3x3x8xf32>, %c: tensor<1x4x4x8xf32>) -> (tensor<1x4x4x8xf32>, tensor<1x6x6x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x4x4x3xf32> to tensor<1x6x6x3xf32>
  %1 = linalg.conv_2d_nhwc_hwcf ins(%0, %w : tensor<1x6x6x3xf32>, tensor<3x3x3x8xf32>) outs(%c : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %2 = tensor.empty() : tensor<1x6x6x3xf32>
  return %1, %2 : tensor<1x4x4x8xf32>, tensor<1x6x6x3xf32>
})";
  Grouped folded(parse(text), /*products=*/true);
  EXPECT_TRUE(folded.groups.isFolded(folded.at(1)));
  EXPECT_FALSE(folded.groups.isFirst(folded.at(1)));
  Grouped scalar(parse(text), /*products=*/false);
  EXPECT_FALSE(scalar.groups.isFolded(scalar.at(1)));
  EXPECT_TRUE(scalar.groups.isFirst(scalar.at(1)));
  std::string also = std::string(text);
  also.replace(also.find("return %1, %2"), 13, "return %1, %0");
  Grouped read(parse(also.c_str()), /*products=*/true);
  EXPECT_FALSE(read.groups.isFolded(read.at(1))) << "it is returned, too";
}

/// Attention of 32 keys, with the logits' kernel and the softmax part of that of the second
/// product.
std::string attention(std::string returned, std::string maximum = "arith.maximumf") {
  return R"(
func.func @main(%q: tensor<16x64xf32>, %k: tensor<64x32xf32>, %v: tensor<32x64xf32>, %m: tensor<16x32xf32>, %r: tensor<16xf32>, %o: tensor<16x64xf32>) -> ()" +
         std::string(returned == "%10" ? "tensor<16x64xf32>"
                                       : "tensor<16x64xf32>, tensor<16x32xf32>") +
         R"() {
  %0 = linalg.matmul ins(%q, %k : tensor<16x64xf32>, tensor<64x32xf32>) outs(%m : tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = arith.addf %0, %m : tensor<16x32xf32>
  %2 = linalg.reduce { )" +
         maximum + R"( } ins(%1 : tensor<16x32xf32>) outs(%r : tensor<16xf32>) dimensions = [1]
  %3 = linalg.broadcast ins(%2 : tensor<16xf32>) outs(%m : tensor<16x32xf32>) dimensions = [1]
  %4 = arith.subf %1, %3 : tensor<16x32xf32>
  %5 = math.exp %4 : tensor<16x32xf32>
  %6 = linalg.reduce { arith.addf } ins(%5 : tensor<16x32xf32>) outs(%r : tensor<16xf32>) dimensions = [1]
  %7 = linalg.broadcast ins(%6 : tensor<16xf32>) outs(%m : tensor<16x32xf32>) dimensions = [1]
  %8 = arith.divf %5, %7 : tensor<16x32xf32>
  %9 = linalg.matmul ins(%8, %v : tensor<16x32xf32>, tensor<32x64xf32>) outs(%o : tensor<16x64xf32>) -> tensor<16x64xf32>
  %10 = math.tanh %9 : tensor<16x64xf32>
  return )" +
         returned +
         (returned == "%10" ? " : tensor<16x64xf32>" : " : tensor<16x64xf32>, tensor<16x32xf32>") +
         "\n}";
}

TEST_F(DispatchGroupsTest, AttentionIsOneKernel) {
  Grouped of(parse(attention("%10").c_str()), /*products=*/true);
  EXPECT_EQ(of.groups.getLogits(of.at(9)), of.at(0));
  EXPECT_EQ(of.groups.getValueProduct(of.at(0)), of.at(9));
  for (unsigned op : {0, 1, 5, 8, 10})
    EXPECT_EQ(of.kernel(op), of.kernel(9)) << op;
  EXPECT_TRUE(of.isInternal(1)) << "logits";
  EXPECT_TRUE(of.isInternal(8)) << "probabilities";
  EXPECT_FALSE(of.isInternal(10));
  for (unsigned op : {0, 1, 2, 5, 8, 10})
    EXPECT_FALSE(of.groups.isFirst(of.at(op))) << op;
  EXPECT_TRUE(of.groups.isFirst(of.at(9)));
}

TEST_F(DispatchGroupsTest, AttentionThatOthersReadIsApart) {
  for (const char *also : {"%1", "%8", "%5"}) { // logits, probabilities, exponentials
    Grouped of(parse(attention("%10, " + std::string(also)).c_str()), /*products=*/true);
    EXPECT_EQ(of.groups.getLogits(of.at(9)), nullptr) << also;
    EXPECT_EQ(of.groups.getValueProduct(of.at(0)), nullptr);
    EXPECT_NE(of.kernel(0), of.kernel(9));
  }
  Grouped sums(parse(attention("%10", "arith.addf").c_str()), /*products=*/true);
  EXPECT_EQ(sums.groups.getLogits(sums.at(9)), nullptr) << "no softmax: a mean is subtracted";
  Grouped wide(parse(attention("%10").c_str()), /*products=*/false);
  EXPECT_EQ(wide.groups.getLogits(wide.at(9)), nullptr) << "in f32";
}

/// torch's attention, whose rows that are masked whole are zero, as torch-mlir writes it: the op at
/// line 17 tests each logit, the one behind it asks for all of a row.
std::string maskedAttention(std::string predicate) {
  return R"(
#a = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @main(%q: tensor<16x64xf32>, %k: tensor<64x32xf32>, %v: tensor<32x64xf32>, %m: tensor<16x32xf32>, %r: tensor<16xf32>, %o: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %e = tensor.empty() : tensor<16xf32>
  %f = tensor.empty() : tensor<16xi1>
  %g = tensor.empty() : tensor<16x32xi1>
  %most = linalg.fill ins(%low : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %all = linalg.fill ins(%true : i1) outs(%f : tensor<16xi1>) -> tensor<16xi1>
  %0 = linalg.matmul ins(%q, %k : tensor<16x64xf32>, tensor<64x32xf32>) outs(%m : tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = arith.addf %0, %m : tensor<16x32xf32>
  %2 = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<16x32xf32>) outs(%most : tensor<16xf32>) {
  ^bb0(%x: f32, %y: f32):
    %max = arith.maximumf %x, %y : f32
    linalg.yield %max : f32
  } -> tensor<16xf32>
  %3 = linalg.broadcast ins(%2 : tensor<16xf32>) outs(%m : tensor<16x32xf32>) dimensions = [1]
  %4 = arith.subf %1, %3 : tensor<16x32xf32>
  %5 = math.exp %4 : tensor<16x32xf32>
  %6 = linalg.reduce { arith.addf } ins(%5 : tensor<16x32xf32>) outs(%r : tensor<16xf32>) dimensions = [1]
  %7 = linalg.broadcast ins(%6 : tensor<16xf32>) outs(%m : tensor<16x32xf32>) dimensions = [1]
  %8 = arith.divf %5, %7 : tensor<16x32xf32>
  %9 = linalg.generic {indexing_maps = [#a, #a], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<16x32xf32>) outs(%g : tensor<16x32xi1>) {
  ^bb0(%x: f32, %y: i1):
    %test = arith.cmpf )" +
         predicate + R"(, %x, %low : f32
    linalg.yield %test : i1
  } -> tensor<16x32xi1>
  %10 = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "reduction"]} ins(%9 : tensor<16x32xi1>) outs(%all : tensor<16xi1>) {
  ^bb0(%x: i1, %y: i1):
    %and = arith.andi %x, %y : i1
    linalg.yield %and : i1
  } -> tensor<16xi1>
  %11 = linalg.generic {indexing_maps = [#r, #a, #a], iterator_types = ["parallel", "parallel"]} ins(%10, %8 : tensor<16xi1>, tensor<16x32xf32>) outs(%m : tensor<16x32xf32>) {
  ^bb0(%c: i1, %x: f32, %y: f32):
    %p = arith.select %c, %zero, %x : f32
    linalg.yield %p : f32
  } -> tensor<16x32xf32>
  %12 = linalg.matmul ins(%11, %v : tensor<16x32xf32>, tensor<32x64xf32>) outs(%o : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %12 : tensor<16x64xf32>
})";
}

TEST_F(DispatchGroupsTest, AttentionThatAsksForMaskedRowsIsOneKernel) {
  Grouped of(parse(maskedAttention("oeq").c_str()), /*products=*/true);
  EXPECT_EQ(of.groups.getLogits(of.at(20)), of.at(8));
  for (unsigned op : {8, 9, 10, 17, 18, 19})
    EXPECT_EQ(of.kernel(op), of.kernel(20)) << op;
  Grouped other(parse(maskedAttention("ole").c_str()), /*products=*/true);
  EXPECT_EQ(other.groups.getLogits(other.at(20)), nullptr) << "a reduction that no maximum tells";
}

TEST_F(DispatchGroupsTest, CountsTheProductThatAContractionIs) {
  auto product = [&](const char *name, const char *text) {
    auto module = parse(text);
    return Sizes(128).countProduct(findOp(*module, name));
  };
  auto same = [](const mpcore::performance::MatmulProblem &p, std::array<int64_t, 4> sizes) {
    return std::array{p.batch, p.m, p.n, p.k} == sizes;
  };
  EXPECT_TRUE(same(product("linalg.batch_matmul", R"(
func.func @main(%a: tensor<7x2x3xf32>, %b: tensor<7x3x5xf32>, %c: tensor<7x2x5xf32>) -> tensor<7x2x5xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<7x2x3xf32>, tensor<7x3x5xf32>) outs(%c : tensor<7x2x5xf32>) -> tensor<7x2x5xf32>
  return %r : tensor<7x2x5xf32>
})"),
                   {7, 2, 5, 3}));
  EXPECT_TRUE(same(product("linalg.conv_2d_nhwc_hwcf", R"(
func.func @main(%a: tensor<1x6x6x3xf32>, %b: tensor<3x3x3x8xf32>, %c: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x6x6x3xf32>, tensor<3x3x3x8xf32>) outs(%c : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %r : tensor<1x4x4x8xf32>
})"),
                   {1, 16, 8, 27}));
  EXPECT_TRUE(same(product("linalg.matvec", R"(
func.func @main(%a: tensor<6x3xf32>, %b: tensor<3xf32>, %c: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.matvec ins(%a, %b : tensor<6x3xf32>, tensor<3xf32>) outs(%c : tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
})"),
                   {1, 6, 1, 3}));
  EXPECT_TRUE(same(product("linalg.matmul", R"(
func.func @main(%a: tensor<0x3xf32>, %b: tensor<3x5xf32>, %c: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<0x3xf32>, tensor<3x5xf32>) outs(%c : tensor<0x5xf32>) -> tensor<0x5xf32>
  return %r : tensor<0x5xf32>
})"),
                   {1, 0, 1, 1}));
}

} // namespace
