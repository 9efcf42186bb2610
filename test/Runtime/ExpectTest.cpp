// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expectations as compiled code states them. lib/Numerics says what a ULP is.

#include "mp/Numerics/Cast.h"
#include "mp/Numerics/Compare.h"
#include "mp/Runtime/Runtime.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <string>

using namespace mpcore::numerics;

namespace {

/// The text of the expectation that `body` states and fails; empty if it holds.
std::string failureOf(std::function<void()> body) {
  void *args[] = {&body};
  auto entry = [](void **args) { (*static_cast<std::function<void()> *>(args[0]))(); };
  int64_t code = mp_rt_invoke(entry, args);
  EXPECT_EQ(code == 7, mp_rt_failure_text()[0] != 0);
  return code == 0 ? "" : mp_rt_failure_text();
}

const int64_t one[] = {0};

bool isWithin(uint64_t actual, uint64_t expected, Format format, int64_t ulp) {
  return failureOf(
             [&] { mp_rt_expect_close(7, one, &actual, &expected, int64_t(format), ulp, -1, -1); })
      .empty();
}

void checkDistance(uint64_t actual, uint64_t expected, Format format) {
  uint64_t distance = ulpDistance(actual, expected, format);
  if (distance > INT64_MAX) { // one NaN, or farther apart than a limit can say
    EXPECT_FALSE(isWithin(actual, expected, format, INT64_MAX));
    return;
  }
  EXPECT_TRUE(isWithin(actual, expected, format, int64_t(distance)))
      << info(format).name.str() << std::hex << " 0x" << actual << " 0x" << expected;
  if (distance > 0)
    EXPECT_FALSE(isWithin(actual, expected, format, int64_t(distance) - 1))
        << info(format).name.str() << std::hex << " 0x" << actual << " 0x" << expected;
}

TEST(RuntimeExpect, UlpIsThatOfNumerics) {
  for (Format format : allFormats()) {
    if (format == Format::TF32)
      continue;
    const FormatInfo &f = info(format);
    // All pairs of few bits; of many, pairs spread over all exponents.
    uint64_t count = f.bits <= 8 ? uint64_t(1) << f.bits : 97;
    uint64_t step = f.bits <= 8 ? 1 : (~uint64_t(0) >> (64 - f.bits)) / 96;
    for (uint64_t x = 0; x < count; ++x)
      for (uint64_t y = 0; y < count; y += f.bits <= 8 ? 3 : 1)
        checkDistance(x * step, y * step, format);
  }
}

TEST(RuntimeExpect, AnyOfTheLimitsIsEnough) {
  const float expected = 100, actual = 101;
  auto holds = [&](int64_t ulp, double relative, double absolute) {
    return failureOf([&] {
             mp_rt_expect_close(7, one, &actual, &expected, MP_RT_F32, ulp, relative, absolute);
           })
        .empty();
  };
  EXPECT_FALSE(holds(10, -1, -1));
  EXPECT_TRUE(holds(10, 0.01, -1));
  EXPECT_FALSE(holds(10, 0.009, -1));
  EXPECT_TRUE(holds(10, 0.009, 1));
  EXPECT_FALSE(holds(-1, -1, 0.99));
  EXPECT_TRUE(holds(131072, -1, 0.99));
}

TEST(RuntimeExpect, SpecialValues) {
  const float inf = HUGE_VALF, largest = 0x1.fffffep127f, nan = NAN, zero = 0, minusZero = -0.0f;
  auto close = [&](float actual, float expected, int64_t ulp, double absolute) {
    return failureOf([&] {
             mp_rt_expect_close(7, one, &actual, &expected, MP_RT_F32, ulp, -1, absolute);
           })
        .empty();
  };
  EXPECT_TRUE(close(nan, nan, 0, -1));
  EXPECT_FALSE(close(nan, 1, INT64_MAX, HUGE_VAL));
  EXPECT_FALSE(close(1, nan, INT64_MAX, HUGE_VAL));
  EXPECT_TRUE(close(inf, largest, 1, -1));
  EXPECT_FALSE(close(inf, largest, 0, HUGE_VAL));
  EXPECT_TRUE(close(inf, inf, -1, 0));
  EXPECT_TRUE(close(minusZero, zero, 0, -1));
  EXPECT_EQ(failureOf([&] { mp_rt_expect_bits(7, one, &minusZero, &zero, MP_RT_F32); }),
            "1 of 1 elements have other bits; the first at []: expected 0 (0x00000000), found -0 "
            "(0x80000000)");
  for (float value : {inf, nan})
    EXPECT_NE(failureOf([&] { mp_rt_expect_finite(7, one, &value, MP_RT_F32); }), "");
  EXPECT_EQ(failureOf([&] { mp_rt_expect_finite(7, one, &largest, MP_RT_F32); }), "");
}

TEST(RuntimeExpect, NamesTheFirstElementThroughStrides) {
  // The transpose of a row-major 2x3 against one stored as it is.
  const float actual[] = {0, 1, 2, 3, 4, 5}, expected[] = {0, 3, 1, 4.5f, 2, 6};
  const int64_t layout[] = {2, 3, 2, 1, 3, 3, 2, 2, 1};
  EXPECT_EQ(failureOf([&] {
              mp_rt_expect_close(7, layout, actual, expected, MP_RT_F32, -1, 0.01, 0.25);
            }),
            "2 of 6 elements are not close; the first at [1, 1]: expected 4.5 (0x40900000), found "
            "4 (0x40800000): 1048576 ULP, 0.111 relative, 0.5 absolute, limits rel 0.01 abs 0.25");
}

TEST(RuntimeExpect, IntegersAndShapes) {
  const int8_t actual[] = {1, -1}, expected[] = {1, 3};
  const int64_t layout[] = {1, 2, 1, 2, 1}, longer[] = {1, 2, 1, 3, 1};
  EXPECT_EQ(
      failureOf([&] { mp_rt_expect_bits(7, layout, actual, expected, MP_RT_INTEGER + 8); }),
      "1 of 2 elements have other bits; the first at [1]: expected 3 (0x03), found -1 (0xff)");
  EXPECT_EQ(failureOf([&] { mp_rt_expect_bits(7, longer, actual, expected, MP_RT_INTEGER + 8); }),
            "expected shape [3], found [2]");
}

} // namespace
