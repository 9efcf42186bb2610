// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's own intervals hold every f32 result of operands they hold.

#include "../../lib/Proofs/Facts.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::mp::proofs;

namespace {

struct Case {
  const char *name;
  Function fn;
  unsigned operands;
  float (*evaluate)(float, float);
};

const Case kCases[] = {
    {"add", Function::Add, 2, [](float x, float y) { return x + y; }},
    {"sub", Function::Sub, 2, [](float x, float y) { return x - y; }},
    {"mul", Function::Mul, 2, [](float x, float y) { return x * y; }},
    {"div", Function::Div, 2, [](float x, float y) { return x / y; }},
    {"remainder", Function::Remainder, 2, [](float x, float y) { return std::fmod(x, y); }},
    {"power", Function::Power, 2, [](float x, float y) { return std::pow(x, y); }},
    {"max", Function::Max, 2,
     [](float x, float y) { return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y); }},
    {"min", Function::Min, 2,
     [](float x, float y) { return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y); }},
    {"maxnum", Function::MaxNumber, 2, [](float x, float y) { return std::fmax(x, y); }},
    {"minnum", Function::MinNumber, 2, [](float x, float y) { return std::fmin(x, y); }},
    {"negate", Function::Negate, 1, [](float x, float) { return -x; }},
    {"absolute", Function::Absolute, 1, [](float x, float) { return std::fabs(x); }},
    {"square", Function::Square, 1, [](float x, float) { return x * x; }},
    {"exp", Function::Exp, 1, [](float x, float) { return std::exp(x); }},
    {"exp2", Function::Exp2, 1, [](float x, float) { return std::exp2(x); }},
    {"expm1", Function::Expm1, 1, [](float x, float) { return std::expm1(x); }},
    {"log", Function::Log, 1, [](float x, float) { return std::log(x); }},
    {"log1p", Function::Log1p, 1, [](float x, float) { return std::log1p(x); }},
    {"sqrt", Function::Sqrt, 1, [](float x, float) { return std::sqrt(x); }},
    {"rsqrt", Function::Rsqrt, 1, [](float x, float) { return 1 / std::sqrt(x); }},
    {"reciprocal", Function::Reciprocal, 1, [](float x, float) { return 1 / x; }},
    {"tanh", Function::Tanh, 1, [](float x, float) { return std::tanh(x); }},
    {"erf", Function::Erf, 1, [](float x, float) { return std::erf(x); }},
    {"sigmoid", Function::Sigmoid, 1, [](float x, float) { return 1 / (1 + std::exp(-x)); }},
    {"sin", Function::Sin, 1, [](float x, float) { return std::sin(x); }},
    {"cos", Function::Cos, 1, [](float x, float) { return std::cos(x); }},
    {"log2", Function::Log2, 1, [](float x, float) { return std::log2(x); }},
    {"log10", Function::Log10, 1, [](float x, float) { return std::log10(x); }},
    {"tan", Function::Tan, 1, [](float x, float) { return std::tan(x); }},
    {"asin", Function::Asin, 1, [](float x, float) { return std::asin(x); }},
    {"acos", Function::Acos, 1, [](float x, float) { return std::acos(x); }},
    {"atan", Function::Atan, 1, [](float x, float) { return std::atan(x); }},
    {"sinh", Function::Sinh, 1, [](float x, float) { return std::sinh(x); }},
    {"cosh", Function::Cosh, 1, [](float x, float) { return std::cosh(x); }},
    {"asinh", Function::Asinh, 1, [](float x, float) { return std::asinh(x); }},
    {"acosh", Function::Acosh, 1, [](float x, float) { return std::acosh(x); }},
    {"atanh", Function::Atanh, 1, [](float x, float) { return std::atanh(x); }},
    {"cbrt", Function::Cbrt, 1, [](float x, float) { return std::cbrt(x); }},
    {"erfc", Function::Erfc, 1, [](float x, float) { return std::erfc(x); }},
    {"trunc", Function::Trunc, 1, [](float x, float) { return std::trunc(x); }},
    {"copysign", Function::CopySign, 2, [](float x, float y) { return std::copysign(x, y); }},
    {"floor", Function::Floor, 1, [](float x, float) { return std::floor(x); }},
    {"ceil", Function::Ceil, 1, [](float x, float) { return std::ceil(x); }},
    {"round to even", Function::Round, 1, [](float x, float) { return std::nearbyint(x); }},
    {"round from zero", Function::Round, 1, [](float x, float) { return std::round(x); }},
};

class Samples {
public:
  float number() {
    static const float special[] = {
        0.0f,    -0.0f, 1.0f,     -1.0f,   2.0f,     0.5f,  -0.5f,    0x1p-149f, 0x1p-126f, 1e-20f,
        -1e-20f, 88.0f, 65504.0f, 3.0e38f, -3.0e38f, -7.0f, INFINITY, -INFINITY, NAN};
    if (random() % 2)
      return special[random() % std::size(special)];
    return std::ldexp(float(int64_t(random() % 2001) - 1000) / 1000, int(random() % 40) - 20);
  }
  /// A set and three of its elements: its ends, and one between them.
  Facts set(float (&elements)[3]) {
    float a = elements[0] = number(), b = elements[1] = number();
    float between = a + (b - a) * float(random() % 1000) / 1000;
    elements[2] = std::isfinite(between) ? std::clamp(between, std::min(a, b), std::max(a, b)) : a;
    Facts facts = join(Facts::point(a), Facts::point(b));
    facts.norm = kInf;
    return facts;
  }

private:
  std::mt19937_64 random{7};
};

bool holds(const Facts &facts, float value) {
  if (std::isnan(value))
    return facts.mayBeNaN;
  return facts.contains(value) && (!std::isinf(value) || facts.mayBeInfinite);
}

TEST(Facts, HoldEveryResult) {
  MLIRContext context;
  Format f32 = *formatOf(Float32Type::get(&context));
  Samples samples;
  for (const Case &function : kCases)
    for (unsigned draw = 0; draw < 20000; ++draw) {
      float x[3], y[3];
      Facts sets[2] = {samples.set(x), samples.set(y)};
      Facts found = apply(function.fn, ArrayRef(sets).take_front(function.operands), f32);
      for (float a : x)
        for (float b : y) {
          float result = function.evaluate(a, b);
          ASSERT_TRUE(holds(found, result))
              << function.name << "(" << a << ", " << b << ") = " << result << " is not in ["
              << found.low << ", " << found.high << "] " << found.mayBeNaN << found.mayBeInfinite;
        }
    }
}

TEST(Facts, HoldSums) {
  MLIRContext context;
  Format f32 = *formatOf(Float32Type::get(&context));
  Samples samples;
  for (unsigned draw = 0; draw < 20000; ++draw) {
    float x[3], y[3];
    Facts term = samples.set(x), start = samples.set(y);
    unsigned count = draw % 40;
    Facts found = sumOf(term, count, start, f32, kInf, /*onTensorCores=*/false);
    float sum = y[draw % 2];
    for (unsigned i = 0; i < count; ++i)
      sum += x[(draw >> (i % 16)) % 2];
    ASSERT_TRUE(holds(found, sum))
        << count << " times " << x[0] << ", " << x[1] << " from " << y[draw % 2] << " is " << sum
        << ", not in [" << found.low << ", " << found.high << "]";
  }
}

} // namespace
