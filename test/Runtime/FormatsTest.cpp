// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/Cast.h"
#include "mp/Runtime/Runtime.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mpcore::numerics;

TEST(RuntimeFormats, EveryPatternHasTheValueNumericsGivesIt) {
  for (Format format : allFormats()) {
    if (info(format).bits > 16)
      continue;
    for (uint64_t bits = 0; bits < uint64_t(1) << info(format).bits; ++bits) {
      double expected = decode(bits, format);
      float actual = mp_rt_decode(uint32_t(bits), int(format));
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(actual)) << toString(format).str() << " " << bits;
      else
        ASSERT_EQ(llvm::bit_cast<uint64_t>(double(actual)), llvm::bit_cast<uint64_t>(expected))
            << toString(format).str() << " " << bits;
    }
  }
}

/// Every upper half of an f32 with lower halves on, beside and between ties.
TEST(RuntimeFormats, RoundToBF16AsNumericsDoes) {
  for (uint32_t upper = 0; upper < 1u << 16; ++upper)
    for (uint32_t lower : {0u, 1u, 0x4000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float value = llvm::bit_cast<float>(upper << 16 | lower);
      const uint32_t found = llvm::bit_cast<uint32_t>(mp_rt_round_to_bf16(value));
      ASSERT_LT(found, 1u << 16);
      if (std::isnan(value))
        ASSERT_TRUE(std::isnan(decode(found, Format::BF16))) << upper << " " << lower;
      else
        ASSERT_EQ(found, encode(roundTo(value, Format::BF16), Format::BF16))
            << upper << " " << lower;
    }
}

TEST(RuntimeFormats, AreNumberedAsInNumerics) {
  EXPECT_EQ(int(Format::F64), MP_RT_F64);
  EXPECT_EQ(int(Format::TF32), MP_RT_TF32);
  EXPECT_EQ(int(Format::F8E4M3FN), MP_RT_F8E4M3FN);
  EXPECT_EQ(int(Format::F8E8M0FNU), MP_RT_F8E8M0FNU);
  EXPECT_EQ(allFormats().size(), size_t(MP_RT_FORMAT_COUNT));
}
