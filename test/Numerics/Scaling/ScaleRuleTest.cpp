// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scales of named rules against values written by the implementations they name.

#include "mp/Numerics/Scaling/AmaxHistory.h"
#include "mp/Numerics/Scaling/NamedRules.h"

#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace mpcore::numerics;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float largest = std::numeric_limits<float>::max();

float fromBits(uint32_t bits) { return llvm::bit_cast<float>(bits); }
uint32_t toBits(float value) { return llvm::bit_cast<uint32_t>(value); }

Scale scaleBy(llvm::StringRef name, float amax, Format code = Format::F8E4M3FN, float old = 1,
              float parent = 1) {
  const NamedRule *named = findScaleRule(name);
  EXPECT_TRUE(named) << name.str();
  return computeScale(named->rule, code, named->scaleFormat, amax, old, parent);
}

float encodeBy(llvm::StringRef name, float amax, Format code = Format::F8E4M3FN) {
  return scaleBy(name, amax, code).encode;
}

TEST(ScaleRule, CurrentScaling) {
  struct Row {
    float amax, e4m3, e4m3Pow2, e5m2, e5m2Pow2;
  };
  const Row rows[] = {
      {1, 448, 256, 57344, 32768},
      {3, fromBits(0x43155555), 128, 19114.666f, 16384},
      {448, 1, 1, 128, 128},
      {500, fromBits(0x3f656042), .5, 114.688f, 64},
      {.1f, 4480, 4096, 573440, 524288},
      {0, 1, 1, 1, 1},
      {inf, 1, 1, 1, 1},
      {nan, 1, 1, 1, 1},
      {1e-38f, largest, 0x1p127f, largest, 0x1p127f},
      {65504, fromBits(0x3be01c04), 0x1p-8f, .87542748f, .5f},
  };
  for (const Row &row : rows) {
    SCOPED_TRACE(row.amax);
    EXPECT_EQ(encodeBy("te-current", row.amax), row.e4m3);
    EXPECT_EQ(encodeBy("te-current-pow2", row.amax), row.e4m3Pow2);
    EXPECT_EQ(encodeBy("te-current", row.amax, Format::F8E5M2), row.e5m2);
    EXPECT_EQ(encodeBy("te-current-pow2", row.amax, Format::F8E5M2), row.e5m2Pow2);
  }
  EXPECT_EQ(scaleBy("te-current", 3).decode, 1 / fromBits(0x43155555));
}

TEST(ScaleRule, TinyBlocksOfBF16) {
  EXPECT_EQ(encodeBy("te-block-f32", 1e-38f), fromBits(0x7f7f0000));
  EXPECT_EQ(encodeBy("te-block", 1e-38f), 0x1p127f);
}

TEST(ScaleRule, Torchao) {
  EXPECT_EQ(encodeBy("torchao", 1), 448);
  EXPECT_EQ(encodeBy("torchao", 3), fromBits(0x43155555));
  EXPECT_EQ(encodeBy("torchao", 500), fromBits(0x3f656042));
  EXPECT_EQ(encodeBy("torchao", 0), 447999985582080.f);
  EXPECT_EQ(encodeBy("torchao", inf), 0);
  EXPECT_TRUE(std::isnan(encodeBy("torchao", nan)));
  EXPECT_EQ(encodeBy("torchao-pow2", 1), 256);
  EXPECT_EQ(encodeBy("torchao-pow2", 3), 128);
  EXPECT_EQ(encodeBy("torchao-pow2", 500), .5);
  EXPECT_EQ(encodeBy("torchao-pow2", 0), 0x1p48f);
}

TEST(ScaleRule, DeepGemm) {
  const std::pair<float, std::pair<uint32_t, float>> rows[] = {{1, {0x3b124925, 0x1p-8f}},
                                                               {3, {0x3bdb6db7, 0x1p-7f}},
                                                               {448, {0x3f800000, 1}},
                                                               {449, {0x3f804925, 2}},
                                                               {0, {0x346facad, 0x1p-22f}}};
  for (auto [amax, expected] : rows) {
    EXPECT_EQ(toBits(scaleBy("deepgemm", amax).decode), expected.first) << amax;
    EXPECT_EQ(scaleBy("deepgemm-e8m0", amax).decode, expected.second) << amax;
  }
}

TEST(ScaleRule, Moments) {
  EXPECT_EQ(toBits(scaleBy("te-moment", 3).decode), 0x3bdb6db7u);
  EXPECT_EQ(scaleBy("te-moment", 448).decode, 1);
  EXPECT_EQ(scaleBy("te-moment", 448).encode, 1);
  EXPECT_EQ(toBits(scaleBy("te-moment-f16", 3).decode), 0x38c01803u);
  EXPECT_EQ(scaleBy("te-moment-f16", 65504).decode, 2);
  // Nothing to store: any scale will do, but no infinity.
  EXPECT_EQ(scaleBy("te-moment", 0).encode, 1);
  EXPECT_EQ(scaleBy("te-moment", 0x1p-149f).encode, std::numeric_limits<float>::max());
}

TEST(ScaleRule, MicroscalingBytes) {
  struct Row {
    float amax;
    int roundUp, floor, ceil, even;
  };
  const Row rows[] = {{448, 127, 127, 128, 127},
                      {449, 128, 127, 128, 127},
                      {256, 127, 127, 127, 127},
                      {255, 127, 126, 127, 127},
                      {480, 128, 127, 128, 127},
                      {511, 128, 127, 128, 128},
                      {1, 119, 119, 119, 119},
                      {1.75, 119, 119, 120, 119},
                      {1.76f, 120, 119, 120, 119},
                      {3, 120, 120, 121, 120},
                      {0, 0, 0, 0, 0},
                      {3e38f, 247, 246, 247, 246},
                      {inf, 254, 255, 255, 255},
                      {nan, 255, 255, 255, 255}};
  auto byteOf = [](const ScaleRule &rule, float amax) {
    Scale scale = computeScale(rule, Format::F8E4M3FN, Format::F8E8M0FNU, amax);
    int byte = int(convert(toBits(scale.decode), Format::F32, Format::F8E8M0FNU));
    if (byte != 255) {
      EXPECT_EQ(scale.encode, std::ldexp(1.0f, 127 - byte));
    }
    return byte;
  };
  for (const Row &row : rows) {
    SCOPED_TRACE(row.amax);
    EXPECT_EQ(byteOf(findScaleRule("te-mxfp8")->rule, row.amax), row.roundUp);
    EXPECT_EQ(byteOf(findScaleRule("mx-floor")->rule, row.amax), row.floor);
    EXPECT_EQ(byteOf(findScaleRule("mx-ceil")->rule, row.amax), row.ceil);
    EXPECT_EQ(byteOf(findScaleRule("mx-even")->rule, row.amax), row.even);
  }
}

TEST(ScaleRule, EveryScaleIsPositiveAndItsPartnerTheReciprocal) {
  for (const NamedRule &named : namedScaleRules())
    for (float amax = 0x1p-118f; std::isfinite(amax); amax *= 2.37f) {
      Scale scale = computeScale(named.rule, Format::F8E4M3FN, named.scaleFormat, amax);
      ASSERT_GE(scale.encode, 0) << named.name.str() << " " << amax;
      if (named.rule.form == ScaleForm::Encode)
        ASSERT_EQ(scale.decode, 1 / scale.encode) << named.name.str() << " " << amax;
      // Nothing but a rounding can bring values beyond the largest.
      bool mayExceed = named.rule.pow2 == PowerOfTwo::Down && named.rule.form != ScaleForm::Encode;
      if (!mayExceed && named.rule.pow2 != PowerOfTwo::Even && !named.rule.largest &&
          named.name != "te-nvfp4-block")
        ASSERT_LE(double(amax) * scale.encode, 448 * (1 + 0x1p-22))
            << named.name.str() << " " << amax;
    }
}

TEST(AmaxHistory, DelayedScaling) {
  const float steps[] = {2, 8, 1, 0, .5, inf, 4, 1e-40f, 1e-40f, 1e-40f, 1e-40f};
  const float byMax[] = {224, 56, 56, 56, 56, 56, 56, 56, 56, 112, largest};
  const float byRecent[] = {224, 56, 448, 448, 896, 896, 112, largest, largest, largest, largest};
  const std::vector<float> after[] = {{0, 0, 0, 2},
                                      {0, 0, 2, 8},
                                      {0, 2, 8, 1},
                                      {0, 2, 8, 1},
                                      {0, 8, 1, .5},
                                      {0, 1, .5, inf},
                                      {0, .5, inf, 4},
                                      {0, inf, 4, 1e-40f},
                                      {0, 4, 1e-40f, 1e-40f},
                                      {0, 1e-40f, 1e-40f, 1e-40f},
                                      {0, 1e-40f, 1e-40f, 1e-40f}};
  for (bool recent : {false, true}) {
    std::vector<float> history(4, 0);
    HistoryRule rule{recent ? HistoryChoice::MostRecent : HistoryChoice::Max,
                     HistoryOrder::AfterCurrent,
                     /*rollOnZero=*/false};
    float scale = 1;
    for (size_t i = 0; i < std::size(steps); ++i) {
      float amax = updateAmaxHistory(history, steps[i], rule);
      scale = scaleBy("te-delayed", amax, Format::F8E4M3FN, scale).encode;
      EXPECT_EQ(scale, recent ? byRecent[i] : byMax[i]) << i;
      EXPECT_EQ(history, after[i]) << i;
    }
  }
}

TEST(AmaxHistory, RollsOnZeroWhereAsked) {
  std::vector<float> history{0, 2, 8, 1};
  EXPECT_EQ(updateAmaxHistory(history, 0, {}), 8);
  EXPECT_EQ(history, (std::vector<float>{0, 8, 1, 0}));
}

TEST(AmaxHistory, Margin) {
  ScaleRule rule = findScaleRule("te-delayed")->rule;
  rule.margin = 1;
  std::vector<float> history(4, 0);
  float scale = 1;
  const float expected[] = {9557.3330f, 9557.3330f, 4096};
  const float steps[] = {3, 1, 7};
  for (size_t i = 0; i < 3; ++i) {
    scale = computeScale(rule, Format::F8E5M2, Format::F32,
                         updateAmaxHistory(history, steps[i], {}), scale)
                .encode;
    EXPECT_EQ(scale, expected[i]);
  }
}

TEST(AmaxHistory, FlaxIsOneStepLater) {
  const float steps[] = {2, 8, 1, .5, 4, 1, 1, 1};
  const float used[] = {1,
                        .0044642859f,
                        .0178571437f,
                        .0178571437f,
                        .0178571437f,
                        .0178571437f,
                        .0089285718f,
                        .0089285718f};
  std::vector<float> history(4, 0);
  HistoryRule rule{HistoryChoice::Max, HistoryOrder::BeforeCurrent, true};
  Scale scale{1, 1};
  for (size_t i = 0; i < std::size(steps); ++i) {
    scale =
        scaleBy("flax", updateAmaxHistory(history, steps[i], rule), Format::F8E4M3FN, scale.encode);
    EXPECT_EQ(scale.decode, used[i]) << i;
  }
}

} // namespace
