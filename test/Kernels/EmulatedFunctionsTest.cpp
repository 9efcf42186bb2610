// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that math=auto approximates, against f64: with instructions correctly rounded, and as
// wrong as the PTX manual allows, toward zero and away from it.

#include "Lowering.h"
#include "mp/Emulator/Approximate.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

using namespace mlir::mp;
using namespace mlir::mp::test;
using emulator::SkewedApproximations;
using numerics::Format;

namespace {

/// A function, the bound on its relative error in docs/concepts/Numerics.md, the instruction.
struct Function {
  const char *name, *body;
  double (*exact)(double);
  double relative, absolute;
  const char *instruction;
};

const Function functions[] = {
    {"exp", "%r = math.exp %a : f32", [](double x) { return std::exp(x); }, 0x1p-17 + 0x1p-21,
     0x1p-149, "ex2.approx.f32"},
    {"exp2", "%r = math.exp2 %a : f32", [](double x) { return std::exp2(x); }, 0x1p-22, 0x1p-149,
     "ex2.approx.f32"},
    {"tanh", "%r = math.tanh %a : f32", [](double x) { return std::tanh(x); }, 0x1p-11, 0,
     "tanh.approx.f32"},
    {"rsqrt", "%r = math.rsqrt %a : f32", [](double x) { return 1 / std::sqrt(x); }, 0x1p-22, 0,
     "rsqrt.approx.f32"},
    {"1 + tanh",
     "%one = arith.constant 1.0 : f32\n%t = math.tanh %a : f32\n%r = arith.addf %t, %one : f32",
     [](double x) { return 2 / (1 + std::exp(-2 * x)); }, 0x1p-17 + 0x1p-20, 0x1p-125,
     "rcp.approx.ftz.f32"},
    {"quotient", "%seven = arith.constant 7.0 : f32\n%r = arith.divf %seven, %a : f32",
     [](double x) { return 7 / x; }, 0x1p-22, 0x1p-148, "div.full.f32"},
    {"constant divisor", "%c = arith.constant 7.3 : f32\n%r = arith.divf %a, %c : f32",
     [](double x) { return x / double(7.3f); }, 0x1p-22, 0x1p-149, "mul.rn.f32"},
    {"product and sum",
     "%c = arith.constant 7.3 : f32\n%h = arith.constant 0.7 : f32\n%m = arith.mulf %a, %c : f32\n"
     "%r = arith.addf %m, %h : f32",
     [](double x) { return x * double(7.3f) + double(0.7f); }, 0x1p-24, 0x1p-150, "fma.rn.f32"},
};

/// `@f(%x: tensor<?xFROM>) -> tensor<?xTO>`, the function in f32 between.
std::string moduleText(const Function &function, const char *from, const char *to) {
  auto converted = [](const char *result, const char *operand, const char *op, const char *type,
                      bool widens) {
    return (llvm::Twine("%") + result + " = arith." + op + " %" + operand + " : " +
            (widens ? type : "f32") + " to " + (widens ? "f32" : type) + "\n")
        .str();
  };
  const bool widens = llvm::StringRef(from) != "f32", rounds = llvm::StringRef(to) != "f32";
  return (llvm::Twine("#m = affine_map<(i) -> (i)>\nfunc.func @f(%x: tensor<?x") + from +
          ">) -> tensor<?x" + to + "> {\n%c0 = arith.constant 0 : index\n%n = tensor.dim %x, %c0 " +
          ": tensor<?x" + from + ">\n%e = tensor.empty(%n) : tensor<?x" + to +
          ">\n%0 = linalg.generic {indexing_maps = [#m, #m], iterator_types = [\"parallel\"]} " +
          "ins(%x : tensor<?x" + from + ">) outs(%e : tensor<?x" + to + ">) {\n^bb0(%" +
          (widens ? "in" : "a") + ": " + from + ", %out: " + to + "):\n" +
          (widens ? converted("a", "in", "extf", from, true) : "") + function.body + "\n" +
          (rounds ? converted("w", "r", "truncf", to, false) : "") + "linalg.yield %" +
          (rounds ? "w" : "r") + " : " + to + "\n} -> tensor<?x" + to + ">\nreturn %0 : tensor<?x" +
          to + ">\n}\n")
      .str();
}

/// Every pattern of a 16-bit format.
Array allOf(Format format) {
  Array array(ElementType::floating(format), {65536});
  for (int64_t i = 0; i < 65536; ++i)
    array.setPattern(i, i);
  return array;
}

/// Every value of f16 and bf16, patterns of f32 with all exponents, and the range where functions
/// are neither constant nor beyond the format.
Array denseF32() {
  std::vector<float> values;
  for (Format format : {Format::F16, Format::BF16})
    for (uint32_t i = 0; i < 65536; ++i)
      values.push_back(float(numerics::decode(i, format)));
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 65521)
    values.push_back(llvm::bit_cast<float>(uint32_t(bits)));
  for (int i = 0; i < 65536; ++i)
    values.push_back(-152 + 281 * (i + 0.37f) / 65536);
  Array array(ElementType::floating(Format::F32), {int64_t(values.size())});
  std::memcpy(array.data.data(), values.data(), 4 * values.size());
  return array;
}

/// Runs `check` with instructions correctly rounded, and as wrong as allowed.
void withEachSkew(const std::function<void(const char *)> &check) {
  check("correctly rounded");
  {
    SkewedApproximations low(SkewedApproximations::Toward::Zero);
    check("toward zero");
  }
  SkewedApproximations high(SkewedApproximations::Toward::Infinity);
  check("away from zero");
}

bool executed(const Lowered &lowered, llvm::StringRef opcode) {
  return llvm::any_of(lowered.stats.opcodes, [&](auto &entry) {
    return llvm::StringRef(entry.first).starts_with(opcode);
  });
}

/// Expects NaN for NaN, and each result within `relative` and `absolute` of the exact value; what
/// the bound takes beyond the format may be infinite. Returns the largest relative error found
/// among those of normal results.
double expectWithin(const Function &function, const Array &x, const Array &found, double relative,
                    double absolute, const std::string &what) {
  double worst = 0;
  int failures = 0;
  const double largest = numerics::info(found.type.format).maxFinite;
  for (int64_t i = 0; i < x.size() && failures < 5; ++i) {
    const double exact = function.exact(x.value(i)), is = found.value(i);
    const double allowed = relative * std::abs(exact) + absolute;
    bool within = std::isnan(exact)   ? std::isnan(is)
                  : std::isinf(exact) ? is == exact
                  : std::isinf(is) ? std::abs(exact) + allowed >= largest && (is > 0) == (exact > 0)
                                   : std::abs(is - exact) <= allowed;
    if (!within && std::isinf(exact) && std::abs(is) >= largest) // of a bound that reaches down
      within = true;
    failures += !within;
    EXPECT_TRUE(within) << what << ": " << function.name << "(" << x.value(i) << ") is " << is
                        << ", expected " << exact << " within " << allowed;
    if (std::isfinite(exact) && std::isfinite(is) && std::abs(exact) > 0x1p-100)
      worst = std::max(worst, std::abs(is / exact - 1));
  }
  return worst;
}

/// The result in f32, by a budget that allows the instruction.
TEST(EmulatedFunctions, StayWithinTheirBounds) {
  const Array x = denseF32();
  for (const Function &function : functions) {
    Lowered lowered(moduleText(function, "f32", "f32"), "sm_80", "math=auto function-budget=1e-3");
    ASSERT_EQ(lowered.error, "");
    double worst = 0;
    withEachSkew([&](const char *skew) {
      std::vector<Array> found = lowered.run({x});
      ASSERT_EQ(lowered.error, "");
      // 2^-24 stands for roundings of the reference and of results themselves.
      worst = std::max(
          worst, expectWithin(function, x, found[0], function.relative, function.absolute, skew));
    });
    EXPECT_TRUE(executed(lowered, function.instruction)) << function.name;
    EXPECT_FALSE(executed(lowered, "div.rn.f32")) << function.name;
    std::printf("%-16s largest relative error 2^%.2f, bound 2^%.2f\n", function.name,
                std::log2(worst), std::log2(function.relative));
    EXPECT_GT(worst, function.relative / 8) << function.name << ": the bound is far from tight";
  }
}

/// Results in bf16 and f16 lose at most half more than rounding alone, for every argument.
TEST(EmulatedFunctions, LoseHalfOfARoundingAtMost) {
  for (auto [format, name, unit, least] :
       {std::tuple{Format::BF16, "bf16", 0x1p-8, 0x1p-134}, {Format::F16, "f16", 0x1p-11, 0x1p-25}})
    for (const Function &function : functions) {
      Lowered lowered(moduleText(function, name, name), "sm_80", "math=auto");
      ASSERT_EQ(lowered.error, "");
      const bool isApproximate = function.relative <= unit / 2;
      withEachSkew([&](const char *skew) {
        std::vector<Array> found = lowered.run({allOf(format)});
        ASSERT_EQ(lowered.error, "");
        expectWithin(function, allOf(format), found[0], 1.5 * unit, least + function.absolute,
                     skew);
      });
      EXPECT_EQ(executed(lowered, function.instruction),
                isApproximate || llvm::StringRef(function.instruction) == "mul.rn.f32")
          << function.name << " in " << name;
    }
}

/// Without a rounding behind it, and with a budget below its error, a function keeps its bits.
TEST(EmulatedFunctions, KeepTheBitsOfExactWhereNothingHidesThem) {
  const Array x = denseF32();
  for (const Function &function : functions) {
    std::string text = moduleText(function, "f32", "f32");
    Lowered exact(text, "sm_80", "math=exact");
    std::vector<Array> expected = exact.run({x});
    ASSERT_EQ(exact.error, "");
    const double budget = function.relative * 0.99;
    for (std::string options : {std::string("math=auto"),
                                llvm::formatv("math=auto function-budget={0:e12}", budget).str()}) {
      Lowered lowered(text, "sm_80", options);
      ASSERT_EQ(lowered.error, "");
      EXPECT_EQ(lowered.run({x})[0].data, expected[0].data) << function.name << " " << options;
      EXPECT_FALSE(executed(lowered, "ex2.approx") || executed(lowered, "tanh.approx") ||
                   executed(lowered, "rsqrt.approx.f32") || executed(lowered, "rcp.approx") ||
                   executed(lowered, "div.full"))
          << function.name << " " << options;
    }
  }
}

/// Quotients by what is constant along a row: all exponents of both.
TEST(EmulatedFunctions, QuotientsOfRows) {
  const char *text = R"(
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.divf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
})";
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t(1) << 32); bits += 10000019)
    values.push_back(llvm::bit_cast<float>(uint32_t(bits)));
  for (float value : {0.0f, -0.0f, INFINITY, -INFINITY, 1e-45f, 3.4028235e38f, 0x1p-126f, 0x1p64f})
    values.push_back(value);
  const int64_t n = values.size();
  Array x(ElementType::floating(Format::F32), {n, n}), y(ElementType::floating(Format::F32), {n});
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(x.data.data() + 4 * n * i, values.data(), 4 * n);
  std::memcpy(y.data.data(), values.data(), 4 * n);
  Lowered lowered(text, "sm_80", "math=auto function-budget=1e-6");
  ASSERT_EQ(lowered.error, "");
  withEachSkew([&](const char *skew) {
    std::vector<Array> found = lowered.run({x, y});
    ASSERT_EQ(lowered.error, "");
    int failures = 0;
    for (int64_t i = 0; i < n && failures < 5; ++i)
      for (int64_t j = 0; j < n && failures < 5; ++j) {
        const double exact = double(values[j]) / double(values[i]), is = found[0].value(i * n + j);
        const double allowed = 0x1p-22 * std::abs(exact) + 0x1p-148;
        const bool beyond = std::abs(exact) > 3.4028235e38 * (1 - 0x1p-22);
        const bool within = std::isnan(exact) ? std::isnan(is)
                            : beyond ? std::abs(is) >= 3.4028225e38 && (is > 0) == (exact > 0)
                                     : std::abs(is - exact) <= allowed;
        failures += !within;
        EXPECT_TRUE(within) << skew << ": " << values[j] << " / " << values[i] << " is " << is;
      }
  });
}

} // namespace
