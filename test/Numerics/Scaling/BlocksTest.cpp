// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/Scaling/Blocks.h"
#include "mp/Numerics/Scaling/Hadamard.h"
#include "mp/Numerics/Scaling/NamedRules.h"
#include "mp/Numerics/Scaling/Philox.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace mpcore::numerics;

namespace {

TEST(Blocks, LayoutCoversTheArrayOnce) {
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> layouts = {
      {{4, 6}, {}},     {{4, 6}, {4, 1}},       {{4, 6}, {1, 6}}, {{4, 6}, {2, 3}},
      {{4, 6}, {4, 6}}, {{2, 4, 6}, {2, 2, 1}}, {{}, {}},         {{6}, {2}}};
  for (const auto &[shape, scales] : layouts) {
    auto layout = BlockLayout::get(shape, scales);
    ASSERT_TRUE(layout);
    size_t next = 0;
    std::vector<size_t> members(layout->scales());
    layout->forEachRun([&](size_t first, size_t length, size_t scale) {
      EXPECT_EQ(first, next);
      next += length;
      members[scale] += length;
    });
    EXPECT_EQ(next, layout->elements());
    for (size_t count : members)
      EXPECT_EQ(count, layout->elements() / layout->scales());
  }
  EXPECT_FALSE(BlockLayout::get({4, 6}, {4}));
  EXPECT_FALSE(BlockLayout::get({4, 6}, {4, 4}));
  EXPECT_EQ(BlockLayout::get({0, 6}, {})->elements(), 0u);
}

TEST(Blocks, AmaxOfBlocksAndNaN) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[] = {1, -5, nan, 2, 3, -4, 0, nan};
  auto layout = *BlockLayout::get({2, 4}, {2, 2});
  float amax[4];
  amaxArray(x, layout, amax);
  EXPECT_EQ(std::vector<float>(amax, amax + 4), (std::vector<float>{5, 2, 4, 0}));
  amaxArray(x, layout, amax, NaNRule::Propagate);
  EXPECT_EQ(amax[0], 5);
  EXPECT_TRUE(std::isnan(amax[1]));
  EXPECT_EQ(amax[2], 4);
  EXPECT_TRUE(std::isnan(amax[3]));
}

// One scale per 2 x 3 block, checked element by element against the scalar code.
TEST(Blocks, QuantizesEveryElementWithItsScale) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> x(8 * 9);
  for (float &value : x)
    value = normal(random);
  auto layout = *BlockLayout::get({8, 9}, {4, 3});
  for (CodeFormat code :
       {CodeFormat(Format::F8E4M3FN), CodeFormat(Format::F8E5M2), CodeFormat(Format::F4E2M1FN),
        CodeFormat::integer(8), CodeFormat::integer(4)}) {
    const NamedRule &named = *findScaleRule("te-current");
    std::vector<uint8_t> codes(x.size());
    std::vector<float> scales(12), back(x.size());
    blockQuantize(x.data(), layout, named.rule, code, Format::F32, codes.data(), scales.data());
    dequantizeArray(codes.data(), layout, scales.data(), code, back.data());
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 9; ++c) {
        float amax = 0;
        for (int i = r / 2 * 2; i < r / 2 * 2 + 2; ++i)
          for (int j = c / 3 * 3; j < c / 3 * 3 + 3; ++j)
            amax = std::max(amax, std::fabs(x[i * 9 + j]));
        Scale scale = computeScale(named.rule, code, Format::F32, amax);
        EXPECT_EQ(codes[r * 9 + c], quantize(x[r * 9 + c], scale.encode, code));
        EXPECT_EQ(back[r * 9 + c], code.decode(codes[r * 9 + c]) * scale.decode);
      }
  }
}

TEST(Blocks, IntegersSaturateAndRoundToEven) {
  CodeFormat int8 = CodeFormat::integer(8), int4 = CodeFormat::integer(4);
  float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(int8.largest(), 127);
  EXPECT_EQ(int8.encode(2.5f), 2u);
  EXPECT_EQ(int8.encode(-3.5f), 0xFCu);
  EXPECT_EQ(int8.encode(500), 127u);
  EXPECT_EQ(int8.encode(-inf), 0x81u);
  EXPECT_EQ(int8.encode(std::nanf("")), 0u);
  EXPECT_EQ(int4.encode(-9), 0x9u);
  for (int i = -127; i <= 127; ++i)
    EXPECT_EQ(int8.decode(int8.encode(float(i))), float(i));
  for (int i = -7; i <= 7; ++i)
    EXPECT_EQ(int4.decode(int4.encode(float(i))), float(i));
}

TEST(Blocks, TwoLevelFourBit) {
  const float block[] = {.1f, -.2f, .3f,   .4f,  -.5f, .6f,   .7f,  -.8f,
                         .9f, 1,    -1.1f, 1.2f, 1.3f, -1.4f, 1.5f, -12};
  const uint8_t expected[] = {0, 8, 0, 0, 8, 1, 1, 9, 1, 1, 9, 1, 1, 9, 2, 15};
  const NamedRule &tensor = *findScaleRule("te-nvfp4-tensor"),
                  &rule = *findScaleRule("te-nvfp4-block");
  Scale outer = computeScale(tensor.rule, Format::F4E2M1FN, Format::F32, 24);
  EXPECT_EQ(outer.encode, 112);
  EXPECT_EQ(12 * (outer.encode * (1 / 6.0f)), 224.00001525878906f);
  uint8_t codes[16];
  float scale;
  blockQuantize(block, *BlockLayout::get({16}, {}), rule.rule, Format::F4E2M1FN, rule.scaleFormat,
                codes, &scale, outer.encode);
  EXPECT_EQ(convert(llvm::bit_cast<uint32_t>(scale), Format::F32, Format::F8E4M3FN), 0x76u);
  EXPECT_EQ(computeScale(rule.rule, Format::F4E2M1FN, rule.scaleFormat, 12, 1, outer.encode).encode,
            .5f);
  EXPECT_EQ(std::vector<uint8_t>(codes, codes + 16), std::vector<uint8_t>(expected, expected + 16));
  // The reciprocal of 112 is not exact: the element comes back a little off.
  EXPECT_NEAR(double(outer.decode) * scale * -6, -12.0000005, 1e-7);
}

TEST(Philox, KnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, StreamIsReadByCounterAndWord) {
  EXPECT_EQ(randomWord(0, 0, 2), 0xbc57ac4cu);
  EXPECT_EQ(randomWord(7, 3, 5), randomWord(7, 4, 1));
  EXPECT_NE(randomWord(7, 3, 5), randomWord(8, 3, 5));
}

TEST(Hadamard, UnitVectorsGiveSignedRows) {
  for (unsigned i = 0; i < 16; ++i) {
    std::vector<float> x(16, 0);
    x[i] = 1;
    hadamard(x, hadamardSigns16());
    for (unsigned j = 0; j < 16; ++j) {
      int row = __builtin_popcount(i & j) % 2 ? -1 : 1;
      EXPECT_EQ(x[j], row * hadamardSigns16()[i] / 4.0f);
    }
  }
}

TEST(Hadamard, InverseIsExactOnSmallIntegersAndProductsStay) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> small(-50, 50);
  std::vector<float> x(16), y(16);
  float before = 0, after = 0;
  for (unsigned i = 0; i < 16; ++i) {
    x[i] = float(small(random));
    y[i] = float(small(random));
    before += x[i] * y[i];
  }
  std::vector<float> original = x, other = y;
  hadamard(x, hadamardSigns16());
  hadamard(y, hadamardSigns16());
  for (unsigned i = 0; i < 16; ++i)
    after += x[i] * y[i];
  EXPECT_EQ(before, after);
  hadamard(x, hadamardSigns16(), /*inverse=*/true);
  EXPECT_EQ(x, original);
}

} // namespace
