// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ApfloatOracle.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace mpcore::numerics;
using namespace mpcore::numerics::test;
using llvm::APFloat;
using llvm::APInt;

namespace {

const float inf = std::numeric_limits<float>::infinity();
const float nan32 = std::numeric_limits<float>::quiet_NaN();

uint64_t fromF32(float value, Format to, Rounding rounding, Overflow overflow,
                 uint64_t randomBits = 0) {
  return convert(llvm::bit_cast<uint32_t>(value), Format::F32, to, rounding, overflow, randomBits);
}

const std::pair<Rounding, APFloat::roundingMode> roundings[] = {
    {Rounding::RNE, APFloat::rmNearestTiesToEven}, {Rounding::RNA, APFloat::rmNearestTiesToAway},
    {Rounding::RZ, APFloat::rmTowardZero},         {Rounding::RU, APFloat::rmTowardPositive},
    {Rounding::RD, APFloat::rmTowardNegative},
};

using RoundingPair = std::pair<Rounding, APFloat::roundingMode>;

void compare(uint64_t bits, const FormatInfo &from, const FormatInfo &to,
             llvm::ArrayRef<RoundingPair> modes = roundings) {
  for (auto [rounding, mode] : modes) {
    Oracle ieee = apfloatConvert(bits, from, to, mode);
    for (Overflow overflow : {Overflow::IEEE, Overflow::Saturate}) {
      Oracle expected = overflow == Overflow::IEEE ? ieee : saturated(ieee, bits, from, to);
      if (!expected.applies)
        continue;
      uint64_t actual = convert(bits, from.format, to.format, rounding, overflow);
      if (expected.nan)
        ASSERT_TRUE(isNaN(actual, to.format)) << from.name.str() << " 0x" << std::hex << bits
                                              << " to " << to.name.str() << " gave 0x" << actual;
      else
        ASSERT_EQ(actual, expected.bits)
            << from.name.str() << " 0x" << std::hex << bits << " to " << to.name.str() << " "
            << toString(rounding).str() << " " << toString(overflow).str();
    }
  }
}

TEST(Cast, EverySmallPatternToEveryFormatLikeAPFloat) {
  for (Format from : allFormats())
    if (info(from).bits <= 8)
      for (Format to : allFormats())
        for (uint64_t bits = 0; bits < (uint64_t(1) << info(from).bits); ++bits)
          if (from != to) {
            compare(bits, info(from), info(to));
            if (HasFatalFailure())
              return;
          }
}

TEST(Cast, Every16BitPatternToEveryNarrowFormatLikeAPFloat) {
  for (Format from : {Format::BF16, Format::F16})
    for (Format to : allFormats())
      for (uint64_t bits = 0; bits < 65536; ++bits)
        if (from != to && info(to).bits <= 16) {
          compare(bits, info(from), info(to));
          if (HasFatalFailure())
            return;
        }
}

/// Patterns near every rounding boundary of `to`: midpoints and values of the
/// format, the source patterns beside them, and the overflow threshold.
std::vector<uint64_t> boundaryPatterns(Format from, Format to) {
  std::vector<uint64_t> patterns;
  const FormatInfo &target = info(to);
  auto around = [&](double value) {
    uint64_t bits = encode(value, from);
    for (int delta = -1; delta <= 1; ++delta) {
      uint64_t beside = bits == 0 && delta < 0 ? 0 : bits + delta;
      patterns.push_back(beside);
      patterns.push_back(beside ^ info(from).signBit);
    }
  };
  uint64_t last = std::min<uint64_t>(target.largest, 0x7FFF);
  for (uint64_t bits = 0; bits <= last; ++bits) {
    Unpacked value = unpack(bits, to);
    if (value.kind != ValueClass::Finite && value.kind != ValueClass::Zero)
      continue;
    double low = decode(bits, to);
    double ulp = std::ldexp(1.0, value.kind == ValueClass::Zero
                                     ? target.minExponent - int(target.fractionBits)
                                     : value.exponent);
    around(low);
    around(low + ulp / 2);
  }
  return patterns;
}

TEST(Cast, EveryRoundingBoundaryFromF32AndF64LikeAPFloat) {
  for (Format from : {Format::F32, Format::F64})
    for (Format to : allFormats()) {
      if (info(to).bits > 16)
        continue;
      for (uint64_t bits : boundaryPatterns(from, to)) {
        compare(bits, info(from), info(to));
        if (HasFatalFailure())
          return;
      }
    }
}

TEST(Cast, RandomF32AndF64PatternsLikeAPFloat) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random();
    for (Format from : {Format::F32, Format::F64, Format::TF32})
      for (Format to : allFormats())
        if (from != to) {
          uint64_t pattern = bits >> (64 - info(from).bits);
          compare(pattern, info(from), info(to));
          if (HasFatalFailure())
            return;
        }
  }
}

// The cast tables of ONNX's Cast operator: what saturate=1 and saturate=0 make
// of NaN, infinities and values out of range.
TEST(Cast, OnnxTables) {
  struct Row {
    Format format;
    uint64_t largest, nan, infinity; // infinity: what saturate=0 gives for it
  };
  const Row rows[] = {{Format::F8E4M3FN, 0x7E, 0x7F, 0x7F},
                      {Format::F8E4M3FNUZ, 0x7F, 0x80, 0x80},
                      {Format::F8E5M2, 0x7B, 0x7E, 0x7C},
                      {Format::F8E5M2FNUZ, 0x7F, 0x80, 0x80}};
  for (const Row &row : rows) {
    SCOPED_TRACE(info(row.format).name.str());
    auto cast = [&](float value, Overflow overflow) {
      return fromF32(value, row.format, Rounding::RNE, overflow);
    };
    float large = 2 * float(info(row.format).maxFinite);
    uint64_t negative = row.largest | 0x80;
    for (float value : {inf, large}) {
      EXPECT_EQ(cast(value, Overflow::Saturate), row.largest);
      EXPECT_EQ(cast(-value, Overflow::Saturate), negative);
      EXPECT_EQ(cast(value, Overflow::IEEE), row.infinity);
      EXPECT_EQ(cast(-value, Overflow::IEEE), row.infinity | 0x80);
    }
    EXPECT_EQ(cast(nan32, Overflow::Saturate), row.nan);
    EXPECT_EQ(cast(nan32, Overflow::IEEE), row.nan);
    uint64_t minusZero = info(row.format).hasNegativeZero ? 0x80 : 0;
    EXPECT_EQ(cast(-0.0f, Overflow::IEEE), minusZero);
  }
}

TEST(Cast, NaNKeepsSignAndLeadingPayloadBetweenIEEEFormats) {
  // Same bits as APFloat, quieting included.
  const Format ieee[] = {Format::F64, Format::F32,    Format::TF32,   Format::BF16,
                         Format::F16, Format::F8E5M2, Format::F8E4M3, Format::F8E3M4};
  std::mt19937_64 random(2);
  for (Format from : ieee)
    for (Format to : ieee) {
      if (from == to)
        continue;
      const FormatInfo &f = info(from);
      for (int i = 0; i < 1000; ++i) {
        uint64_t bits = f.infinity | (random() & (f.infinity ^ (f.signBit - 1)));
        bits |= random() & f.signBit;
        if (!isNaN(bits, from))
          continue;
        APFloat value(*f.semantics, APInt(f.bits, bits));
        bool losesInfo;
        value.convert(*info(to).semantics, APFloat::rmNearestTiesToEven, &losesInfo);
        ASSERT_EQ(convert(bits, from, to), value.bitcastToAPInt().getZExtValue())
            << f.name.str() << " 0x" << std::hex << bits << " to " << info(to).name.str();
      }
    }
}

TEST(Cast, NaNOfFormatsWithOnePattern) {
  EXPECT_EQ(convert(0x7F, Format::F8E4M3FN, Format::F32), 0x7FC00000u);
  EXPECT_EQ(convert(0xFF, Format::F8E4M3FN, Format::F32), 0xFFC00000u);
  EXPECT_EQ(convert(0x80, Format::F8E4M3FNUZ, Format::F32), 0x7FC00000u);
  EXPECT_EQ(convert(0xFF, Format::F8E8M0FNU, Format::F32), 0x7FC00000u);
  EXPECT_EQ(convert(0xFFC00000, Format::F32, Format::F8E4M3FN), 0xFFu);
  EXPECT_EQ(convert(0xFFC00000, Format::F32, Format::F8E5M2FNUZ), 0x80u);
  EXPECT_EQ(convert(0xFFC00000, Format::F32, Format::F8E8M0FNU), 0xFFu);
}

// The CUDA 13 header encoders (training-numerics 4.2, ONNX's cast tables agree
// where both have a row). First byte saturating, second not.
struct KnownByte {
  Format format;
  float value;
  uint64_t saturated, ieee;
};
const KnownByte knownBytes[] = {
    {Format::F8E4M3FN, 448, 0x7E, 0x7E},
    {Format::F8E4M3FN, 464, 0x7E, 0x7E},
    {Format::F8E4M3FN, 464.01f, 0x7E, 0x7F},
    {Format::F8E4M3FN, 480, 0x7E, 0x7F},
    {Format::F8E4M3FN, inf, 0x7E, 0x7F},
    {Format::F8E4M3FN, -inf, 0xFE, 0xFF},
    {Format::F8E4M3FN, nan32, 0x7F, 0x7F},
    {Format::F8E4M3FN, 0x1p-9f, 0x01, 0x01},
    {Format::F8E4M3FN, 0x1p-10f, 0x00, 0x00},
    {Format::F8E4M3FN, 0x1.000002p-10f, 0x01, 0x01},
    {Format::F8E4M3FN, 0.0029296875f, 0x02, 0x02},
    {Format::F8E4M3FN, 0.0146484375f, 0x08, 0x08},
    {Format::F8E4M3FN, 1.0625f, 0x38, 0x38},
    {Format::F8E4M3FN, 1.1875f, 0x3A, 0x3A},
    {Format::F8E4M3FN, 17, 0x58, 0x58},
    {Format::F8E4M3FN, 19, 0x5A, 0x5A},
    {Format::F8E5M2, 57344, 0x7B, 0x7B},
    {Format::F8E5M2, 61439, 0x7B, 0x7B},
    {Format::F8E5M2, 61440, 0x7B, 0x7C},
    {Format::F8E5M2, inf, 0x7B, 0x7C},
    {Format::F8E5M2, 0x1p-16f, 0x01, 0x01},
    {Format::F8E5M2, 0x1p-17f, 0x00, 0x00},
    {Format::F4E2M1FN, 0.25f, 0x0, 0x0},
    {Format::F4E2M1FN, 0.75f, 0x2, 0x2},
    {Format::F4E2M1FN, 1.25f, 0x2, 0x2},
    {Format::F4E2M1FN, 1.75f, 0x4, 0x4},
    {Format::F4E2M1FN, 2.5f, 0x4, 0x4},
    {Format::F4E2M1FN, 3.5f, 0x6, 0x6},
    {Format::F4E2M1FN, 5, 0x6, 0x6},
    {Format::F4E2M1FN, 5.01f, 0x7, 0x7},
    {Format::F4E2M1FN, 100, 0x7, 0x7},
    {Format::F4E2M1FN, -100, 0xF, 0xF},
    {Format::F4E2M1FN, inf, 0x7, 0x7},
    {Format::F4E2M1FN, nan32, 0x7, 0x7},
    {Format::F4E2M1FN, -0.0f, 0x8, 0x8},
    {Format::F6E2M3FN, 7.75f, 0x1F, 0x1F},
    {Format::F6E2M3FN, nan32, 0x1F, 0x1F},
    {Format::F6E2M3FN, 0.0625f, 0x00, 0x00},
    {Format::F6E2M3FN, 0.0626f, 0x01, 0x01},
    {Format::F6E3M2FN, 30, 0x1F, 0x1F},
    {Format::F6E3M2FN, 28, 0x1F, 0x1F},
    {Format::F6E3M2FN, 7.5f, 0x18, 0x18},
    {Format::F6E3M2FN, nan32, 0x1F, 0x1F},
    {Format::F6E3M2FN, .03125f, 0x00, 0x00},
    {Format::F6E3M2FN, .0313f, 0x01, 0x01},
};

TEST(Cast, BytesOfTheCudaHeaders) {
  for (const KnownByte &k : knownBytes) {
    SCOPED_TRACE(info(k.format).name.str() + " of " + std::to_string(k.value));
    EXPECT_EQ(fromF32(k.value, k.format, Rounding::RNE, Overflow::Saturate), k.saturated);
    EXPECT_EQ(fromF32(k.value, k.format, Rounding::RNE, Overflow::IEEE), k.ieee);
  }
}

TEST(Cast, E8M0RoundsUpOrDownAsTheCudaHeaders) {
  struct {
    float value;
    uint64_t up, down;
  } rows[] = {{1, 0x7F, 0x7F},        {1.0000001f, 0x80, 0x7F},
              {1.5f, 0x80, 0x7F},     {3, 0x81, 0x80},
              {.75f, 0x7F, 0x7E},     {5.9e-39f, 0x01, 0x00},
              {1.2e-38f, 0x02, 0x01}, {1.8e38f, 0xFE, 0xFE},
              {inf, 0xFE, 0xFE},      {0, 0, 0},
              {-3, 0x81, 0x80},       {nan32, 0xFF, 0xFF}};
  for (auto &row : rows) {
    SCOPED_TRACE(row.value);
    EXPECT_EQ(fromF32(row.value, Format::F8E8M0FNU, Rounding::RU, Overflow::Saturate), row.up);
    EXPECT_EQ(fromF32(row.value, Format::F8E8M0FNU, Rounding::RZ, Overflow::Saturate), row.down);
  }
  EXPECT_EQ(fromF32(1.8e38f, Format::F8E8M0FNU, Rounding::RU, Overflow::IEEE), 0xFFu);
  EXPECT_EQ(fromF32(inf, Format::F8E8M0FNU, Rounding::RU, Overflow::IEEE), 0xFFu);
}

TEST(Cast, StochasticFormsOnKnownDraws) {
  struct {
    uint32_t value, random, compare, add;
  } rows[] = {{0x3F808000, 0x7FFF, 0x3F81, 0x3F80}, {0x3F808000, 0x8000, 0x3F80, 0x3F81},
              {0x3F800001, 0, 0x3F81, 0x3F80},      {0x3F800001, 1, 0x3F80, 0x3F80},
              {0xBF80C000, 0xBFFF, 0xBF81, 0xBF81}, {0xBF80C000, 0xC000, 0xBF80, 0xBF81}};
  for (auto &row : rows) {
    EXPECT_EQ(convert(row.value, Format::F32, Format::BF16, Rounding::SRCompare, Overflow::IEEE,
                      row.random),
              row.compare);
    EXPECT_EQ(
        convert(row.value, Format::F32, Format::BF16, Rounding::SR, Overflow::IEEE, row.random),
        row.add);
  }
}

TEST(Cast, StochasticMeansAreTheValue) {
  std::mt19937_64 random(3);
  const int draws = 20000;
  // A normal result, a subnormal one, and one below the smallest subnormal.
  for (auto [value, format] :
       {std::pair{1.3f, Format::F8E4M3FN}, std::pair{0x1.4p-7f, Format::F8E4M3FN},
        std::pair{-0x1p-11f, Format::F8E4M3FN}, std::pair{-3.14159f, Format::BF16}}) {
    for (Rounding rounding : {Rounding::SR, Rounding::SRCompare}) {
      double sum = 0, sumOfSquares = 0;
      for (int i = 0; i < draws; ++i) {
        double drawn = decode(fromF32(value, format, rounding, Overflow::IEEE, random()), format);
        sum += drawn;
        sumOfSquares += drawn * drawn;
      }
      double mean = sum / draws;
      double sigma = std::sqrt(std::max(0.0, sumOfSquares / draws - mean * mean) / draws);
      EXPECT_NEAR(mean, double(value), 4 * sigma + 1e-12)
          << toString(rounding).str() << " " << info(format).name.str();
    }
  }
}

// Every draw of the 16 discarded bits: exactly `discarded` of 2^16 round up.
TEST(Cast, StochasticProbabilityIsExact) {
  for (uint32_t discarded : {0u, 1u, 0x4000u, 0x8000u, 0xFFFFu})
    for (Rounding rounding : {Rounding::SR, Rounding::SRCompare}) {
      unsigned up = 0;
      for (uint64_t draw = 0; draw < 65536; ++draw)
        up += convert(0x3F800000u | discarded, Format::F32, Format::BF16, rounding, Overflow::IEEE,
                      draw) == 0x3F81;
      EXPECT_EQ(up, discarded);
    }
}

TEST(Cast, EncodeDecodeIsIdentityOnEveryPattern) {
  for (Format format : allFormats()) {
    const FormatInfo &f = info(format);
    if (f.bits > 19)
      continue;
    for (uint64_t bits = 0; bits < (uint64_t(1) << f.bits); ++bits)
      if (!isNaN(bits, format)) {
        ASSERT_EQ(encode(decode(bits, format), format), bits) << f.name.str();
      }
  }
}

TEST(Cast, SameFormatChangesNothing) {
  EXPECT_EQ(convert(0x7F800001, Format::F32, Format::F32), 0x7F800001u);
}

TEST(Cast, RoundToGivesValuesOfTheFormat) {
  EXPECT_EQ(roundTo(1.0f + 0x1p-9f, Format::BF16), 1.0f);
  EXPECT_EQ(roundTo(1.0f + 0x1.8p-8f, Format::BF16), 1.0f + 0x1p-7f);
  EXPECT_EQ(roundTo(1e6f, Format::F16), inf);
  EXPECT_EQ(roundTo(1e6f, Format::F16, Rounding::RNE, Overflow::Saturate), 65504.0f);
}

TEST(Cast, HoldsEveryValueOf) {
  EXPECT_TRUE(holdsEveryValueOf(Format::F64, Format::F32));
  EXPECT_TRUE(holdsEveryValueOf(Format::F32, Format::TF32));
  EXPECT_TRUE(holdsEveryValueOf(Format::F32, Format::BF16));
  EXPECT_TRUE(holdsEveryValueOf(Format::TF32, Format::F16));
  EXPECT_TRUE(holdsEveryValueOf(Format::F16, Format::F8E4M3FN));
  EXPECT_TRUE(holdsEveryValueOf(Format::F16, Format::F8E5M2));
  EXPECT_TRUE(holdsEveryValueOf(Format::BF16, Format::F8E8M0FNU));
  EXPECT_TRUE(holdsEveryValueOf(Format::F6E2M3FN, Format::F4E2M1FN));
  EXPECT_TRUE(holdsEveryValueOf(Format::F16, Format::F16));
  EXPECT_FALSE(holdsEveryValueOf(Format::F32, Format::F64));
  EXPECT_FALSE(holdsEveryValueOf(Format::BF16, Format::F16));
  EXPECT_FALSE(holdsEveryValueOf(Format::F16, Format::BF16));
  // -0 and infinity have no counterpart, whatever the exponent bounds say.
  EXPECT_FALSE(holdsEveryValueOf(Format::F8E5M2FNUZ, Format::F8E5M2));
  EXPECT_FALSE(holdsEveryValueOf(Format::F8E4M3FN, Format::F8E4M3));
  EXPECT_FALSE(holdsEveryValueOf(Format::F8E4M3FNUZ, Format::F4E2M1FN));
  EXPECT_FALSE(holdsEveryValueOf(Format::F16, Format::F8E8M0FNU));
}

TEST(Cast, SpellingsRoundTrip) {
  for (Rounding r : {Rounding::RNE, Rounding::RNA, Rounding::RZ, Rounding::RU, Rounding::RD,
                     Rounding::SR, Rounding::SRCompare})
    EXPECT_EQ(parseRounding(toString(r)), r);
  EXPECT_FALSE(parseRounding("nearest"));
}

} // namespace
