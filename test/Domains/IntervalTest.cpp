// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Directed rounding, interval operations and images of functions against values computed in long
// double (64-bit significand), at 100,000 points or more each.

#include "TestUtils.h"

#include "mp/Domains/Elementary.h"
#include "mp/Domains/Rounding.h"

#include "gtest/gtest.h"

#include <cfenv>

using namespace mpcore::domains;

namespace {

/// Exact for +, -, *, /, sqrt when the hardware's directed modes are used.
template <typename Operation> double inMode(int mode, Operation operation) {
  int old = std::fegetround();
  std::fesetround(mode);
  double result = operation();
  std::fesetround(old);
  return result;
}

TEST(Rounding, AgreesWithHardwareModes) {
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    volatile double a = random.number(-400, 400), b = random.number(-400, 400);
    ASSERT_EQ(addUp(a, b), inMode(FE_UPWARD, [&] {
                volatile double r = a + b;
                return r;
              }));
    ASSERT_EQ(addDown(a, b), inMode(FE_DOWNWARD, [&] {
                volatile double r = a + b;
                return r;
              }));
    ASSERT_EQ(subUp(a, b), inMode(FE_UPWARD, [&] {
                volatile double r = a - b;
                return r;
              }));
    ASSERT_EQ(subDown(a, b), inMode(FE_DOWNWARD, [&] {
                volatile double r = a - b;
                return r;
              }));
    ASSERT_EQ(mulUp(a, b), inMode(FE_UPWARD, [&] {
                volatile double r = a * b;
                return r;
              }));
    ASSERT_EQ(mulDown(a, b), inMode(FE_DOWNWARD, [&] {
                volatile double r = a * b;
                return r;
              }));
    if (b != 0) {
      ASSERT_EQ(divUp(a, b), inMode(FE_UPWARD, [&] {
                  volatile double r = a / b;
                  return r;
                }));
      ASSERT_EQ(divDown(a, b), inMode(FE_DOWNWARD, [&] {
                  volatile double r = a / b;
                  return r;
                }));
    }
    volatile double c = std::fabs(a);
    ASSERT_EQ(sqrtUp(c), inMode(FE_UPWARD, [&] { return std::sqrt(c); }));
    ASSERT_EQ(sqrtDown(c), inMode(FE_DOWNWARD, [&] { return std::sqrt(c); }));
  }
}

TEST(Rounding, ExactResultsStay) {
  EXPECT_EQ(addUp(0.5, 0.25), 0.75);
  EXPECT_EQ(mulUp(8, -1.5), -12.0);
  EXPECT_EQ(divDown(1, 4), 0.25);
  EXPECT_EQ(sqrtUp(768.0 * 768.0), 768.0);
}

TEST(Rounding, LimitsAndOverflow) {
  double max = std::numeric_limits<double>::max();
  EXPECT_EQ(mulUp(0, kInf), 0);
  EXPECT_EQ(mulUp(max, 2), kInf);
  EXPECT_EQ(mulDown(max, 2), max);
  EXPECT_EQ(addDown(-max, -max), -kInf);
  EXPECT_EQ(addUp(-max, -max), -max);
  EXPECT_EQ(addUp(kInf, -kInf), kInf);
  EXPECT_EQ(addDown(kInf, -kInf), -kInf);
  // Results that underflow are moved off zero on the right side.
  EXPECT_GT(mulUp(0x1p-700, 0x1p-700), 0);
  EXPECT_LE(mulDown(0x1p-700, 0x1p-700), 0);
  EXPECT_LT(mulDown(0x1p-700, -0x1p-700), 0);
}

TEST(Interval, KnownValues) {
  Interval x{-2, 3};
  EXPECT_EQ(mul(x, x), (Interval{-6, 9}));
  EXPECT_EQ(square(x), (Interval{0, 9}));
  EXPECT_EQ(mul(x, Interval::point(0.5)), (Interval{-1, 1.5}));
  EXPECT_EQ(div(Interval::point(1), {2, 4}), (Interval{0.25, 0.5}));
  EXPECT_EQ(div(Interval::point(1), {0, 4}), (Interval{0.25, kInf}));
  EXPECT_EQ(div(Interval::point(1), {-4, 0}), (Interval{-kInf, -0.25}));
  EXPECT_EQ(div(Interval::point(1), {-1, 1}), Interval::top());
  EXPECT_TRUE(div({1, 2}, {0, 0}).isEmpty());
  EXPECT_EQ(div({1, kInf}, {1, kInf}), (Interval{0, kInf}));
  EXPECT_EQ(powInteger(x, 3), (Interval{-8, 27}));
  EXPECT_EQ(powInteger(x, 4), (Interval{0, 81}));
  EXPECT_EQ(powInteger({2, 4}, -1), (Interval{0.25, 0.5}));
  EXPECT_EQ(powInteger(x, 0), Interval::point(1));
  EXPECT_EQ(rem({-5, 7}, {2, 3}), (Interval{-3, 3}));
  EXPECT_EQ(abs(x), (Interval{0, 3}));
  EXPECT_EQ(hull(Interval::empty(), x), x);
  EXPECT_TRUE(intersect({0, 1}, {2, 3}).isEmpty());
}

TEST(Interval, OperationsHoldEveryPoint) {
  Random random(2);
  for (int i = 0; i < 12000; ++i) {
    Interval a = random.interval(-8, 8), b = random.interval(-8, 8);
    Interval sum = add(a, b), difference = sub(a, b), product = mul(a, b), quotient = div(a, b),
             least = min(a, b), most = max(a, b), remainder = rem(a, b), angle = atan2(a, b),
             power = powPositive(a, b), signedCopy = copySign(a, b), squared = square(a);
    int exponent = static_cast<int>(random.below(13)) - 6;
    Interval integerPower = powInteger(a, exponent);
    for (int k = 0; k < 10; ++k) {
      double x = random.member(a), y = random.member(b);
      long double lx = x, ly = y;
      auto holds = [](const Interval &range, long double exact) {
        return range.lo <= exact && exact <= range.hi;
      };
      ASSERT_TRUE(holds(sum, lx + ly));
      ASSERT_TRUE(holds(difference, lx - ly));
      ASSERT_TRUE(holds(product, lx * ly));
      ASSERT_TRUE(holds(squared, lx * lx));
      ASSERT_TRUE(least.contains(std::fmin(x, y)) && most.contains(std::fmax(x, y)));
      ASSERT_TRUE(signedCopy.contains(std::copysign(x, y)));
      ASSERT_TRUE(holds(angle, std::atan2(lx, ly))) << a << b << x << ' ' << y;
      if (y != 0) {
        ASSERT_TRUE(holds(quotient, lx / ly)) << a << '/' << b;
        ASSERT_TRUE(remainder.contains(std::fmod(x, y)));
      }
      if (x > 0) {
        ASSERT_TRUE(holds(power, std::pow(lx, ly))) << a << b << x << ' ' << y << power;
      }
      if (x != 0 || exponent >= 0) {
        ASSERT_TRUE(holds(integerPower, std::pow(lx, static_cast<long double>(exponent))))
            << a << exponent << x << integerPower;
      }
    }
  }
}

long double reference(UnaryFn fn, long double x) {
  using std::exp;
  switch (fn) {
  case UnaryFn::Square: return x * x;
  case UnaryFn::Reciprocal: return 1 / x;
  case UnaryFn::Sqrt: return std::sqrt(x);
  case UnaryFn::Rsqrt: return 1 / std::sqrt(x);
  case UnaryFn::Cbrt: return std::cbrt(x);
  case UnaryFn::Exp: return std::exp(x);
  case UnaryFn::Exp2: return std::exp2(x);
  case UnaryFn::Expm1: return std::expm1(x);
  case UnaryFn::Log: return std::log(x);
  case UnaryFn::Log2: return std::log2(x);
  case UnaryFn::Log10: return std::log10(x);
  case UnaryFn::Log1p: return std::log1p(x);
  case UnaryFn::Sin: return std::sin(x);
  case UnaryFn::Cos: return std::cos(x);
  case UnaryFn::Tan: return std::tan(x);
  case UnaryFn::Asin: return std::asin(x);
  case UnaryFn::Acos: return std::acos(x);
  case UnaryFn::Atan: return std::atan(x);
  case UnaryFn::Sinh: return std::sinh(x);
  case UnaryFn::Cosh: return std::cosh(x);
  case UnaryFn::Tanh: return std::tanh(x);
  case UnaryFn::Asinh: return std::asinh(x);
  case UnaryFn::Acosh: return std::acosh(x);
  case UnaryFn::Atanh: return std::atanh(x);
  case UnaryFn::Erf: return std::erf(x);
  case UnaryFn::Erfc: return std::erfc(x);
  case UnaryFn::Sigmoid: return 1 / (1 + exp(-x));
  case UnaryFn::Softplus: return x > 40 ? x + exp(-x) : std::log1p(exp(x));
  case UnaryFn::Gelu: return 0.5L * x * std::erfc(-x * std::sqrt(0.5L));
  case UnaryFn::GeluTanh: {
    long double z =
        std::sqrt(8 / 3.14159265358979323846264338327950288L) * (x + 0.044715L * x * x * x);
    return x / (1 + exp(-z));
  }
  case UnaryFn::Silu: return x / (1 + exp(-x));
  default: return evaluate(fn, static_cast<double>(x)); // exact ones
  }
}

class EveryFunction : public testing::TestWithParam<unsigned> {};

TEST_P(EveryFunction, ImageHoldsEveryPoint) {
  auto fn = static_cast<UnaryFn>(GetParam());
  Random random(100 + GetParam());
  int checked = 0;
  for (int i = 0; checked < 100000 && i < 200000; ++i) {
    int span = random.below(4) == 0 ? 8 : 3;
    Interval argument = random.interval(-20, span);
    if (domainOf(fn).hi == 1 || random.below(4) == 0)
      argument = {random.uniform(-1, 1), 0}, argument.hi = random.uniform(argument.lo, 1);
    Interval x = intersect(argument, domainOf(fn));
    if (x.isEmpty())
      continue;
    Interval y = image(fn, argument);
    ASSERT_TRUE(image(fn, domainOf(fn)).contains(y)) << getName(fn).str() << argument << y;
    for (int k = 0; k < 10; ++k) {
      double point = random.member(x);
      long double exact = reference(fn, point);
      if (!std::isfinite(exact)) // poles
        continue;
      ++checked;
      // The reference's own last place.
      long double doubt = std::fabs(exact) * 0x1p-60L + 1e-4940L;
      ASSERT_TRUE(y.lo <= exact + doubt && exact - doubt <= y.hi)
          << getName(fn).str() << argument << " at " << point << " gives "
          << static_cast<double>(exact) << " outside " << y;
    }
  }
  EXPECT_GE(checked, 100000);
}

TEST_P(EveryFunction, DerivativeBoundsSlopes) {
  auto fn = static_cast<UnaryFn>(GetParam());
  Random random(200 + GetParam());
  int checked = 0;
  for (int i = 0; i < 20000; ++i) {
    Interval x = intersect(random.interval(-6, 3), domainOf(fn));
    if (x.isEmpty())
      continue;
    double bound = derivativeBound(fn, x);
    if (!(bound < kInf))
      continue;
    for (int k = 0; k < 5; ++k) {
      double a = random.member(x), b = random.member(x);
      long double rise = std::fabs(reference(fn, a) - reference(fn, b));
      long double run = std::fabs(static_cast<long double>(a) - b);
      long double size = std::fabs(reference(fn, a)) + std::fabs(reference(fn, b));
      ++checked;
      ASSERT_LE(rise, bound * run + size * 0x1p-60L)
          << getName(fn).str() << x << ' ' << a << ' ' << b << " bound " << bound;
    }
  }
  if (!hasIntegerValues(fn)) {
    EXPECT_GE(checked, 5000);
  }
}

TEST_P(EveryFunction, AlgebraicFactsHold) {
  auto fn = static_cast<UnaryFn>(GetParam());
  Random random(300 + GetParam());
  for (int i = 0; i < 20000; ++i) {
    double x = random.member(intersect(random.interval(-20, 3), domainOf(fn)));
    double y = evaluate(fn, x);
    // Poles, the outside of the domain, and underflow, which exact arithmetic does not have.
    if (!std::isfinite(x) || !std::isfinite(y) || (x != 0 && std::fabs(x) < 1e-100))
      continue;
    if (std::optional<double> factor = linearBound(fn)) {
      ASSERT_LE(std::fabs(y), *factor * std::fabs(x) * (1 + 1e-12)) << getName(fn).str() << x;
    }
    if (neverVanishes(fn)) {
      ASSERT_NE(y, 0) << getName(fn).str() << x;
    }
    if (vanishesOnlyAtZero(fn) && x != 0) {
      ASSERT_NE(y, 0) << getName(fn).str() << x;
    }
    if (hasIntegerValues(fn) || (keepsIntegers(fn) && x == std::trunc(x))) {
      ASSERT_EQ(y, std::trunc(y)) << getName(fn).str() << x;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, EveryFunction, testing::Range(0u, kNumUnaryFns),
                         [](const testing::TestParamInfo<unsigned> &info) {
                           return getName(static_cast<UnaryFn>(info.param)).str();
                         });

TEST(Elementary, OverflowOfDoubleIsNotAnInfinity) {
  EXPECT_LT(image(UnaryFn::Exp, {1000, 1000}).lo, kInf);
  EXPECT_EQ(image(UnaryFn::Exp, {1000, 1000}).hi, kInf);
  EXPECT_EQ(powPositive({10, 10}, {400, 400}).lo, std::numeric_limits<double>::max());
  EXPECT_EQ(image(UnaryFn::Exp, {-1000, -1000}).lo, 0);
  EXPECT_GT(image(UnaryFn::Exp, {-1000, -1000}).hi, 0);
}

TEST(Elementary, KnownImages) {
  EXPECT_EQ(image(UnaryFn::Exp, {-50, 0}).hi, 1);
  EXPECT_EQ(image(UnaryFn::Relu, {-2, 3}), (Interval{0, 3}));
  EXPECT_EQ(image(UnaryFn::Sin, {0, 4}).hi, 1);
  EXPECT_LT(image(UnaryFn::Sin, {0, 4}).lo, -0.75);
  EXPECT_GT(image(UnaryFn::Sin, {0, 4}).lo, -0.76);
  EXPECT_NEAR(image(UnaryFn::Gelu, {-5, 5}).lo, -0.16998, 1.5e-5);
  EXPECT_NEAR(image(UnaryFn::Silu, {-5, 5}).lo, -0.27847, 1e-5);
  EXPECT_EQ(image(UnaryFn::Log, {-1, 1}), (Interval{-kInf, 0}));
  EXPECT_TRUE(image(UnaryFn::Sqrt, {-2, -1}).isEmpty());
  EXPECT_EQ(image(UnaryFn::Tan, {1, 2}), Interval::top());
  // Monotone pieces are tight: a few last places around the ends.
  Interval tanh = image(UnaryFn::Tanh, {-1, 2});
  EXPECT_NEAR(tanh.lo, std::tanh(-1), 1e-14);
  EXPECT_NEAR(tanh.hi, std::tanh(2), 1e-14);
}

} // namespace
