// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Math functions as kernels compute them, against the C library in f64. The bounds are the ones that
// docs/Math.md lists; the measured maxima are printed.

#include "Lowering.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// Distance in units of the last place of the f32 nearest to `exact`.
double ulpError(float found, double exact) {
  float nearest = float(exact);
  if (std::isnan(exact) || std::isinf(nearest) || std::isinf(found) || std::isnan(found))
    return (std::isnan(exact) && std::isnan(found)) || found == nearest ? 0 : INFINITY;
  int exponent = std::max(std::ilogb(nearest == 0 ? 0x1p-126f : nearest), -126);
  return std::abs(double(found) - exact) / std::ldexp(1.0, exponent - 23);
}

struct Case {
  const char *op;
  double (*exact)(double);
  double low, high; ///< of the uniform samples
  double bound;     ///< ULP
};

double rsqrtExact(double x) { return 1 / std::sqrt(x); }

const Case cases[] = {
    {"exp", std::exp, -104, 89, 1.2},       {"exp2", std::exp2, -150, 128, 1.2},
    {"expm1", std::expm1, -20, 88, 2},      {"log", std::log, 0, 100, 1.2},
    {"log2", std::log2, 0, 100, 1.5},       {"log10", std::log10, 0, 100, 1.5},
    {"log1p", std::log1p, -0.999, 100, 2},  {"tanh", std::tanh, -10, 10, 2},
    {"erf", std::erf, -5, 5, 1.5},          {"sin", std::sin, -100000, 100000, 1.7},
    {"cos", std::cos, -100000, 100000, 1.7}, {"rsqrt", rsqrtExact, 0, 1000, 1.5},
    {"sqrt", std::sqrt, 0, 1000, 0.5},      {"sinh", std::sinh, -89, 89, 4},
    {"asinh", std::asinh, -1e6, 1e6, 3},    {"atanh", std::atanh, -0.9999, 0.9999, 3},
    {"atan", std::atan, -20, 20, 2},
};

std::vector<float> samples(const Case &test, size_t count) {
  std::mt19937 random(7);
  std::vector<float> result = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1p-149f,
                               0x1p-126f, 0.5f, -0.5f, 2.0f, float(test.low), float(test.high)};
  std::uniform_real_distribution<float> uniform(test.low, test.high);
  while (result.size() < count / 2)
    result.push_back(uniform(random));
  // Every exponent, as far as the range goes.
  while (result.size() < count) {
    float value = fromBits(uint32_t(random()));
    if (!(value >= test.low && value <= test.high))
      value = std::copysign(std::fmod(std::abs(value), float(test.high)), value);
    if (value >= test.low && value <= test.high)
      result.push_back(value);
  }
  return result;
}

TEST(EmulatedMath, FunctionsStayWithinTheirBounds) {
  constexpr size_t count = 2048;
  std::string text = "func.func @f(";
  std::string body, results, types;
  for (auto [i, test] : llvm::enumerate(cases)) {
    std::string type = "tensor<" + std::to_string(count) + "xf32>", n = std::to_string(i);
    text += (i ? ", %x" : "%x") + n + ": " + type;
    body += "%r" + n + " = math." + test.op + " %x" + n + " : " + type + "\n";
    results += (i ? ", %r" : "%r") + n;
    types += (i ? ", " : "") + type;
  }
  text += ") -> (" + types + ") {\n" + body + "return " + results + " : " + types + "\n}\n";
  Lowered lowered(text, "sm_80");
  ASSERT_EQ(lowered.error, "");
  std::vector<Array> arguments;
  for (const Case &test : cases) {
    Array array(ElementType::floating(::mp::numerics::Format::F32), llvm::ArrayRef<int64_t>{int64_t(count)});
    std::vector<float> values = samples(test, count);
    std::memcpy(array.data.data(), values.data(), 4 * count);
    arguments.push_back(std::move(array));
  }
  std::vector<Array> found = lowered.run(arguments);
  ASSERT_EQ(lowered.error, "");
  ASSERT_EQ(found.size(), std::size(cases));
  for (auto [i, test] : llvm::enumerate(cases)) {
    double worst = 0;
    float where = 0;
    for (size_t k = 0; k < count; ++k) {
      float x, y;
      std::memcpy(&x, arguments[i].data.data() + 4 * k, 4);
      std::memcpy(&y, found[i].data.data() + 4 * k, 4);
      double error = ulpError(y, test.exact(x));
      if (error > worst) {
        worst = error;
        where = x;
      }
    }
    std::printf("%-6s f32 max %.3f ULP at %a (bound %.1f)\n", test.op, worst, where, test.bound);
    EXPECT_LE(worst, test.bound) << test.op << " at " << where;
  }
}

TEST(EmulatedMath, PowersFollowIeee) {
  const char *text = R"(func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %0 = math.powf %x, %y : tensor<?xf32>
    %1 = arith.remf %x, %y : tensor<?xf32>
    return %0, %1 : tensor<?xf32>, tensor<?xf32>
  })";
  Lowered lowered(text, "sm_80");
  ASSERT_EQ(lowered.error, "");
  const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 3.0f, -3.0f, 0.5f, -0.5f, 1.5f, 7.0f,
                           -7.25f, 100.0f, 1e-40f, 1e30f, -1e30f, 16777217.0f, INFINITY, -INFINITY, NAN};
  std::vector<float> x, y;
  for (float left : special)
    for (float right : special) {
      x.push_back(left);
      y.push_back(right);
    }
  auto array = [](const std::vector<float> &values) {
    Array result(ElementType::floating(::mp::numerics::Format::F32), llvm::ArrayRef<int64_t>{int64_t(values.size())});
    std::memcpy(result.data.data(), values.data(), 4 * values.size());
    return result;
  };
  std::vector<Array> found = lowered.run({array(x), array(y)});
  ASSERT_EQ(lowered.error, "");
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(ulpError(found[0].value(i), std::pow(double(x[i]), double(y[i]))), 0.51)
        << "pow(" << x[i] << ", " << y[i] << ") = " << found[0].value(i);
    float exact = std::fmod(x[i], y[i]), value = found[1].value(i);
    EXPECT_TRUE((std::isnan(exact) && std::isnan(value)) || exact == value)
        << "fmod(" << x[i] << ", " << y[i] << ") = " << value << ", expected " << exact;
  }
}

/// torch exports x**2 with an i64 exponent; a call of the vendor's library with it is miscompiled.
TEST(EmulatedMath, IntegerPowers) {
  const char *text = R"(func.func @f(%x: tensor<8xf32>, %n: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xf32>) {
    %c2 = arith.constant dense<2> : tensor<8xi64>
    %0 = math.fpowi %x, %c2 : tensor<8xf32>, tensor<8xi64>
    %1 = math.fpowi %x, %n : tensor<8xf32>, tensor<8xi64>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  })";
  Lowered lowered(text, "sm_80");
  ASSERT_EQ(lowered.error, "");
  Array x(ElementType::floating(::mp::numerics::Format::F32), llvm::ArrayRef<int64_t>{8});
  Array n(ElementType::integer(64), llvm::ArrayRef<int64_t>{8});
  const float values[] = {0, 1, -1, 2, -3, 0.5f, 1.25f, -2};
  const int64_t exponents[] = {0, 5, 7, -2, 3, 10, -1, 2};
  std::memcpy(x.data.data(), values, 32);
  std::memcpy(n.data.data(), exponents, 64);
  std::vector<Array> found = lowered.run({x, n});
  ASSERT_EQ(lowered.error, "");
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(float(found[0].value(i)), values[i] * values[i]);
    EXPECT_LE(ulpError(found[1].value(i), std::pow(double(values[i]), double(exponents[i]))), 2.0) << i;
  }
}

} // namespace
