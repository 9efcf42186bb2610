// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Analyses that look for one thing find it on tiny graphs, and nothing on their near misses: poles
// behind contractions, norms that overflow, idioms, norms on trust, roles of a train step.

#include "AnalysisTest.h"
#include "mp/Analysis/Idioms/Idioms.h"
#include "mp/Analysis/Ranges/Poles.h"
#include "mp/Analysis/Scaling/NormOverflow.h"
#include "mp/Analysis/Training/TrainingRoles.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct FindingsTest : testing::Test, AnalysisContext {
  /// Parses what computes %r, 4x4, of %x and %y, 4x4; %row sums rows up and %spread spreads them.
  void compute(StringRef body) {
    module = parse((R"(
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %none = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %count = arith.constant dense<4.0> : tensor<4xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %v = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%none : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  %l = linalg.fill ins(%lowest : f32) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  )" + body + "\n  return %r : tensor<4x4xf32>\n}")
                       .str());
  }
  std::vector<std::string> idioms() {
    std::vector<std::string> kinds;
    for (const Idiom &idiom : IdiomAnalysis(getMain(*module)).getIdioms())
      kinds.push_back(idiom.kind.str());
    return kinds;
  }
  OwningOpRef<ModuleOp> module;
};

std::string replaced(StringRef text, StringRef from, StringRef to) {
  std::string changed = text.str();
  size_t at = changed.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  return changed.replace(at, from.size(), to.str());
}

const char *const kBehindProduct =
    "%m = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : "
    "tensor<4x4xf32>) -> tensor<4x4xf32>\n";

TEST_F(FindingsTest, PolesBehindContractions) {
  auto hasPole = [&](const Twine &body) {
    compute((kBehindProduct + body).str());
    return bool(Poles(*module).findBehind(findOp(*module, "linalg.matmul")));
  };
  EXPECT_TRUE(hasPole("%r = arith.divf %one, %m : tensor<4x4xf32>"));
  EXPECT_TRUE(hasPole("%r = math.log %m : tensor<4x4xf32>"));
  EXPECT_TRUE(hasPole("%r = math.rsqrt %m : tensor<4x4xf32>"));
  EXPECT_FALSE(hasPole("%r = math.tanh %m : tensor<4x4xf32>"));
  EXPECT_FALSE(hasPole("%r = arith.divf %m, %x : tensor<4x4xf32>")) << "the pole is of x";
  EXPECT_FALSE(hasPole(R"(
  %s = arith.mulf %m, %m : tensor<4x4xf32>
  %t = arith.addf %s, %one : tensor<4x4xf32>
  %r = arith.divf %one, %t : tensor<4x4xf32>)"))
      << "1 + m^2 is at least 1";
}

const char *const kSoftmax = R"(
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<4x4xf32>) outs(%l : tensor<4xf32>) dimensions = [1]
  %mb = linalg.broadcast ins(%max : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
  %d = arith.subf %x, %mb : tensor<4x4xf32>
  %p = math.exp %d : tensor<4x4xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<4x4xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %sb = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
  %r = arith.divf %p, %sb : tensor<4x4xf32>)";

TEST_F(FindingsTest, IdiomsAndNothingThatComesClose) {
  auto found = [&](StringRef text) {
    compute(text);
    return idioms();
  };
  using Kinds = std::vector<std::string>;
  EXPECT_EQ(found(kSoftmax), Kinds{"softmax"});
  EXPECT_EQ(found(replaced(kSoftmax, "arith.divf %p", "arith.divf %d")), Kinds{});
  EXPECT_EQ(found(replaced(kSoftmax, "math.exp", "math.absf")), Kinds{});
  EXPECT_EQ(found(replaced(kSoftmax, "arith.addf", "arith.maximumf")), Kinds{});
  const char *silu = "%s = tosa.sigmoid %x : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
                     "  %r = arith.mulf %x, %s : tensor<4x4xf32>";
  EXPECT_EQ(found(silu), Kinds{"silu"});
  EXPECT_EQ(found(replaced(silu, "mulf %x", "mulf %y")), Kinds{});
}

const char *const kRMS = R"(
  %q = arith.mulf %x, %x : tensor<4x4xf32>
  %s = linalg.reduce { arith.addf } ins(%q : tensor<4x4xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %m = arith.divf %s, %count : tensor<4xf32>
  %k = arith.addf %m, %eps : tensor<4xf32>
  %t = math.rsqrt %k : tensor<4xf32>
  %b = linalg.broadcast ins(%t : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
  %r = arith.mulf %x, %b : tensor<4x4xf32>)";

TEST_F(FindingsTest, NormsWhoseSquaresOverflow) {
  auto found = [&](StringRef body, double magnitude) {
    compute(body);
    return findNormOverflows(
        getMain(*module),
        [&](Value value) {
          return value == getMain(*module).getArgument(0) ? magnitude : HUGE_VAL;
        },
        [](OpOperand &) { return FloatType(); }, /*computedNarrow=*/false);
  };
  auto large = found(kRMS, 1e25);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(large[0].refusal, "");
  EXPECT_LT(large[0].exponent, 0);
  EXPECT_EQ(large[0].exponent % 1, 0);
  EXPECT_TRUE(found(kRMS, 1e15).empty()) << "4e30 is a number of f32";
}

/// loss = |x w - y|^2: the gradient moves w, and x is an input.
const char *const kStep = R"(
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

TEST_F(FindingsTest, RolesOfATrainStep) {
  module = parse(kStep);
  auto step = findTrainStep(*module, "", "test");
  ASSERT_TRUE(succeeded(step));
  auto roles = findTrainingRoles(*step);
  ASSERT_TRUE(succeeded(roles));
  ASSERT_EQ(roles->seeds.size(), 1u);
  EXPECT_EQ(roles->seeds[0].getDefiningOp()->getName().getStringRef(), "arith.subf");
  ASSERT_EQ(roles->gradients.size(), 1u);
  EXPECT_EQ(roles->gradients[0].value, findOp(*module, "linalg.matmul")->getResult(0));
  ASSERT_TRUE(roles->ofArgument(0));
  EXPECT_EQ(roles->ofArgument(0)->role, kRoleParameter);
  EXPECT_FALSE(roles->ofArgument(1) && roles->ofArgument(1)->role == kRoleParameter);
  EXPECT_TRUE(dependsOnContraction(getReturned(*module)[0]));
}

TEST_F(FindingsTest, NoRolesInInference) {
  std::string text = replaced(kStep, "return %n", "return %p");
  module = parse(text);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  auto step = findTrainStep(*module, "", "test");
  ASSERT_TRUE(succeeded(step));
  auto roles = findTrainingRoles(*step);
  EXPECT_TRUE(failed(roles) || !roles->ofArgument(0));
}

} // namespace
