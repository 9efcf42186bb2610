// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that a comparison puts together of parts are bounded by what the parts are where they
// are taken, held to values computed here; with the arms exchanged, another value compared, or its
// elements moved, nothing is.

#include "AnalysisTest.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;
using domains::FloatFacts;

namespace {

struct PiecewiseBoundsTest : testing::Test, AnalysisContext {
  /// Facts about %r in what `body` computes of %x and %y, which may be any numbers.
  FloatFacts factsOf(StringRef body) {
    module = parse((R"(
#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %two = arith.constant dense<2.0> : tensor<4x4xf32>
  %three = arith.constant dense<3.0> : tensor<4x4xf32>
  %half = arith.constant dense<0.5> : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  )" + body + "\n  return %r : tensor<4x4xf32>\n}")
                       .str());
    return ModuleRanges(*module).lookup(getReturned(*module)[0]).facts;
  }
  bool isBounded(StringRef body) { return factsOf(body).range.isBounded(); }

  OwningOpRef<ModuleOp> module;
};

std::string replaced(StringRef text, StringRef from, StringRef to) {
  std::string changed = text.str();
  size_t at = changed.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  return changed.replace(at, from.size(), to.str());
}

/// Numbers of every size and sign, and those beside the boundaries of pieces.
std::vector<float> samples() {
  std::vector<float> found = {0, -0.0f, HUGE_VALF, -HUGE_VALF, 3, std::nextafter(3.f, 4.f), -3};
  for (int exponent = -40; exponent <= 40; ++exponent)
    for (float digits = 1; digits < 2; digits += 0.0625f)
      for (float sign : {1.f, -1.f})
        found.push_back(sign * std::ldexp(digits, exponent));
  return found;
}

struct Function {
  const char *name, *body;
  float (*value)(float);
  double lo, hi; ///< what it takes, to within what pieces lose
};

const char *const kSaturatingSquare = R"(
  %a = math.absf %x : tensor<4x4xf32>
  %c = arith.cmpf ogt, %a, %three : tensor<4x4xf32>
  %q = arith.mulf %x, %x : tensor<4x4xf32>
  %r = arith.select %c, %one, %q : tensor<4x4xi1>, tensor<4x4xf32>)";

const Function kFunctions[] = {
    {"x^2 up to 3, then 1", kSaturatingSquare, [](float x) { return std::fabs(x) > 3 ? 1 : x * x; },
     0, 9.6},
    {"sigmoid by the sign of x", R"(
  %c = arith.cmpf oge, %x, %zero : tensor<4x4xf32>
  %n = arith.negf %x : tensor<4x4xf32>
  %en = math.exp %n : tensor<4x4xf32>
  %dn = arith.addf %en, %one : tensor<4x4xf32>
  %pos = arith.divf %one, %dn : tensor<4x4xf32>
  %ep = math.exp %x : tensor<4x4xf32>
  %dp = arith.addf %ep, %one : tensor<4x4xf32>
  %neg = arith.divf %ep, %dp : tensor<4x4xf32>
  %r = arith.select %c, %pos, %neg : tensor<4x4xi1>, tensor<4x4xf32>)",
     [](float x) { return x >= 0 ? 1 / (std::exp(-x) + 1) : std::exp(x) / (std::exp(x) + 1); }, 0,
     1.1},
    {"reciprocal away from zero", R"(
  %a = math.absf %x : tensor<4x4xf32>
  %c = arith.cmpf olt, %a, %half : tensor<4x4xf32>
  %q = arith.divf %one, %x : tensor<4x4xf32>
  %r = arith.select %c, %zero, %q : tensor<4x4xi1>, tensor<4x4xf32>)",
     [](float x) { return std::fabs(x) < 0.5f ? 0 : 1 / x; }, -2.1, 2.1},
};

TEST_F(PiecewiseBoundsTest, HoldOfEveryNumberAndAreClose) {
  for (const Function &function : kFunctions) {
    FloatFacts facts = factsOf(function.body);
    for (float x : samples()) {
      double value = function.value(x);
      EXPECT_TRUE(std::isnan(value) || facts.range.contains(value))
          << function.name << " of " << x << " is " << value << ", not in [" << facts.range.lo
          << ", " << facts.range.hi << "]";
    }
    EXPECT_GE(facts.range.lo, function.lo) << function.name;
    EXPECT_LE(facts.range.hi, function.hi) << function.name;
  }
}

TEST_F(PiecewiseBoundsTest, OfTheOtherPartsThereAreNone) {
  EXPECT_TRUE(isBounded(kSaturatingSquare));
  auto changed = [&](StringRef from, StringRef to) {
    return isBounded(replaced(kSaturatingSquare, from, to));
  };
  EXPECT_FALSE(changed("%c, %one, %q", "%c, %q, %one")) << "arms exchanged";
  EXPECT_FALSE(changed("ogt", "olt")) << "the other side";
  EXPECT_FALSE(changed("ogt", "oeq")) << "equality cuts no line";
  EXPECT_FALSE(changed("ogt, %a", "ogt, %x")) << "one side of zero";
  EXPECT_FALSE(changed("math.absf %x", "math.absf %y")) << "another value";
  EXPECT_FALSE(changed("mulf %x, %x", "mulf %x, %y")) << "of which one is not compared";
  EXPECT_FALSE(changed("ogt, %a, %three", "ogt, %a, %y")) << "no constant";
  // A NaN fails "a > 3" and is kept as NaN; it passes "not a <= 3".
  EXPECT_TRUE(changed("ogt", "ugt"));
  EXPECT_TRUE(changed("ogt", "oge"));
}

/// In a generic op the comparison may be of another element of the same tensor.
const char *const kGeneric = R"(
  %k = arith.constant 3.0 : f32
  %l = arith.constant 1.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %a = math.absf %p : f32
    %c = arith.cmpf ogt, %a, %k : f32
    %s = arith.mulf %q, %q : f32
    %t = arith.select %c, %l, %s : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>)";

TEST_F(PiecewiseBoundsTest, NeedTheSameElement) {
  EXPECT_TRUE(isBounded(kGeneric));
  EXPECT_FALSE(isBounded(replaced(kGeneric, "[#id, #id, #id]", "[#t, #id, #id]")));
  EXPECT_FALSE(isBounded(replaced(kGeneric, "ins(%x, %x", "ins(%x, %y")));
}

TEST_F(PiecewiseBoundsTest, OfAValueComputedOfTwo) {
  std::string ofProduct = "%p = arith.mulf %x, %y : tensor<4x4xf32>";
  std::string body = kSaturatingSquare;
  for (StringRef use : {"absf %x", "mulf %x, %x"})
    body = replaced(body, use, use == "absf %x" ? "absf %p" : "mulf %p, %p");
  EXPECT_TRUE(isBounded(ofProduct + body));
  // The same, of two products that only look alike.
  body = replaced(body, "mulf %p, %p", "mulf %p, %p2");
  EXPECT_FALSE(isBounded(ofProduct + "\n  %p2 = arith.addf %x, %y : tensor<4x4xf32>" + body));
}

} // namespace
