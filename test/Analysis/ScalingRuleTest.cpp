// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebra of scaling against arithmetic: an op's function, computed here, of multiplied
// operands is the multiple of its result that the rule names; where no rule is, it is none.

#include "mp/Analysis/ScalingRule.h"
#include "AnalysisTest.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>
#include <functional>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

using Kind = ScalingRule::Kind;

struct Case {
  const char *op; ///< of %x, %y, %z
  std::function<double(double, double, double)> value;
  Kind kind;
};

double sign(double x) { return std::copysign(1.0, x); }

const Case kCases[] = {
    {"arith.addf %x, %y : f32", [](double x, double y, double) { return x + y; }, Kind::Equal},
    {"arith.subf %x, %y : f32", [](double x, double y, double) { return x - y; }, Kind::Equal},
    {"arith.maximumf %x, %y : f32", [](double x, double y, double) { return std::max(x, y); },
     Kind::Equal},
    {"arith.minnumf %x, %y : f32", [](double x, double y, double) { return std::min(x, y); },
     Kind::Equal},
    {"arith.negf %x : f32", [](double x, double, double) { return -x; }, Kind::Equal},
    {"math.absf %x : f32", [](double x, double, double) { return std::fabs(x); }, Kind::Equal},
    {"arith.mulf %x, %y : f32", [](double x, double y, double) { return x * y; }, Kind::Product},
    {"arith.divf %x, %y : f32", [](double x, double y, double) { return x / y; }, Kind::Quotient},
    {"math.fma %x, %y, %z : f32", [](double x, double y, double z) { return x * y + z; },
     Kind::MultiplyAdd},
    {"math.sqrt %x : f32", [](double x, double, double) { return std::sqrt(x); }, Kind::Power},
    {"math.rsqrt %x : f32", [](double x, double, double) { return 1 / std::sqrt(x); }, Kind::Power},
    {"math.cbrt %x : f32", [](double x, double, double) { return std::cbrt(x); }, Kind::Power},
    {"math.powf %x, %three : f32", [](double x, double, double) { return x * x * x; }, Kind::Power},
    {"math.powf %x, %two : f32", [](double x, double, double) { return x * x; }, Kind::Power},
    {"math.copysign %x, %y : f32",
     [](double x, double y, double) { return std::fabs(x) * sign(y); }, Kind::SignOf},
    {"math.exp %x : f32", [](double x, double, double) { return std::exp(x); }, Kind::Unknown},
    {"math.tanh %x : f32", [](double x, double, double) { return std::tanh(x); }, Kind::Unknown},
    {"math.floor %x : f32", [](double x, double, double) { return std::floor(x); }, Kind::Unknown},
    {"math.powf %two, %x : f32", [](double x, double, double) { return std::exp2(x); },
     Kind::Unknown},
};

/// Returns what the result is multiplied by where x, y and z are multiplied by a, b and c, which
/// suit the rule.
double multiple(const ScalingRule &rule, double a, double b) {
  switch (rule.kind) {
  case Kind::Equal:
  case Kind::SignOf: return a;
  case Kind::Product:
  case Kind::MultiplyAdd: return a * b;
  case Kind::Quotient: return a / b;
  case Kind::Power: return std::pow(a, rule.exponent);
  default: return 1;
  }
}

struct ScalingRuleTest : testing::Test, AnalysisContext {
  ScalingRule ruleOf(const Twine &op, StringRef type = "f32") {
    module = parse(("func.func @main(%x: f32, %y: f32, %z: f32, %t: tensor<4xf32>) -> " + type +
                    " {\n  %two = arith.constant 2.0 : f32\n  %three = arith.constant 3.0 : f32\n"
                    "  %r = " +
                    op + "\n  return %r : " + type + "\n}")
                       .str());
    Operation *defining = getReturned(*module)[0].getDefiningOp();
    return getScalingRule(defining, getFloatMeaning(defining));
  }
  OwningOpRef<ModuleOp> module;
};

TEST_F(ScalingRuleTest, SaysWhatArithmeticDoes) {
  for (const Case &tried : kCases) {
    ScalingRule rule = ruleOf(tried.op);
    ASSERT_EQ(rule.kind, tried.kind) << tried.op;
    bool holds = true;
    for (double x : {0.75, 3.1, 40.0})
      for (double y : {-2.3, 0.6, 11.0})
        for (double a : {0.25, 8.0}) {
          bool isOne = rule.kind == Kind::Equal;
          double b = isOne ? a : 3, c = rule.kind == Kind::MultiplyAdd ? a * b : a;
          double z = 0.4, before = tried.value(x, y, z), after = tried.value(a * x, b * y, c * z);
          holds &= std::fabs(after - multiple(rule, a, b) * before) <= 1e-12 * std::fabs(after);
        }
    EXPECT_EQ(holds, tried.kind != Kind::Unknown) << tried.op;
  }
}

TEST_F(ScalingRuleTest, PromisesExactnessOfArithmeticAndRootsAlone) {
  EXPECT_TRUE(ruleOf("math.sqrt %x : f32").isExact);
  EXPECT_TRUE(ruleOf("math.powf %x, %two : f32").isExact);
  EXPECT_FALSE(ruleOf("math.powf %x, %three : f32").isExact);
  EXPECT_FALSE(ruleOf("math.cbrt %x : f32").isExact);
  EXPECT_EQ(ruleOf("math.powf %x, %three : f32").exponent, 3);
}

/// A power of what a reduction has come to, in whose body the running value starts at two.
TEST_F(ScalingRuleTest, ARunningValueIsNoConstantExponent) {
  auto ruleIn = [&](StringRef iterator, StringRef written, StringRef type) {
    module = parse(("func.func @main(%x: tensor<4xf32>) -> " + type + R"( {
      %two = arith.constant 2.0 : f32
      %e = tensor.empty() : )" +
                    type + R"(
      %i = linalg.fill ins(%two : f32) outs(%e : )" +
                    type + ") -> " + type + R"(
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, )" +
                    written + "], iterator_types = [\"" + iterator + R"("]}
          ins(%x : tensor<4xf32>) outs(%i : )" +
                    type + R"() {
      ^bb0(%a: f32, %o: f32):
        %p = math.powf %a, %o : f32
        linalg.yield %p : f32
      } -> )" + type +
                    "\n return %r : " + type + "\n}")
                       .str());
    auto generic = getReturned(*module)[0].getDefiningOp<linalg::GenericOp>();
    Operation *power = &generic.getBody()->front();
    return getScalingRule(power, getFloatMeaning(power)).kind;
  };
  EXPECT_EQ(ruleIn("parallel", "affine_map<(i) -> (i)>", "tensor<4xf32>"), Kind::Power);
  EXPECT_EQ(ruleIn("reduction", "affine_map<(i) -> ()>", "tensor<f32>"), Kind::Unknown);
}

TEST_F(ScalingRuleTest, ClampsScaleWhereTheirBoundsDo) {
  auto kindOf = [&](StringRef lo, StringRef hi) {
    return ruleOf("tosa.clamp %t {min_val = " + lo + " : f32, max_val = " + hi +
                      " : f32} : (tensor<4xf32>) -> tensor<4xf32>",
                  "tensor<4xf32>")
        .kind;
  };
  EXPECT_EQ(kindOf("0.0", "3.40282347E+38"), Kind::Equal) << "relu";
  EXPECT_EQ(kindOf("0.0", "6.0"), Kind::Unknown) << "relu6";
  EXPECT_EQ(kindOf("-1.0", "3.40282347E+38"), Kind::Unknown);
}

} // namespace
