// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Powers as kernels compute them, against the C library in f64. Functions of one argument are
// measured by tools/dev/numerics/math-accuracy.

#include "Lowering.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

/// Distance in units of the last place of the f32 nearest to `exact`.
double ulpError(float found, double exact) {
  float nearest = float(exact);
  if (std::isnan(exact) || std::isinf(nearest) || std::isinf(found) || std::isnan(found))
    return (std::isnan(exact) && std::isnan(found)) || found == nearest ? 0 : INFINITY;
  int exponent = std::max(std::ilogb(nearest == 0 ? 0x1p-126f : nearest), -126);
  return std::abs(double(found) - exact) / std::ldexp(1.0, exponent - 23);
}

TEST(EmulatedMath, PowersFollowIeee) {
  const char *text =
      R"(func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %0 = math.powf %x, %y : tensor<?xf32>
    %1 = arith.remf %x, %y : tensor<?xf32>
    return %0, %1 : tensor<?xf32>, tensor<?xf32>
  })";
  Lowered lowered(text, "sm_80");
  ASSERT_EQ(lowered.error, "");
  const float special[] = {0.0f,   -0.0f, 1.0f,   -1.0f,       2.0f,     -2.0f,     3.0f,
                           -3.0f,  0.5f,  -0.5f,  1.5f,        7.0f,     -7.25f,    100.0f,
                           1e-40f, 1e30f, -1e30f, 16777217.0f, INFINITY, -INFINITY, NAN};
  std::vector<float> x, y;
  for (float left : special)
    for (float right : special) {
      x.push_back(left);
      y.push_back(right);
    }
  auto array = [](const std::vector<float> &values) {
    Array result(ElementType::floating(numerics::Format::F32),
                 llvm::ArrayRef<int64_t>{int64_t(values.size())});
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
  const char *text =
      R"(func.func @f(%x: tensor<8xf32>, %n: tensor<8xi64>) -> (tensor<8xf32>, tensor<8xf32>) {
    %c2 = arith.constant dense<2> : tensor<8xi64>
    %0 = math.fpowi %x, %c2 : tensor<8xf32>, tensor<8xi64>
    %1 = math.fpowi %x, %n : tensor<8xf32>, tensor<8xi64>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  })";
  Lowered lowered(text, "sm_80");
  ASSERT_EQ(lowered.error, "");
  Array x(ElementType::floating(numerics::Format::F32), llvm::ArrayRef<int64_t>{8});
  Array n(ElementType::integer(64), llvm::ArrayRef<int64_t>{8});
  const float values[] = {0, 1, -1, 2, -3, 0.5f, 1.25f, -2};
  const int64_t exponents[] = {0, 5, 7, -2, 3, 10, -1, 2};
  std::memcpy(x.data.data(), values, 32);
  std::memcpy(n.data.data(), exponents, 64);
  std::vector<Array> found = lowered.run({x, n});
  ASSERT_EQ(lowered.error, "");
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(float(found[0].value(i)), values[i] * values[i]);
    EXPECT_LE(ulpError(found[1].value(i), std::pow(double(values[i]), double(exponents[i]))), 2.0)
        << i;
  }
}

} // namespace
