// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exponentials of a softmax under math=auto, against f64: rows of every magnitude, with
// instructions correctly rounded, and as wrong as the PTX manual allows.

#include "Lowering.h"
#include "mp/Emulator/Approximate.h"
#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace mlir::mp;
using namespace mlir::mp::test;
using emulator::SkewedApproximations;
using numerics::Format;

namespace {

constexpr int64_t kColumns = 64;
constexpr float kLowest = -3.4028235e38f, kInfinity = std::numeric_limits<float>::infinity();

std::string softmaxText(const char *from, const char *to, int64_t rows) {
  const std::string shape = std::to_string(rows) + "x64x", row = std::to_string(rows) + "x";
  std::string widen = llvm::StringRef(from) == "f32"
                          ? "%w = arith.bitcast %a : f32 to f32\n"
                          : "%w = arith.extf %a : " + std::string(from) + " to f32\n";
  std::string narrow = llvm::StringRef(to) == "f32"
                           ? "%n = arith.bitcast %q : f32 to f32\n"
                           : "%n = arith.truncf %q : f32 to " + std::string(to) + "\n";
  std::string text = R"(
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<SHAPEFROM>) -> tensor<SHAPETO> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<ROWf32>
  %ex = tensor.empty() : tensor<SHAPEf32>
  %eo = tensor.empty() : tensor<SHAPETO>
  %l = linalg.fill ins(%low : f32) outs(%er : tensor<ROWf32>) -> tensor<ROWf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<ROWf32>) -> tensor<ROWf32>
  %t = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<SHAPEFROM>) outs(%l : tensor<ROWf32>) {
  ^bb0(%a: FROM, %o: f32):
    WIDEN
    %q = arith.maximumf %o, %w : f32
    linalg.yield %q : f32
  } -> tensor<ROWf32>
  %e = linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<SHAPEFROM>, tensor<ROWf32>) outs(%ex : tensor<SHAPEf32>) {
  ^bb0(%a: FROM, %y: f32, %o: f32):
    WIDEN
    %d = arith.subf %w, %y : f32
    %q = math.exp %d : f32
    linalg.yield %q : f32
  } -> tensor<SHAPEf32>
  %s = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<SHAPEf32>) outs(%z : tensor<ROWf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.addf %o, %a : f32
    linalg.yield %q : f32
  } -> tensor<ROWf32>
  %p = linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]} ins(%e, %s : tensor<SHAPEf32>, tensor<ROWf32>) outs(%eo : tensor<SHAPETO>) {
  ^bb0(%a: f32, %b: f32, %o: TO):
    %q = arith.divf %a, %b : f32
    NARROW
    linalg.yield %n : TO
  } -> tensor<SHAPETO>
  return %p : tensor<SHAPETO>
})";
  for (auto [what, by] : {std::pair<llvm::StringRef, std::string>{"WIDEN", widen},
                          {"NARROW", narrow},
                          {"SHAPE", shape},
                          {"ROW", row},
                          {"FROM", from},
                          {"TO", to}})
    for (size_t at; (at = text.find(what.str())) != std::string::npos;)
      text.replace(at, what.size(), by);
  return text;
}

/// Rows as values of f32; those that a format cannot hold are rounded to it.
std::vector<std::vector<float>> hostileRows() {
  std::vector<std::vector<float>> rows;
  auto row = [&](auto at) {
    rows.emplace_back();
    for (int64_t j = 0; j < kColumns; ++j)
      rows.back().push_back(at(j));
  };
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 4);
  for (int i = 0; i < 64; ++i)
    row([&](int64_t) { return normal(random); });
  // Probabilities through all exponents to below the subnormal numbers, around any maximum.
  for (float top : {0.0f, 1.0f, -77.7f, 1000.0f, -30000.0f, 65000.0f, 131071.0f, -131072.0f,
                    131072.0f, 1.0e6f, 5.0e8f, -1.0e9f, 1.0e9f, 1.0e12f, -3.0e38f, 3.3e38f})
    for (float step : {0.001f, 0.37f, 1.7f, 40.0f})
      row([&](int64_t j) { return top - step * float(j); });
  for (float top : {131072.0f, -131072.0f, 1.0e9f, kLowest}) // next to each other
    row([&](int64_t j) {
      float x = top;
      for (int64_t i = 0; i < j % 3; ++i)
        x = std::nextafter(x, -kInfinity);
      return x;
    });
  row([](int64_t) { return kLowest; });
  row([](int64_t) { return -kInfinity; });
  row([](int64_t j) { return j % 2 ? kLowest : 0.5f; });
  row([](int64_t j) { return j % 2 ? -kInfinity : 3.0f; });
  row([](int64_t j) { return j == 5 ? kInfinity : 3.0f; });
  row([](int64_t j) { return j == 5 ? NAN : 3.0f; });
  return rows;
}

/// The softmax of the graph in f64, but for the difference, which it rounds to f32.
std::vector<double> exactSoftmax(const Array &x, int64_t row) {
  double most = -INFINITY, sum = 0;
  std::vector<double> result;
  for (int64_t j = 0; j < kColumns; ++j)
    most = std::isnan(most) || !(x.value(row * kColumns + j) <= most) ? x.value(row * kColumns + j)
                                                                      : most;
  for (int64_t j = 0; j < kColumns; ++j) {
    result.push_back(std::exp(double(float(x.value(row * kColumns + j)) - float(most))));
    sum += result.back();
  }
  for (double &value : result)
    value /= sum;
  return result;
}

struct Case {
  const char *from, *to, *options;
  double relative, absolute;
};

/// A probability has the error of its exponential, of the sum's and of the quotient (2^-22), and
/// 2^-20 for the roundings of the sum itself. In bf16 and f16: half more than rounding alone.
const Case cases[] = {
    {"f32", "f32", "function-budget=1e-4", 2 * (0x1p-17 + 0x1p-21) + 0x1p-20, 0x1p-149},
    {"bf16", "f32", "function-budget=1e-4", 2 * 0x1p-16 + 0x1p-20, 0x1p-149},
    {"f16", "f32", "function-budget=1e-4", 2 * 0x1p-16 + 0x1p-20, 0x1p-149},
    {"f32", "bf16", "", 1.5 * 0x1p-8, 0x1p-134},
    {"bf16", "bf16", "", 1.5 * 0x1p-8, 0x1p-134},
    {"f16", "f16", "", 1.5 * 0x1p-11, 0x1p-25},
};

Array valuesOf(const char *name) {
  const Format format = *numerics::parseFormat(name);
  std::vector<std::vector<float>> rows = hostileRows();
  Array x(ElementType::floating(format), {int64_t(rows.size()), kColumns});
  for (size_t i = 0; i < rows.size(); ++i)
    for (int64_t j = 0; j < kColumns; ++j)
      x.setPattern(i * kColumns + j, numerics::encode(rows[i][j], format));
  return x;
}

bool executed(const Lowered &lowered, llvm::StringRef opcode) {
  return llvm::any_of(lowered.stats.opcodes, [&](auto &entry) {
    return llvm::StringRef(entry.first).starts_with(opcode);
  });
}

TEST(EmulatedSoftmax, StaysWithinItsBoundsForRowsOfAnyMagnitude) {
  for (const Case &c : cases) {
    const Array x = valuesOf(c.from);
    Lowered lowered(softmaxText(c.from, c.to, x.shape[0]), "sm_80",
                    std::string("math=auto ") + c.options);
    ASSERT_EQ(lowered.error, "");
    double worst = 0;
    auto check = [&](const char *skew) {
      std::vector<Array> found = lowered.run({x});
      ASSERT_EQ(lowered.error, "");
      int failures = 0;
      for (int64_t i = 0; i < x.shape[0]; ++i) {
        std::vector<double> exact = exactSoftmax(x, i);
        for (int64_t j = 0; j < kColumns && failures < 5; ++j) {
          const double is = found[0].value(i * kColumns + j);
          const bool within = std::isnan(exact[j])
                                  ? std::isnan(is)
                                  : std::abs(is - exact[j]) <= c.relative * exact[j] + c.absolute;
          failures += !within;
          EXPECT_TRUE(within) << c.from << " to " << c.to << ", " << skew << ": row " << i
                              << " column " << j << " is " << is << ", exactly " << exact[j];
          if (exact[j] > std::max(0x1p-120, c.absolute * 0x1p11))
            worst = std::max(worst, std::abs(is / exact[j] - 1));
        }
      }
    };
    check("correctly rounded");
    {
      SkewedApproximations low(SkewedApproximations::Toward::Zero);
      check("toward zero");
    }
    SkewedApproximations high(SkewedApproximations::Toward::Infinity);
    check("away from zero");
    EXPECT_TRUE(executed(lowered, "ex2.approx.ftz"));
    EXPECT_TRUE(executed(lowered, "rcp.approx.ftz"));
    EXPECT_FALSE(executed(lowered, "div.rn"));
    std::printf("%s to %s: largest relative error 2^%.2f, bound 2^%.2f\n", c.from, c.to,
                std::log2(worst), std::log2(c.relative));
  }
}

/// Nothing hides the error of what is returned in f32.
TEST(EmulatedSoftmax, KeepsTheBitsOfExactInF32) {
  const Array x = valuesOf("f32");
  const std::string text = softmaxText("f32", "f32", x.shape[0]);
  Lowered exact(text, "sm_80", "math=exact"), lowered(text, "sm_80", "math=auto");
  ASSERT_EQ(exact.error + lowered.error, "");
  EXPECT_EQ(lowered.run({x})[0].data, exact.run({x})[0].data);
  EXPECT_FALSE(executed(lowered, "ex2.approx"));
}

} // namespace
