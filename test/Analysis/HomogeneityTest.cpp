// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Degrees of homogeneity obey their lattice, and hold of tiny graphs: what is said to be of degree
// d is evaluated at x and 2 x.

#include "mp/Analysis/Training/Homogeneity.h"
#include "AnalysisTest.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

const Degree kDegrees[] = {Degree::any(),   Degree::of(0), Degree::of(1), Degree::of(-1),
                           Degree::of(0.5), Degree::of(2), Degree::top()};

TEST(Degree, IsALattice) {
  for (Degree a : kDegrees) {
    EXPECT_EQ(join(a, a), a);
    EXPECT_EQ(join(a, Degree::any()), a);
    EXPECT_EQ(join(a, Degree::top()), Degree::top());
    for (Degree b : kDegrees) {
      EXPECT_EQ(join(a, b), join(b, a));
      for (Degree c : kDegrees)
        EXPECT_EQ(join(join(a, b), c), join(a, join(b, c)));
    }
  }
}

TEST(Degree, IsAMonoidUnderProducts) {
  for (Degree a : kDegrees) {
    EXPECT_EQ(product(a, Degree::of(0)), a);
    EXPECT_EQ(quotient(a, Degree::of(0)), a);
    for (Degree b : kDegrees) {
      EXPECT_EQ(product(a, b), product(b, a));
      EXPECT_EQ(power(product(a, b), 2), product(power(a, 2), power(b, 2)));
      for (Degree c : kDegrees)
        EXPECT_EQ(product(product(a, b), c), product(a, product(b, c)));
      // Products are monotone: what is known of a sum is known of the products of its terms.
      for (Degree c : kDegrees)
        EXPECT_EQ(join(product(join(a, b), c), join(product(a, c), product(b, c))),
                  product(join(a, b), c));
    }
  }
}

struct Case {
  const char *name;
  const char *degree; ///< of %r where %x is multiplied
  const char *body;   ///< computes %r of %x and %w, 4x4
};

const Case kCases[] = {
    {"product_with_another", "1", "%r = arith.mulf %x, %w : tensor<4x4xf32>"},
    {"square", "2", "%r = arith.mulf %x, %x : tensor<4x4xf32>"},
    {"quotient", "0", "%r = arith.divf %x, %x : tensor<4x4xf32>"},
    {"inverse", "-1", "%r = arith.divf %w, %x : tensor<4x4xf32>"},
    {"root", "0.5", "%r = math.sqrt %x : tensor<4x4xf32>"},
    {"inverse_root", "-0.5", "%r = math.rsqrt %x : tensor<4x4xf32>"},
    {"sum_of_multiples", "1", R"(
  %a = arith.mulf %x, %w : tensor<4x4xf32>
  %r = arith.addf %a, %x : tensor<4x4xf32>)"},
    {"sum_with_another", "top", "%r = arith.addf %x, %w : tensor<4x4xf32>"},
    {"sum_of_other_degrees", "top", R"(
  %a = arith.mulf %x, %x : tensor<4x4xf32>
  %r = arith.addf %a, %x : tensor<4x4xf32>)"},
    {"sum_with_zero", "1", "%r = arith.addf %x, %zero : tensor<4x4xf32>"},
    {"sum_with_one", "top", "%r = arith.addf %x, %one : tensor<4x4xf32>"},
    {"relu", "1", "%r = arith.maximumf %x, %zero : tensor<4x4xf32>"},
    {"clipped_at_one", "top", "%r = arith.minimumf %x, %one : tensor<4x4xf32>"},
    {"exponential", "top", "%r = math.exp %x : tensor<4x4xf32>"},
    {"of_another", "0", "%r = math.exp %w : tensor<4x4xf32>"},
    {"chosen_by_another", "1", R"(
  %c = arith.cmpf ogt, %w, %one : tensor<4x4xf32>
  %r = arith.select %c, %x, %zero : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"chosen_by_its_sign", "1", R"(
  %c = arith.cmpf ogt, %x, %zero : tensor<4x4xf32>
  %r = arith.select %c, %x, %zero : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"chosen_by_its_size", "top", R"(
  %c = arith.cmpf ogt, %x, %one : tensor<4x4xf32>
  %r = arith.select %c, %x, %zero : tensor<4x4xi1>, tensor<4x4xf32>)"},
    {"contraction", "1",
     "%r = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : "
     "tensor<4x4xf32>) -> tensor<4x4xf32>"},
    {"contraction_with_itself", "2",
     "%r = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : "
     "tensor<4x4xf32>) -> tensor<4x4xf32>"},
    {"contraction_onto_another", "top",
     "%r = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%w : "
     "tensor<4x4xf32>) -> tensor<4x4xf32>"},
    {"called", "1", "%r = func.call @twice(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>"},
    {"unknown_call", "top", "%r = func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>"},
    {"loop_of_sums", "1", R"(
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x4xf32> {
    %t = arith.addf %s, %x : tensor<4x4xf32>
    scf.yield %t : tensor<4x4xf32>
  })"},
    {"loop_of_products", "top", R"(
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x4xf32> {
    %t = arith.mulf %s, %x : tensor<4x4xf32>
    scf.yield %t : tensor<4x4xf32>
  })"},
    {"tosa_square_root_of_squares", "1", R"(
  %s = tosa.pow %x, %twos : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = math.sqrt %s : tensor<4x4xf32>)"},
    {"fused_multiply_add", "1", "%r = math.fma %x, %w, %x : tensor<4x4xf32>"},
    {"fused_multiply_add_of_another", "top", "%r = math.fma %x, %w, %w : tensor<4x4xf32>"},
};

struct HomogeneityTest : testing::Test, AnalysisContext {
  std::string degreeOf(const Case &tried) {
    auto module = parse((R"(
func.func private @f(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func private @twice(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = arith.addf %x, %x : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %twos = arith.constant dense<2.0> : tensor<4x4xf32>
  )" + Twine(tried.body) +
                         R"(
  return %r : tensor<4x4xf32>
})")
                            .str());
    HomogeneityGraph graph(getMain(*module));
    return graph.propagate(getMain(*module).getArgument(0)).of(getReturned(*module)[0]).str();
  }
};

TEST_F(HomogeneityTest, FindsTheDegreeOfEveryOp) {
  for (const Case &tried : kCases)
    EXPECT_EQ(degreeOf(tried), tried.degree) << tried.name;
}

/// loss' = 2 (w x - y): the seed is the difference, which scales the gradient and nothing before.
TEST_F(HomogeneityTest, FindsTheSeedOfABackwardPass) {
  const char *text = R"(
func.func @main(%w: tensor<4x4xf32>, %x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %rate = arith.constant dense<0.1> : tensor<4x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = arith.subf %p, %y : tensor<4x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%t, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = arith.mulf %g, %rate : tensor<4x4xf32>
  %n = arith.subf %w, %u : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
})";
  auto module = parse(text);
  HomogeneityGraph graph(getMain(*module));
  Value seed = graph.findSeed();
  ASSERT_TRUE(seed);
  EXPECT_EQ(seed.getDefiningOp()->getName().getStringRef(), "arith.subf");
  auto degrees = graph.propagate(seed);
  EXPECT_EQ(degrees.scaledContractions(), 1u);
  EXPECT_EQ(graph.numContractions(), 2u);
  EXPECT_TRUE(degrees.loses(getReturned(*module)[0].getDefiningOp())) << "w - u is not a multiple";
  EXPECT_FALSE(degrees.lostContraction());
}

} // namespace
