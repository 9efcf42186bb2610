// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Published worst-case errors at f64 of nineteen functions that tools for scalar code are compared
// on. Daisy's interval rules (half-ulp rounding, inputs and decimal constants rounded, products
// with powers of two exact, no Sterbenz, no square rule) must come out to four digits; FPTaylor's
// tighter bounds, where known, show how far intervals are from them. Values: malyzajko/daisy
// regression table, soarlab/FPTaylor benchmarks.

#include "TestUtils.h"

#include "mp/Domains/Error.h"

#include "gtest/gtest.h"

#include <functional>

using namespace mpcore::domains;

namespace {

const Arithmetic kF64{mpcore::numerics::Format::F64, 0.5, /*sterbenz=*/false, std::nullopt};

/// Expressions over measured values, so that functions read as they are published.
struct Real {
  Measured m;

  Real(Interval range) : m{FloatFacts::finite(range), {}} {
    m.error = ErrorFacts::absolute(roundingError(range.mag(), kF64));
  }
  Real(double constant) : m{FloatFacts::constant(constant), {}} {
    // Literals stand for decimals; those with a short binary expansion are exact.
    bool isShort = constant * 0x1p20 == std::trunc(constant * 0x1p20);
    m.error = ErrorFacts::absolute(isShort ? 0 : roundingError(std::fabs(constant), kF64));
  }
  Real(FloatFacts value, ErrorFacts error) : m{value, error} {}
};

Real operator+(const Real &a, const Real &b) {
  return {binary(BinaryFn::Add, a.m.value, b.m.value, {}), addError(a.m, b.m, kF64)};
}
Real operator-(const Real &a, const Real &b) {
  return {binary(BinaryFn::Sub, a.m.value, b.m.value, {}), subError(a.m, b.m, kF64)};
}
Real operator*(const Real &a, const Real &b) {
  return {binary(BinaryFn::Mul, a.m.value, b.m.value, {}), mulError(a.m, b.m, kF64)};
}
Real operator/(const Real &a, const Real &b) {
  return {binary(BinaryFn::Div, a.m.value, b.m.value, {}), divError(a.m, b.m, kF64)};
}
Real operator-(const Real &a) {
  return {unary(UnaryFn::Neg, a.m.value, {}), unaryError(UnaryFn::Neg, a.m, kF64)};
}

Real doppler(Interval u_, Interval v_, Interval t_) {
  Real u(u_), v(v_), t(t_);
  Real t1 = 331.4 + 0.6 * t;
  return (-t1 * v) / ((t1 + u) * (t1 + u));
}

Real turbine(int which) {
  Real v(Interval{-4.5, -0.3}), w(Interval{0.4, 0.9}), r(Interval{3.8, 7.8});
  Real swept = w * w * r * r;
  if (which == 1)
    return 3.0 + 2.0 / (r * r) - 0.125 * (3.0 - 2.0 * v) * swept / (1.0 - v) - 4.5;
  if (which == 2)
    return 6.0 * v - 0.5 * v * swept / (1.0 - v) - 2.5;
  return 3.0 - 2.0 / (r * r) - 0.125 * (1.0 + 2.0 * v) * swept / (1.0 - v) - 0.5;
}

Real rigidBody1() {
  Interval box{-15, 15};
  Real x1(box), x2(box), x3(box);
  return -(x1 * x2) - 2.0 * x2 * x3 - x1 - x3;
}

Real rigidBody2() {
  Interval box{-15, 15};
  Real x1(box), x2(box), x3(box);
  return 2.0 * x1 * x2 * x3 + 3.0 * x3 * x3 - x2 * x1 * x2 * x3 + 3.0 * x3 * x3 - x2;
}

Real verhulst() {
  Real x(Interval{0.1, 0.3});
  return (4.0 * x) / (1.0 + x / 1.11);
}

Real predatorPrey() {
  Real x(Interval{0.1, 0.3});
  return (4.0 * x * x) / (1.0 + (x / 1.11) * (x / 1.11));
}

Real carbonGas() {
  Real v(Interval{0.1, 0.5});
  Real p = 35000000.0, a = 0.401, b = 4.27e-05, t = 300.0, n = 1000.0, k = 1.3806503e-23;
  return (p + (a * (n / v)) * (n / v)) * (v - n * b) - (k * n) * t;
}

Real sine() {
  Real x(Interval{-1.57079632679, 1.57079632679});
  return x - x * x * x / 6.0 + x * x * x * x * x / 120.0 - x * x * x * x * x * x * x / 5040.0;
}

Real sineOrder3() {
  Real x(Interval{-2, 2});
  return 0.954929658551372 * x - 0.12900613773279798 * (x * x * x);
}

Real sqroot() {
  Real x(Interval{0, 1});
  return 1.0 + 0.5 * x - 0.125 * x * x + 0.0625 * x * x * x - 0.0390625 * x * x * x * x;
}

Real kepler0() {
  Interval box{4, 6.36};
  Real x1(box), x2(box), x3(box), x4(box), x5(box), x6(box);
  return x2 * x5 + x3 * x6 - x2 * x3 - x5 * x6 + x1 * (-x1 + x2 + x3 - x4 + x5 + x6);
}

Real himmilbeau() {
  Real x1(Interval{-5, 5}), x2(Interval{-5, 5});
  Real a = x1 * x1 + x2 - 11.0, b = x1 + x2 * x2 - 7.0;
  return a * a + b * b;
}

Real introExample() {
  Real t(Interval{0, 999});
  return t / (t + 1.0);
}

Real nonlin2() {
  Real x(Interval{1.001, 2}), y(Interval{1.001, 2});
  Real t = x * y;
  return (t - 1.0) / (t * t - 1.0);
}

struct Published {
  const char *name;
  std::function<Real()> evaluate;
  double daisy;
  double fptaylor = 0; // 0: not known
};

const Published kTable[] = {
    {"doppler1", [] { return doppler({-100, 100}, {20, 20000}, {-30, 50}); }, 4.3607e-13, 1.36e-13},
    {"doppler2", [] { return doppler({-125, 125}, {15, 25000}, {-40, 60}); }, 1.0753e-12},
    {"doppler3", [] { return doppler({-30, 120}, {320, 20300}, {-50, 30}); }, 1.8016e-13},
    {"rigidBody1", rigidBody1, 2.9488e-13, 2.95e-13},
    {"rigidBody2", rigidBody2, 3.6066e-11, 3.61e-11},
    {"turbine1", [] { return turbine(1); }, 8.9209e-14},
    {"turbine2", [] { return turbine(2); }, 1.3614e-13},
    {"turbine3", [] { return turbine(3); }, 6.5032e-14},
    {"verhulst", verhulst, 4.0556e-16, 2.50e-16},
    {"predatorPrey", predatorPrey, 1.7843e-16, 1.59e-16},
    {"carbonGas", carbonGas, 4.5333e-08, 8.27e-09},
    {"sine", sine, 1.1297e-15, 4.43e-16},
    {"sineOrder3", sineOrder3, 1.4511e-15},
    {"sqroot", sqroot, 6.0715e-16},
    {"kepler0", kepler0, 1.2741e-13, 7.47e-14},
    {"himmilbeau", himmilbeau, 2.3253e-12},
    {"intro_example", introExample, 1.1369e-10},
    {"nonlin1", introExample, 1.1369e-10},
    {"nonlin2", nonlin2, 2.4910e-09},
};

class Daisy : public testing::TestWithParam<unsigned> {};

TEST_P(Daisy, FourDigits) {
  const Published &function = kTable[GetParam()];
  double bound = function.evaluate().m.error.abs;
  // The table is rounded to five significant digits.
  EXPECT_NEAR(bound / function.daisy, 1, 6e-5) << function.name << ": " << bound;
  if (function.fptaylor != 0) {
    double ratio = bound / function.fptaylor;
    RecordProperty("ratio_to_fptaylor", std::to_string(ratio));
    std::printf("  %-13s %.4e, %.2f times FPTaylor's\n", function.name, bound, ratio);
    EXPECT_GE(ratio, 0.99) << "both are bounds; ours cannot be tighter with plain intervals";
    EXPECT_LE(ratio, 6);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Daisy, testing::Range(0u, unsigned(std::size(kTable))),
                         [](const testing::TestParamInfo<unsigned> &info) {
                           return std::string(kTable[info.param].name);
                         });

TEST(Daisy, SquareRuleImprovesTheRange) {
  Interval a = add(add(square({-5, 5}), {-5, 5}), Interval::point(-11));
  Interval b = add(add({-5, 5}, square({-5, 5})), Interval::point(-7));
  EXPECT_EQ(add(square(a), square(b)), (Interval{0, 890}));
  EXPECT_EQ(himmilbeau().m.value.range, (Interval{-1630, 3050}));
}

} // namespace
