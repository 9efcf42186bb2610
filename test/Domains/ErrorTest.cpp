// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error rules against computed values: operations carried out in double and rounded to the format
// (which is correct rounding for formats up to f32), compared with exact operations on exact
// inputs.

#include "TestUtils.h"

#include "mp/Domains/Error.h"

#include "gtest/gtest.h"

using namespace mpcore::domains;
using mpcore::numerics::Format;

namespace {

double store(double x, Format format) {
  return mpcore::numerics::decode(mpcore::numerics::encode(x, format), format);
}

/// A range, an exact member, and a member of the format at most `error` away from it.
struct Pair {
  Measured measured;
  double exact, computed;
};

Pair randomPair(Random &random, Format format, int minExponent, int maxExponent) {
  Pair pair;
  Interval range = random.interval(minExponent, maxExponent);
  if (random.below(3) == 0) // away from zero, for quotients and roots
    range = {std::fabs(range.lo) + 0.25, std::fabs(range.lo) + 0.25 + range.width()};
  pair.measured.value = FloatFacts::finite(range);
  pair.exact = random.member(range);
  double moved = random.below(3) == 0
                     ? 0
                     : random.uniform(-1, 1) * std::exp2(-static_cast<double>(random.below(20)));
  pair.computed = store(pair.exact + moved, format);
  double error = std::fabs(pair.computed - pair.exact);
  // The stated error has room, or none.
  pair.measured.error =
      ErrorFacts::absolute(random.flip() ? error * (1 + 1e-15) : error * 1.5 + 1e-6);
  if (pair.exact != 0 && random.flip())
    pair.measured.error.relative = error / std::fabs(pair.exact) * (1 + 1e-14);
  return pair;
}

void expectWithin(const ErrorFacts &bound, double exact, double computed, llvm::StringRef operation,
                  Format format) {
  auto what = [&] { return operation.str() + ' ' + mpcore::numerics::toString(format).str(); };
  if (!std::isfinite(computed) || !std::isfinite(exact)) {
    ASSERT_EQ(bound.abs, kInf) << what() << " computed " << computed;
    return;
  }
  double error = std::fabs(computed - exact);
  double doubt = std::fabs(exact) * 1e-15 + 1e-300; // the reference is double
  ASSERT_LE(error, bound.abs + doubt) << what() << " exact " << exact << " computed " << computed;
  if (bound.relative < kInf) {
    ASSERT_LE(error, bound.relative * std::fabs(exact) + doubt) << what() << " (relative)";
  }
}

constexpr Format kFormats[] = {Format::F32, Format::BF16, Format::F16, Format::F8E4M3FN,
                               Format::F8E5M2};

TEST(Error, BinaryOperationsStayWithinBounds) {
  for (Format format : kFormats) {
    Random random(500 + static_cast<unsigned>(format));
    Arithmetic arithmetic{format};
    int wide = format == Format::F32 || format == Format::BF16 ? 20 : 3;
    for (int i = 0; i < 25000; ++i) {
      Pair x = randomPair(random, format, -8, wide), y = randomPair(random, format, -8, wide),
           z = randomPair(random, format, -8, wide);
      arithmetic.sterbenz = random.flip();
      if (!std::isfinite(x.computed) || !std::isfinite(y.computed) || !std::isfinite(z.computed))
        continue;
      expectWithin(addError(x.measured, y.measured, arithmetic), x.exact + y.exact,
                   store(x.computed + y.computed, format), "add", format);
      expectWithin(subError(x.measured, y.measured, arithmetic), x.exact - y.exact,
                   store(x.computed - y.computed, format), "sub", format);
      expectWithin(mulError(x.measured, y.measured, arithmetic), x.exact * y.exact,
                   store(x.computed * y.computed, format), "mul", format);
      expectWithin(fmaError(x.measured, y.measured, z.measured, arithmetic),
                   std::fma(x.exact, y.exact, z.exact),
                   store(std::fma(x.computed, y.computed, z.computed), format), "fma", format);
      if (y.exact != 0)
        expectWithin(divError(x.measured, y.measured, arithmetic), x.exact / y.exact,
                     store(x.computed / y.computed, format), "div", format);
      expectWithin(eitherError(x.measured, y.measured), std::fmax(x.exact, y.exact),
                   std::fmax(x.computed, y.computed), "max", format);
      expectWithin(castError(x.measured, arithmetic), x.exact, store(x.computed, format), "cast",
                   format);
      double power = static_cast<double>(random.below(7)) - 2;
      if (x.exact != 0 || power >= 0) {
        Measured exponent{FloatFacts::constant(power), ErrorFacts::none()};
        expectWithin(binaryError(BinaryFn::Pow, x.measured, exponent, arithmetic),
                     std::pow(x.exact, power), store(std::pow(x.computed, power), format), "pow",
                     format);
      }
      if (HasFatalFailure())
        return;
    }
  }
}

TEST(Error, FunctionsStayWithinBounds) {
  for (unsigned f = 0; f < kNumUnaryFns; ++f) {
    auto fn = static_cast<UnaryFn>(f);
    Random random(600 + f);
    for (int i = 0; i < 20000; ++i) {
      Format format = kFormats[random.below(5)];
      Pair x = randomPair(random, format, -8, 3);
      if (!domainOf(fn).contains(x.measured.value.range))
        continue;
      // Approximate functions: one ulp, emulated by a rounding of something slightly off.
      Arithmetic arithmetic{format, random.flip() ? 0.5 : 1};
      double value = evaluate(fn, x.computed);
      double rounded = store(value, format);
      if (arithmetic.ulps == 1 && !isExact(fn))
        rounded = mpcore::numerics::decode(
            mpcore::numerics::encode(value, format, mpcore::numerics::Rounding::RZ), format);
      double exact = evaluate(fn, x.exact);
      // Values of huge magnitude are beyond the double reference.
      if (std::fabs(exact) > 1e30)
        continue;
      ErrorFacts bound = unaryError(fn, x.measured, arithmetic);
      if (fn == UnaryFn::Tan && std::fabs(exact) > 1e3)
        continue;
      expectWithin(bound, exact, rounded, getName(fn), format);
      if (HasFatalFailure())
        return;
    }
  }
}

TEST(Error, ExactCases) {
  Arithmetic f16{Format::F16};
  Measured integers{FloatFacts::fromInteger(-1000, 1000), ErrorFacts::none()};
  EXPECT_TRUE(addError(integers, integers, f16).isExact()) << "2000 <= 2^11";
  Measured more{FloatFacts::fromInteger(-1500, 1500), ErrorFacts::none()};
  EXPECT_FALSE(addError(more, more, f16).isExact());
  Measured near{FloatFacts::finite({1, 2}), ErrorFacts::absolute(0)};
  EXPECT_TRUE(subError(near, near, f16).isExact()) << "Sterbenz";
  Measured half{FloatFacts::constant(0.5), ErrorFacts::none()};
  EXPECT_LE(mulError(near, half, f16).abs, 0x1p-24) << "underflow only";
  Measured two{FloatFacts::constant(2), ErrorFacts::none()};
  EXPECT_TRUE(mulError(near, two, f16).isExact());
  EXPECT_TRUE(unaryError(UnaryFn::Relu, near, f16).isExact());
  EXPECT_EQ(roundingError(0, f16), 0);
  EXPECT_EQ(roundingError(1, f16), 0x1p-11);
  EXPECT_EQ(roundingError(1.999, f16), 0x1p-11);
  EXPECT_EQ(roundingError(2, f16), 0x1p-10);
  EXPECT_EQ(roundingError(1e-7, f16), 0x1p-25);
  EXPECT_EQ(roundingError(65519, f16), 16);
  EXPECT_EQ(roundingError(65520, f16), kInf);
}

TEST(Error, RowNorms) {
  Random random(650);
  Arithmetic arithmetic{Format::F16, 0.5, true, 6};
  for (int i = 0; i < 20000; ++i) {
    Interval range = random.interval(-3, 3);
    Measured x{FloatFacts::finite(range), {}}, y = x;
    std::vector<double> ex, ey, cx, cy;
    double squares = 0, differences = 0, differencesY = 0, worst = 0;
    for (int k = 0; k < 6; ++k) {
      ex.push_back(random.member(range));
      ey.push_back(random.member(range));
      cx.push_back(store(ex[k] + random.uniform(-1, 1) * 0x1p-6, Format::F16));
      cy.push_back(store(ey[k], Format::F16));
      squares += ex[k] * ex[k];
      differences += (cx[k] - ex[k]) * (cx[k] - ex[k]);
      differencesY += (cy[k] - ey[k]) * (cy[k] - ey[k]);
      worst = std::max({worst, std::fabs(cx[k] - ex[k]), std::fabs(cy[k] - ey[k])});
    }
    x.value.norm2 = std::sqrt(squares) * (1 + 1e-14);
    x.error = y.error = ErrorFacts::absolute(worst);
    x.error.norm2 = std::sqrt(differences) * (1 + 1e-14);
    y.error.norm2 = std::sqrt(differencesY) * (1 + 1e-14);
    auto rowError = [&](auto exact, auto computed) {
      double sum = 0;
      for (int k = 0; k < 6; ++k)
        sum += std::pow(store(computed(k), Format::F16) - exact(k), 2);
      return std::sqrt(sum) * (1 - 1e-12);
    };
    ASSERT_LE(rowError([&](int k) { return ex[k] + ey[k]; }, [&](int k) { return cx[k] + cy[k]; }),
              addError(x, y, arithmetic).norm2);
    ASSERT_LE(rowError([&](int k) { return ex[k] * ey[k]; }, [&](int k) { return cx[k] * cy[k]; }),
              mulError(x, y, arithmetic).norm2);
    ASSERT_LE(
        rowError([&](int k) { return std::tanh(ex[k]); }, [&](int k) { return std::tanh(cx[k]); }),
        unaryError(UnaryFn::Tanh, x, arithmetic).norm2);
    ASSERT_LE(rowError([&](int k) { return std::fmax(ex[k], ey[k]); },
                       [&](int k) { return std::fmax(cx[k], cy[k]); }),
              eitherError(x, y).norm2);
  }
}

TEST(Error, JoinIsAnUpperBound) {
  Random random(660);
  auto randomError = [&] {
    if (random.below(10) == 0)
      return ErrorFacts::bottom();
    ErrorFacts error;
    error.abs = std::fabs(random.number());
    error.norm2 = random.flip() ? kInf : std::fabs(random.number());
    error.relative = random.flip() ? kInf : std::fabs(random.number());
    error.provenance = static_cast<Provenance>(random.below(3));
    return error;
  };
  for (int i = 0; i < 20000; ++i) {
    ErrorFacts a = randomError(), b = randomError(), c = randomError();
    ASSERT_TRUE(join(a, a) == a);
    ASSERT_TRUE(join(a, b) == join(b, a));
    ASSERT_TRUE(join(a, join(b, c)) == join(join(a, b), c));
    ASSERT_TRUE(isAtMost(a, join(a, b)) && isAtMost(b, join(a, b)));
    ASSERT_TRUE(isAtMost(ErrorFacts::bottom(), a) && isAtMost(a, ErrorFacts::unknown()));
  }
}

TEST(Error, Print) {
  auto text = [](const ErrorFacts &error) {
    std::string out;
    llvm::raw_string_ostream(out) << error;
    return out;
  };
  EXPECT_EQ(text(ErrorFacts::none()), "exact");
  EXPECT_EQ(text(ErrorFacts::unknown()), "unknown");
  EXPECT_EQ(text(ErrorFacts::bottom()), "unvisited");
  ErrorFacts error = ErrorFacts::absolute(0.5);
  error.norm2 = 2;
  EXPECT_EQ(text(error), "<=0.5 norm<=2");
}

} // namespace
