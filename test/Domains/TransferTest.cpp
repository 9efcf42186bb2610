// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise transfer functions, shape changes and casts: random facts, random rows that they
// admit (NaN, infinities and negative zeros included), the operation on the elements, and the
// result's facts must admit the result.

#include "TestUtils.h"

#include "mp/Domains/Transfer.h"

#include "gtest/gtest.h"

using namespace mpcore::domains;
using mpcore::numerics::Format;
using mpcore::numerics::Overflow;
using mpcore::numerics::Rounding;

namespace {

constexpr int64_t kRow = 5;

struct Sample {
  FloatFacts facts;
  std::vector<double> row;
};

/// A row first, then facts that hold for it and leave some room.
Sample randomSample(Random &random, int maxExponent = 6) {
  Sample sample;
  Interval range = random.interval(-6, maxExponent);
  bool integers = random.below(4) == 0;
  if (integers)
    range = {std::floor(range.lo), std::ceil(range.hi)};
  FloatFacts facts = FloatFacts::finite(range);
  facts.integerValued = integers;
  bool nonZero = random.below(4) == 0;
  for (int64_t i = 0; i < kRow; ++i) {
    double x = random.member(range);
    if (integers)
      x = std::trunc(x);
    if (x == 0 && nonZero)
      x = range.hi != 0 ? range.hi : range.lo;
    if (x == 0 && random.flip())
      x = -0.0;
    nonZero &= x != 0;
    sample.row.push_back(x);
  }
  facts.nonZero = nonZero;
  if (random.below(8) == 0) {
    facts.mayNaN = true;
    sample.row[random.below(kRow)] = NAN;
  }
  if (random.below(8) == 0) {
    facts.mayInf = true;
    bool negative = random.flip();
    (negative ? facts.range.lo : facts.range.hi) = negative ? -kInf : kInf;
    sample.row[random.below(kRow)] = negative ? -kInf : kInf;
  }
  if (!facts.mayInf && random.flip()) {
    double squares = 0;
    for (double x : sample.row)
      squares += std::isnan(x) ? 0 : x * x;
    facts.norm2 = std::sqrt(squares) * (1 + 1e-14) + 1e-300;
  }
  facts.normalize();
  facts.reduce(kRow);
  sample.facts = facts;
  return sample;
}

#define ASSERT_ADMITS(facts, row, ...)                                                             \
  do {                                                                                             \
    std::string why;                                                                               \
    ASSERT_TRUE(admits(facts, row, &why))                                                          \
        << why << ": " << facts << " for " << __VA_ARGS__ << testing::PrintToString(row);          \
  } while (false)

TEST(Transfer, SamplesAreAdmitted) {
  Random random(10);
  for (int i = 0; i < 20000; ++i) {
    Sample sample = randomSample(random);
    ASSERT_ADMITS(sample.facts, sample.row, "");
  }
}

/// Evaluates as the hardware does, with IEEE specials; the facts are about exact results, so tests
/// allow one last place by rounding the facts to f64 with some room.
FloatFacts withRoom(FloatFacts facts) {
  auto room = [](double x) { return std::isfinite(x) ? std::fabs(x) * 1e-13 + 1e-300 : 0; };
  facts.range.hi += room(facts.range.hi);
  facts.range.lo -= room(facts.range.lo);
  facts.norm2 += room(facts.norm2);
  return facts;
}

TEST(Transfer, Unary) {
  for (unsigned f = 0; f < kNumUnaryFns; ++f) {
    auto fn = static_cast<UnaryFn>(f);
    Random random(1000 + f);
    for (int i = 0; i < 20000; ++i) {
      Sample x = randomSample(random);
      FloatFacts result = unary(fn, x.facts, kRow);
      std::vector<double> row;
      for (double value : x.row) {
        double y = evaluate(fn, value);
        if (std::isnan(value) && (fn == UnaryFn::Relu || fn == UnaryFn::Sign))
          y = value; // arith.maximumf keeps NaN, std::max does not
        if (y == 0 && std::isfinite(value) && std::fabs(value) > 20 && fn != UnaryFn::Relu)
          y = std::copysign(5e-324, y); // erfc's tail underflows in double only
        row.push_back(y);
      }
      ASSERT_ADMITS(withRoom(result), row,
                    getName(fn).str() << x.facts << testing::PrintToString(x.row));
    }
  }
}

double apply(BinaryFn fn, double x, double y) {
  switch (fn) {
  case BinaryFn::Add: return x + y;
  case BinaryFn::Sub: return x - y;
  case BinaryFn::Mul: return x * y;
  case BinaryFn::Div: return x / y;
  case BinaryFn::Rem: return std::fmod(x, y);
  case BinaryFn::Pow: return std::pow(x, y);
  case BinaryFn::Atan2: return std::atan2(x, y);
  case BinaryFn::CopySign: return std::copysign(x, y);
  case BinaryFn::Maximum: return std::isnan(x) || std::isnan(y) ? NAN : std::fmax(x, y);
  case BinaryFn::Minimum: return std::isnan(x) || std::isnan(y) ? NAN : std::fmin(x, y);
  case BinaryFn::MaxNum: return std::fmax(x, y);
  case BinaryFn::MinNum: return std::fmin(x, y);
  }
  return NAN;
}

TEST(Transfer, Binary) {
  for (unsigned f = 0; f < kNumBinaryFns; ++f) {
    auto fn = static_cast<BinaryFn>(f);
    Random random(2000 + f);
    for (int i = 0; i < 25000; ++i) {
      Sample x = randomSample(random), y = randomSample(random, fn == BinaryFn::Pow ? 3 : 6);
      FloatFacts result = binary(fn, x.facts, y.facts, kRow);
      std::vector<double> row;
      for (int64_t k = 0; k < kRow; ++k)
        row.push_back(apply(fn, x.row[k], y.row[k]));
      ASSERT_ADMITS(withRoom(result), row,
                    getName(fn).str()
                        << '(' << x.facts << ", " << y.facts << ") of "
                        << testing::PrintToString(x.row) << testing::PrintToString(y.row));
    }
  }
}

TEST(Transfer, FmaPowSelectClamp) {
  Random random(30);
  for (int i = 0; i < 20000; ++i) {
    Sample x = randomSample(random), y = randomSample(random), z = randomSample(random);
    int exponent = static_cast<int>(random.below(9)) - 4;
    double lo = random.number(-3, 3), hi = lo + std::fabs(random.number(-3, 3));
    bool dropsNaN = random.flip();
    std::vector<double> fmaRow, powRow, selectRow, clampRow;
    for (int64_t k = 0; k < kRow; ++k) {
      fmaRow.push_back(std::fma(x.row[k], y.row[k], z.row[k]));
      powRow.push_back(std::pow(x.row[k], exponent));
      selectRow.push_back(random.flip() ? x.row[k] : y.row[k]);
      double clamped = std::fmin(std::fmax(x.row[k], lo), hi);
      clampRow.push_back(std::isnan(x.row[k]) && !dropsNaN ? NAN : clamped);
    }
    ASSERT_ADMITS(withRoom(fma(x.facts, y.facts, z.facts, kRow)), fmaRow, x.facts << y.facts);
    ASSERT_ADMITS(withRoom(powInteger(x.facts, exponent, kRow)), powRow, x.facts << exponent);
    ASSERT_ADMITS(withRoom(select(x.facts, y.facts, kRow)), selectRow, x.facts << y.facts);
    ASSERT_ADMITS(withRoom(clamp(x.facts, lo, hi, dropsNaN, kRow)), clampRow, x.facts);
  }
}

TEST(Transfer, BottomStaysBottom) {
  FloatFacts bottom = FloatFacts::bottom(), x = FloatFacts::finite({0, 1});
  EXPECT_TRUE(unary(UnaryFn::Exp, bottom, 4).isBottom());
  EXPECT_TRUE(binary(BinaryFn::Add, bottom, x, 4).isBottom());
  EXPECT_TRUE(binary(BinaryFn::Mul, x, bottom, 4).isBottom());
  EXPECT_TRUE(fma(x, x, bottom, 4).isBottom());
  EXPECT_TRUE(roundTo(bottom, Format::F16, 4).isBottom());
}

TEST(Transfer, TopGivesNothingAway) {
  for (unsigned f = 0; f < kNumBinaryFns; ++f) {
    FloatFacts result = binary(static_cast<BinaryFn>(f), FloatFacts::top(), FloatFacts::top(), 4);
    EXPECT_TRUE(result.mayNaN) << f;
  }
  EXPECT_TRUE(unary(UnaryFn::Exp, FloatFacts::top(), 4).mayInf);
}

TEST(Transfer, ProvenanceIsTheWeakest) {
  FloatFacts proved = FloatFacts::finite({0, 1});
  FloatFacts assumed = FloatFacts::finite({0, 1}, Provenance::Assumed);
  FloatFacts sampled = FloatFacts::finite({0, 1}, Provenance::Sampled);
  EXPECT_EQ(binary(BinaryFn::Add, proved, assumed, 1).provenance, Provenance::Assumed);
  EXPECT_EQ(fma(proved, sampled, assumed, 1).provenance, Provenance::Sampled);
  EXPECT_EQ(unary(UnaryFn::Exp, assumed, 1).provenance, Provenance::Assumed);
}

TEST(Transfer, KnownAnswerReluSquared) {
  FloatFacts x = FloatFacts::finite({-8, 12});
  FloatFacts relu = unary(UnaryFn::Relu, x, 4);
  EXPECT_EQ(binary(BinaryFn::Mul, relu, relu, 4).range, (Interval{0, 144}));
}

TEST(Shape, RowsAreBounded) {
  Random random(40);
  for (int i = 0; i < 20000; ++i) {
    Sample x = randomSample(random);
    std::vector<double> part(x.row.begin(), x.row.begin() + 3);
    ASSERT_ADMITS(partOfRows(x.facts, 3), part, x.facts);
    // Two rows admitted by the same facts, one after the other.
    std::vector<double> twice = x.row;
    twice.insert(twice.end(), x.row.begin(), x.row.end());
    ASSERT_ADMITS(withRoom(mergeRows(x.facts, 2, 2 * kRow)), twice, x.facts);
    ASSERT_ADMITS(withRoom(reshapeRows(x.facts, 2 * kRow)), twice, x.facts);
  }
}

TEST(Shape, PerturbedRowsAreBounded) {
  Random random(45);
  for (int i = 0; i < 20000; ++i) {
    Sample x = randomSample(random);
    double radius = std::fabs(random.number(-8, 2));
    std::vector<double> moved = x.row;
    for (double &value : moved)
      value += random.uniform(-radius, radius);
    ASSERT_ADMITS(withRoom(perturb(x.facts, radius, kRow)), moved, x.facts << radius);
  }
}

TEST(Cast, EveryPointOfEveryFormat) {
  Rounding roundings[] = {Rounding::RNE, Rounding::RNA, Rounding::RZ,
                          Rounding::RU,  Rounding::RD,  Rounding::SR};
  for (Format format : mpcore::numerics::allFormats()) {
    Random random(50 + static_cast<unsigned>(format));
    for (int i = 0; i < 20000; ++i) {
      Sample x = randomSample(random, random.flip() ? 6 : 18);
      Rounding rounding = roundings[random.below(6)];
      Overflow overflow = random.flip() ? Overflow::IEEE : Overflow::Saturate;
      CastEffects effects;
      FloatFacts result = castTo(x.facts, format, overflow, rounding, kRow, &effects);
      std::vector<double> row;
      for (double value : x.row) {
        double rounded = mpcore::numerics::decode(
            mpcore::numerics::encode(value, format, rounding, overflow, random.bits()), format);
        row.push_back(rounded);
        bool hasSign = mpcore::numerics::info(format).hasSign;
        if (std::isfinite(value) && hasSign) {
          if (!std::isfinite(rounded)) {
            ASSERT_TRUE(effects.mayOverflow) << value << x.facts;
          }
          if (value != 0 && rounded == 0) {
            ASSERT_TRUE(effects.mayFlushToZero) << value << x.facts;
          }
          if (rounded != 0 && std::fabs(rounded) < mpcore::numerics::info(format).minNormal) {
            ASSERT_TRUE(effects.mayBeSubnormal) << value << x.facts;
          }
        }
      }
      ASSERT_ADMITS(withRoom(result), row,
                    mpcore::numerics::toString(format).str()
                        << ' ' << mpcore::numerics::toString(rounding).str() << ' ' << x.facts
                        << testing::PrintToString(x.row));
    }
  }
}

/// Overflow of one constant stored in a format.
bool overflows(double value, Format format) {
  CastEffects effects;
  castTo(FloatFacts::constant(value), format, Overflow::IEEE, Rounding::RNE, 1, &effects);
  return effects.mayOverflow;
}

TEST(Cast, ThresholdsOfTheFormats) {
  // Known answers of the format table: f16 65520, bf16 3.3962e38, f8E5M2 61440, f8E4M3FN above 464.
  EXPECT_EQ(overflowThreshold(Format::F16), std::make_pair(65520.0, true));
  EXPECT_EQ(overflowThreshold(Format::F8E5M2), std::make_pair(61440.0, true));
  EXPECT_EQ(overflowThreshold(Format::F8E4M3FN), std::make_pair(464.0, false));
  EXPECT_NEAR(overflowThreshold(Format::BF16).first, 3.3962e38, 1e34);
  EXPECT_TRUE(overflows(3.3990e38, Format::BF16));
  FloatFacts big = roundTo(FloatFacts::constant(3.3990e38), Format::BF16, 1);
  EXPECT_TRUE(big.mayInf);
  EXPECT_FALSE(overflows(460, Format::F8E4M3FN));
  EXPECT_EQ(roundTo(FloatFacts::constant(460), Format::F8E4M3FN, 1).range, Interval::point(448));
  EXPECT_TRUE(overflows(470, Format::F8E4M3FN));
  EXPECT_TRUE(roundTo(FloatFacts::constant(470), Format::F8E4M3FN, 1).mayNaN);
}

TEST(Cast, ExpInF16) {
  for (auto [argument, expected] : {std::make_pair(11.08, false), std::make_pair(11.10, true)}) {
    CastEffects effects;
    FloatFacts e = unary(UnaryFn::Exp, FloatFacts::constant(argument), 1);
    castTo(e, Format::F16, Overflow::IEEE, Rounding::RNE, 1, &effects);
    EXPECT_EQ(effects.mayOverflow, expected) << argument;
  }
}

TEST(Cast, SubnormalsMayBeZero) {
  constexpr double normal = 0x1p-126;
  FloatFacts tiny = flushSubnormals(FloatFacts::finite({1e-42, 1}, {}), Format::F32);
  EXPECT_EQ(tiny.range, (Interval{0, 1}));
  EXPECT_TRUE(tiny.mayBeZero());
  EXPECT_EQ(flushSubnormals(FloatFacts::finite({-1, -1e-42}, {}), Format::F32).range,
            (Interval{-1, 0}));
  FloatFacts kept = flushSubnormals(FloatFacts::finite({normal, 1}, {}), Format::F32);
  EXPECT_EQ(kept.range, (Interval{normal, 1}));
  EXPECT_FALSE(kept.mayBeZero());
  // The smallest normal number of f16 is 2^-14; integers are 0 or at least 1.
  EXPECT_TRUE(flushSubnormals(FloatFacts::finite({1e-5, 1}, {}), Format::F16).mayBeZero());
  EXPECT_FALSE(flushSubnormals(FloatFacts::fromInteger(1, 3), Format::F16).mayBeZero());
}

TEST(Cast, RoundingKeepsRoundNumbers) {
  FloatFacts third = binary(BinaryFn::Div, FloatFacts::finite({1, 3}), FloatFacts::constant(3), 1);
  FloatFacts stored = roundTo(third, Format::F32, 1);
  EXPECT_EQ(stored.range.lo, static_cast<double>(1.0f / 3.0f));
  EXPECT_EQ(stored.range.hi, 1);
}

} // namespace
