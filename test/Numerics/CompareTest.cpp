// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/Compare.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mpcore::numerics;

namespace {

const double inf = std::numeric_limits<double>::infinity();
const double nan64 = std::numeric_limits<double>::quiet_NaN();

TEST(Compare, UlpDistanceCountsSteps) {
  EXPECT_EQ(ulpDistance(0x3F80, 0x3F83, Format::BF16), 3u);
  EXPECT_EQ(ulpDistance(0x0000, 0x8000, Format::BF16), 0u);
  EXPECT_EQ(ulpDistance(0x0001, 0x8001, Format::BF16), 2u);
  EXPECT_EQ(ulpDistance(0x7F7F, 0x7F80, Format::BF16), 1u);
  EXPECT_EQ(ulpDistance(0x7FC0, 0xFFC1, Format::BF16), 0u);
  EXPECT_EQ(ulpDistance(0x7FC0, 0x3F80, Format::BF16), UINT64_MAX);
  EXPECT_EQ(ulpDistance(0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, Format::F64), 0xFFDFFFFFFFFFFFFEu);
  EXPECT_EQ(ulpDistance(0x00, 0x7F, Format::F8E4M3FNUZ), 127u);
}

TEST(Compare, UlpOfFollowsTheExponent) {
  EXPECT_EQ(ulpOf(1.0, Format::F32), 0x1p-23);
  EXPECT_EQ(ulpOf(-1.99, Format::F32), 0x1p-23);
  EXPECT_EQ(ulpOf(2.0, Format::F8E4M3FN), 0.25);
  EXPECT_EQ(ulpOf(0.0, Format::F16), 0x1p-24);
  EXPECT_EQ(ulpOf(1e-30, Format::F16), 0x1p-24);
  EXPECT_EQ(ulpOf(1e30, Format::F16), 32.0);
}

TEST(Compare, MaximaAndCounts) {
  Comparison c(Format::F32);
  c.add(1.0, 1.0);
  c.add(1.0 + 0x1p-22, 1.0);
  c.add(-8.5, -8.0);
  c.add(0.25, 0.0);
  EXPECT_EQ(c.count, 4u);
  EXPECT_EQ(c.different, 3u);
  EXPECT_EQ(c.nonZeroForZero, 1u);
  EXPECT_EQ(c.maxAbsolute, 0.5);
  EXPECT_EQ(c.maxRelative, 0.0625);
  EXPECT_EQ(c.worstIndex, 3u); // 0.25 is 2^147 steps above 0
  EXPECT_EQ(c.maxUlp, 0x1p147);
  EXPECT_FALSE(c.equal());
}

TEST(Compare, NonFiniteMismatchesAreTheWorst) {
  Comparison c;
  c.add(nan64, nan64);
  c.add(inf, inf);
  EXPECT_TRUE(c.equal());
  c.add(inf, -inf);
  c.add(1.0, nan64);
  c.add(2.0, 1.0);
  EXPECT_EQ(c.nonFiniteMismatches, 2u);
  EXPECT_EQ(c.nanResult, 1u);
  EXPECT_EQ(c.nanReference, 2u);
  EXPECT_EQ(c.infResult, 2u);
  EXPECT_EQ(c.infReference, 2u);
  EXPECT_EQ(c.worstIndex, 2u);
  EXPECT_EQ(c.maxAbsolute, 1.0);
}

TEST(Compare, EqualResultsHaveNoError) {
  float a[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(compare(a, a, 6).relativeNorm(), 0);
}

TEST(Compare, AgainstF64ReferenceSeesFractionsOfAnUlp) {
  float result[] = {1.0f};
  double reference[] = {1.0 + 0x1p-25};
  EXPECT_EQ(compare(result, reference, 1).maxUlp, 0.25);
}

} // namespace
