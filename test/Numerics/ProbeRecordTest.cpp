// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits of formats beside what casts do there, and what follows from counts.

#include "mp/Numerics/ProbeRecord.h"

#include "mp/Numerics/Cast.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>

using namespace mpcore::numerics;

namespace {
/// Says what a cast makes of a finite value, by the result.
enum class Fate { Overflows, Flushes, Subnormal, Normal, Zero };

Fate fateByCast(float x, Format format) {
  if (x == 0)
    return Fate::Zero;
  const FormatInfo &facts = info(format);
  const double y = decode(encode(x, format), format);
  const bool clips = !facts.hasInf && !facts.hasNaN;
  if (!std::isfinite(y) || (clips && std::fabs(double(x)) > facts.maxFinite))
    return Fate::Overflows;
  if (y == 0)
    return Fate::Flushes;
  return std::fabs(y) < facts.minNormal ? Fate::Subnormal : Fate::Normal;
}

Fate fateByLimits(float x, const RangeLimits &limits) {
  const float size = std::fabs(x);
  if (size >= limits.overflowFrom)
    return Fate::Overflows;
  if (size == 0)
    return Fate::Zero;
  if (size <= limits.flushedUpTo)
    return Fate::Flushes;
  return size < limits.subnormalBelow ? Fate::Subnormal : Fate::Normal;
}
} // namespace

TEST(ProbeRecord, LimitsAreWhereCastsChange) {
  for (Format format : allFormats()) {
    if (!canBeProbed(format))
      continue;
    const RangeLimits limits = rangeLimits(format);
    // Every bf16 value, and the neighbours of each limit.
    for (uint32_t high = 0; high < 0x7f80; ++high) {
      const float x = std::bit_cast<float>(high << 16);
      ASSERT_EQ(fateByCast(x, format), fateByLimits(x, limits))
          << toString(format).str() << " " << x;
    }
    for (float limit : {limits.overflowFrom, limits.flushedUpTo, limits.subnormalBelow})
      for (int32_t off = -2; off <= 2; ++off)
        for (float sign : {1.0f, -1.0f}) {
          const float x = sign * std::bit_cast<float>(std::bit_cast<int32_t>(limit) + off);
          EXPECT_EQ(fateByCast(x, format), fateByLimits(x, limits))
              << toString(format).str() << " " << x;
        }
  }
}

TEST(ProbeRecord, LimitsAreThoseOfTheFormatsThatAreKnown) {
  EXPECT_EQ(rangeLimits(Format::F16).overflowFrom, 65520.0f);
  EXPECT_EQ(rangeLimits(Format::F16).flushedUpTo, 0x1p-25f);
  EXPECT_EQ(rangeLimits(Format::F16).subnormalBelow, 0x1p-14f * (1 - 0x1p-11f));
  EXPECT_EQ(rangeLimits(Format::F8E5M2).overflowFrom, 61440.0f);
  EXPECT_EQ(rangeLimits(Format::F8E4M3FN).overflowFrom, std::nextafter(464.0f, 500.0f));
  EXPECT_EQ(rangeLimits(Format::F8E4M3FN).flushedUpTo, 0x1p-10f);
  EXPECT_EQ(rangeLimits(Format::F4E2M1FN).flushedUpTo, 0.25f);
  EXPECT_FALSE(canBeProbed(Format::F32));
  EXPECT_FALSE(canBeProbed(Format::F8E8M0FNU));
}

TEST(ProbeRecord, SharesAreOfWhatCouldHaveBeenLost) {
  std::vector<double> row(probeRecordSize(1, false), 0);
  row[unsigned(ProbeColumn::Elements)] = 10;
  row[unsigned(ProbeColumn::NaNs)] = 1;
  row[unsigned(ProbeColumn::Infinities)] = 1;
  row[unsigned(ProbeColumn::Zeros)] = 4;
  row[unsigned(ProbeColumn::Mean)] = 3;
  row[unsigned(ProbeColumn::SquaredDeviations)] = 28;
  row[kProbeColumns] = 2;
  row[kProbeColumns + 1] = 1;
  row[kProbeColumns + 2] = 3;
  const ProbeRecord record{row};
  EXPECT_EQ(record.finite(), 8);
  EXPECT_EQ(record.overflowing(0), 2.0 / 8);
  EXPECT_EQ(record.flushed(0), 1.0 / 4);
  EXPECT_EQ(record.subnormal(0), 3.0 / 4);
  EXPECT_EQ(record.deviation(), std::sqrt(28.0 / 8));
  EXPECT_EQ(record.norm(), std::sqrt(28.0 + 8 * 9));
}
