// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, constants, contractions: random groups of elements, computed in long double, against
// the closed forms.

#include "TestUtils.h"

#include "mp/Domains/Constants.h"
#include "mp/Domains/Contraction.h"

#include "gtest/gtest.h"

using namespace mpcore::domains;

namespace {

struct Group {
  FloatFacts facts;
  std::vector<double> elements; // rows one after the other
};

Group randomGroup(Random &random, int64_t rows, int64_t length) {
  Interval range = random.interval(-4, 3);
  bool integers = random.below(4) == 0;
  if (integers)
    range = {std::floor(range.lo), std::ceil(range.hi)};
  Group group;
  double mostSquares = 0;
  bool hasZero = false;
  // Some groups sit at the ends, where the bounds are attained.
  bool atEnds = random.below(4) == 0;
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t k = 0; k < length; ++k) {
      double x = atEnds ? (random.flip() ? range.lo : range.hi) : random.member(range);
      x = integers ? std::trunc(x) : x;
      hasZero |= x == 0;
      squares += x * x;
      group.elements.push_back(x);
    }
    mostSquares = std::max(mostSquares, squares);
  }
  group.facts = FloatFacts::finite(range);
  group.facts.integerValued = integers;
  group.facts.nonZero = !hasZero;
  if (random.flip())
    group.facts.norm2 = std::sqrt(mostSquares) * (1 + 1e-14) + 1e-300;
  group.facts.normalize();
  group.facts.reduce(length);
  return group;
}

long double reduceExactly(ReduceFn fn, llvm::ArrayRef<double> x) {
  long double sum = 0, product = 1, most = -kInf, least = kInf, squares = 0, magnitudes = 0,
              exps = 0;
  for (double v : x) {
    sum += v;
    product *= v;
    most = std::max<long double>(most, v);
    least = std::min<long double>(least, v);
    squares += static_cast<long double>(v) * v;
    magnitudes += std::fabs(v);
    exps += std::exp(static_cast<long double>(v));
  }
  switch (fn) {
  case ReduceFn::Sum: return sum;
  case ReduceFn::Mean: return sum / x.size();
  case ReduceFn::Product: return product;
  case ReduceFn::Max: return most;
  case ReduceFn::Min: return least;
  case ReduceFn::SumSquares: return squares;
  case ReduceFn::MeanSquares: return squares / x.size();
  case ReduceFn::SumAbs: return magnitudes;
  case ReduceFn::Norm2: return std::sqrt(squares);
  case ReduceFn::LogSumExp: return std::log(exps);
  }
  return 0;
}

/// Long double rounding of the reference, relative to the size of its terms.
bool holds(const FloatFacts &facts, long double exact, long double size) {
  long double doubt = size * 1e-17L;
  bool inRange = facts.range.lo <= exact + doubt && exact - doubt <= facts.range.hi;
  bool isInteger = !facts.integerValued || exact == std::trunc(exact);
  bool isNonZero = !facts.nonZero || exact != 0;
  return inRange && isInteger && isNonZero;
}

TEST(Reduction, HoldsForRandomGroups) {
  for (unsigned f = 0; f < kNumReduceFns; ++f) {
    auto fn = static_cast<ReduceFn>(f);
    Random random(60 + f);
    for (int i = 0; i < 15000; ++i) {
      int64_t rows = 1 + random.below(3), length = 1 + random.below(6);
      Group x = randomGroup(random, rows, length);
      long double exact = reduceExactly(fn, x.elements);
      long double size = x.elements.size() * (1 + x.facts.mag() * x.facts.mag());
      if (fn == ReduceFn::Product)
        size = std::fabs(exact);
      FloatFacts result = reduce(fn, x.facts, ReducedElements::ofRows(rows, length), 1);
      ASSERT_TRUE(holds(result, exact, size))
          << getName(fn).str() << rows << 'x' << length << ' ' << x.facts << " gives "
          << static_cast<double>(exact) << " outside " << result;
      // The same elements, extent only bounded.
      ReducedElements bounded = ReducedElements::acrossRows({1, rows * length + 2});
      ASSERT_TRUE(holds(reduce(fn, x.facts, bounded, 1), exact, size)) << getName(fn).str();
      ASSERT_TRUE(holds(reduce(fn, x.facts, ReducedElements::acrossRows(Extent::unknown()), 1),
                        exact, size));
    }
  }
}

TEST(Reduction, AcrossRowsBoundsTheResultRows) {
  for (ReduceFn fn : {ReduceFn::Sum, ReduceFn::Mean, ReduceFn::Max, ReduceFn::Min, ReduceFn::Norm2,
                      ReduceFn::SumAbs}) {
    Random random(80);
    for (int i = 0; i < 20000; ++i) {
      int64_t rows = 1 + random.below(4), length = 1 + random.below(5);
      Group x = randomGroup(random, rows, length);
      std::vector<double> result;
      for (int64_t k = 0; k < length; ++k) {
        std::vector<double> column;
        for (int64_t r = 0; r < rows; ++r)
          column.push_back(x.elements[r * length + k]);
        result.push_back(static_cast<double>(reduceExactly(fn, column)));
      }
      FloatFacts facts =
          reduce(fn, x.facts, ReducedElements::acrossRows(Extent::exactly(rows)), length);
      facts.range = inflate(facts.range, 1e-13 * (1 + facts.range.mag()));
      facts.norm2 += 1e-13 * (1 + facts.norm2);
      facts.integerValued = false;
      std::string why;
      ASSERT_TRUE(admits(facts, result, &why)) << why << getName(fn).str() << x.facts << facts;
    }
  }
}

TEST(Reduction, EmptyGroups) {
  FloatFacts x = FloatFacts::finite({1, 2});
  ReducedElements none = ReducedElements::acrossRows(Extent::exactly(0));
  EXPECT_EQ(reduce(ReduceFn::Sum, x, none, 1).range, Interval::point(0));
  EXPECT_EQ(reduce(ReduceFn::Product, x, none, 1).range, Interval::point(1));
  EXPECT_TRUE(reduce(ReduceFn::Max, x, none, 1).range.contains(-kInf));
  EXPECT_TRUE(reduce(ReduceFn::Max, x, none, 1).mayInf);
  EXPECT_TRUE(reduce(ReduceFn::Mean, x, none, 1).mayNaN);
}

TEST(Reduction, InfinitiesOfBothSignsMakeNaN) {
  FloatFacts x = FloatFacts::top();
  x.mayNaN = false;
  ReducedElements row = ReducedElements::ofRows(1, 4);
  EXPECT_TRUE(reduce(ReduceFn::Sum, x, row, 1).mayNaN);
  EXPECT_FALSE(reduce(ReduceFn::Max, x, row, 1).mayNaN);
  EXPECT_FALSE(reduce(ReduceFn::Sum, x, ReducedElements::ofRows(1, 1), 1).mayNaN);
}

TEST(Reduction, SumOfSquaresInF16) {
  // d = 768: safe exactly for |x| <= 9.2365.
  auto overflows = [](double bound) {
    FloatFacts x = FloatFacts::finite(Interval::symmetric(bound));
    FloatFacts sum = reduce(ReduceFn::SumSquares, x, ReducedElements::ofRows(1, 768), 1);
    CastEffects effects;
    castTo(sum, mpcore::numerics::Format::F16, mpcore::numerics::Overflow::IEEE,
           mpcore::numerics::Rounding::RNE, 1, &effects);
    return effects.mayOverflow;
  };
  EXPECT_FALSE(overflows(9.2364));
  EXPECT_TRUE(overflows(9.2366));
}

TEST(Softmax, HoldsForRandomGroups) {
  Random random(70);
  for (int i = 0; i < 40000; ++i) {
    int64_t n = 1 + random.below(6);
    Interval range = random.interval(-4, 5);
    bool atEnds = random.below(3) == 0;
    std::vector<double> x;
    double most = -kInf, squares = 0;
    for (int64_t k = 0; k < n; ++k) {
      x.push_back(atEnds ? (random.flip() ? range.lo : range.hi) : random.member(range));
      most = std::max(most, x.back());
      squares += x.back() * x.back();
    }
    FloatFacts facts = FloatFacts::finite(range);
    if (random.flip())
      facts.norm2 = std::sqrt(squares) * (1 + 1e-14) + 1e-300;
    facts.normalize();
    facts.reduce(n);
    long double sum = 0;
    for (double v : x)
      sum += std::exp(static_cast<long double>(v) - most);
    std::vector<double> row;
    for (double v : x)
      row.push_back(std::exp(v - most) / sum);
    FloatFacts result =
        softmax(facts, random.flip() ? Extent::exactly(n) : Extent{1, n + 2}, true, n);
    result.range = inflate(result.range, 1e-12 * (1 + facts.mag()));
    result.norm2 += 1e-12 * (1 + result.norm2);
    result.nonZero &= result.range.mig() > 0;
    std::string why;
    ASSERT_TRUE(admits(result, row, &why))
        << why << ": " << result << " for " << facts << testing::PrintToString(x);
  }
}

TEST(Softmax, NeedsNoOverflowWarning) {
  // x in [-50, 50], n = 16: plain intervals give exp(100) = 2.7e43.
  FloatFacts x = FloatFacts::finite({-50, 50});
  FloatFacts y = softmax(x, Extent::exactly(16), true, 16);
  EXPECT_TRUE((Interval{0, 1}).contains(y.range)) << y;
  EXPECT_LE(y.norm2, 1);
  EXPECT_FALSE(y.mayNaN || y.mayInf);
  FloatFacts plain = unary(UnaryFn::Exp, binary(BinaryFn::Sub, x, x, 16), 16);
  EXPECT_GT(plain.range.hi, 2.6e43);
}

TEST(Softmax, UnknownStaysSafe) {
  EXPECT_TRUE(softmax(FloatFacts::top(), Extent::unknown(), true, std::nullopt).mayNaN);
}

/// The facts of elements that lie in rows of this length.
FloatFacts scan(llvm::ArrayRef<double> values, size_t length) {
  return scanElements(values.size() / length, length,
                      [&](int64_t row, llvm::MutableArrayRef<double> to) {
                        llvm::copy(values.slice(row * length, length), to.begin());
                      });
}

TEST(Constants, SpecialValues) {
  std::vector<double> values = {0.5, NAN, -kInf, 0};
  FloatFacts facts = scan(values, 2);
  EXPECT_TRUE(facts.mayNaN && facts.mayInf && !facts.nonZero && !facts.integerValued);
  EXPECT_EQ(facts.range, (Interval{-kInf, 0.5}));
  EXPECT_EQ(facts.norm2, kInf);
  EXPECT_TRUE(scan({}, 1).range.isEmpty());
  EXPECT_TRUE(scan({3.0, -1.0}, 2).integerValued);
  EXPECT_NEAR(scan({3.0, 4.0, 0.0, 1.0}, 2).norm2, 5, 1e-12);
}

TEST(Contraction, KnownAnswers) {
  // K = 8, [-2, 3] against the constant 0.5.
  ContractionOperand x{FloatFacts::finite({-2, 3})}, half{FloatFacts::constant(0.5)};
  EXPECT_EQ(contract(x, half, Extent::exactly(8), 4).range, (Interval{-8, 12}));
}

TEST(Contraction, HoldsForRandomMatrices) {
  Random random(95);
  for (int i = 0; i < 8000; ++i) {
    int64_t k = 1 + random.below(6), n = 1 + random.below(4);
    Group x = randomGroup(random, 1, k), w = randomGroup(random, k, n);
    std::vector<double> y(n);
    long double size = k * (1 + x.facts.mag() * w.facts.mag());
    for (int64_t j = 0; j < n; ++j) {
      long double sum = 0;
      for (int64_t t = 0; t < k; ++t)
        sum += static_cast<long double>(x.elements[t]) * w.elements[t * n + j];
      y[j] = static_cast<double>(sum);
    }
    // The columns of w are what x is contracted with.
    double columnNorm = 0;
    for (int64_t j = 0; j < n; ++j) {
      double squares = 0;
      for (int64_t t = 0; t < k; ++t)
        squares += w.elements[t * n + j] * w.elements[t * n + j];
      columnNorm = std::max(columnNorm, std::sqrt(squares) * (1 + 1e-14));
    }
    ContractionOperand xs{x.facts, contractedNorm(x.facts, Extent::exactly(k), true)};
    for (double norm : {columnNorm, contractedNorm(w.facts, Extent::exactly(k), false)}) {
      FloatFacts facts = contract(xs, {w.facts, norm}, Extent::exactly(k), n);
      facts.range = inflate(facts.range, static_cast<double>(size) * 1e-15);
      facts.norm2 += static_cast<double>(size) * 1e-14;
      std::string why;
      ASSERT_TRUE(admits(facts, y, &why)) << why << x.facts << w.facts << " k " << k << facts;
    }
  }
}

TEST(Contraction, InfinitiesMakeNaN) {
  FloatFacts x = FloatFacts::top();
  x.mayNaN = false;
  ContractionOperand a{x}, b{FloatFacts::finite({0, 1})};
  FloatFacts y = contract(a, b, Extent::exactly(3), 4);
  EXPECT_TRUE(y.mayNaN && y.mayInf);
  EXPECT_EQ(y.range, Interval::top());
}

} // namespace
