// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/BlockScaled.h"

#include "mp/Numerics/Cast.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mpcore::numerics;

namespace {

struct Operands {
  std::vector<float> a, b, scaleA, scaleB;
};

/// Values of the model's formats, scales between 2^low and 2^high.
Operands draw(const BlockScaledModel &model, size_t k, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  auto pattern = [&](Format format) {
    for (;;) {
      float value = float(decode(random() & ((1u << info(format).bits) - 1), format));
      if (std::isfinite(value))
        return value;
    }
  };
  auto scale = [&] {
    float exact = std::ldexp(std::uniform_real_distribution<float>(1, 2)(random),
                             std::uniform_int_distribution<int>(low, high)(random));
    return roundTo(exact, model.scale);
  };
  Operands o;
  for (size_t i = 0; i < k; ++i) {
    o.a.push_back(pattern(model.operandA));
    o.b.push_back(pattern(model.operandB));
  }
  for (size_t i = 0; i < k; i += model.blockSize) {
    o.scaleA.push_back(scale());
    o.scaleB.push_back(scale());
  }
  return o;
}

float run(const BlockScaledModel &model, const Operands &o, float c) {
  return blockScaledDot(model, o.a.data(), o.b.data(), o.scaleA.data(), o.scaleB.data(), o.a.size(),
                        c);
}

/// One step exactly, then cut to 24 bits. Right for the model where nothing is cut at alignment.
float exactStep(const BlockScaledModel &model, const Operands &o, float c) {
  long double sum = c;
  for (size_t i = 0; i < o.a.size(); ++i)
    sum += (long double)o.a[i] * o.b[i] * o.scaleA[i / model.blockSize] *
           o.scaleB[i / model.blockSize];
  return float(
      decode(convert(llvm::bit_cast<uint64_t>(double(sum)), Format::F64, Format::F32, Rounding::RZ),
             Format::F32));
}

TEST(BlockScaled, KindsTakeTheirFormats) {
  EXPECT_TRUE(blockScaledModel("mxf8f6f4", Format::F8E4M3FN, Format::F6E2M3FN));
  EXPECT_TRUE(blockScaledModel("mxf4", Format::F4E2M1FN, Format::F4E2M1FN));
  EXPECT_FALSE(blockScaledModel("mxf4", Format::F8E4M3FN, Format::F4E2M1FN));
  EXPECT_FALSE(blockScaledModel("mxf4nvf4", Format::F4E2M1FN, Format::F8E5M2));
  EXPECT_FALSE(blockScaledModel("mxf8f6f4", Format::F16, Format::F16));
  EXPECT_EQ(blockScaledModel("mxf4nvf4", Format::F4E2M1FN, Format::F4E2M1FN)->blockSize, 16u);
}

// Scales near one: sums of f4 products have few bits, and no term reaches below the cut.
TEST(BlockScaled, ExactWhereNothingIsCut) {
  for (const char *kind : {"mxf4", "mxf4nvf4"}) {
    auto model = *blockScaledModel(kind, Format::F4E2M1FN, Format::F4E2M1FN);
    for (unsigned seed = 0; seed < 200; ++seed) {
      Operands o = draw(model, 64, -3, 3, seed);
      float c = seed % 3 ? 0.0f : std::ldexp(float(int(seed) - 100), -4);
      EXPECT_EQ(run(model, o, c), exactStep(model, o, c)) << kind << ' ' << seed;
    }
  }
  auto model = *blockScaledModel("mxf8f6f4", Format::F6E2M3FN, Format::F4E2M1FN);
  for (unsigned seed = 0; seed < 200; ++seed) {
    Operands o = draw(model, 32, -3, 3, seed);
    EXPECT_EQ(run(model, o, 0), exactStep(model, o, 0)) << seed;
  }
}

// Scales of powers of two move nothing but the result.
TEST(BlockScaled, ScalesShiftTheResult) {
  auto model = *blockScaledModel("mxf8f6f4", Format::F8E4M3FN, Format::F8E5M2);
  for (unsigned seed = 0; seed < 100; ++seed) {
    Operands o = draw(model, 96, -10, 10, seed);
    float before = run(model, o, 1.5f);
    for (float &scale : o.scaleA)
      scale *= 0x1p20f;
    EXPECT_EQ(run(model, o, 1.5f * 0x1p20f), before * 0x1p20f) << seed;
  }
}

// 35 bits below the largest scale, terms are cut; one bit above, they are kept.
TEST(BlockScaled, CutsAtThirtyFiveBits) {
  auto model = *blockScaledModel("mxf4", Format::F4E2M1FN, Format::F4E2M1FN);
  auto sum = [&](int exponent) {
    Operands o{std::vector<float>(64, 0),
               std::vector<float>(64, 0),
               {1, std::ldexp(1.0f, exponent)},
               {1, 1}};
    o.a[0] = o.b[0] = 1;     // 1
    o.a[32] = o.b[32] = 1;   // 2^exponent
    o.a[1] = -1, o.b[1] = 1; // -1
    return run(model, o, 0);
  };
  EXPECT_EQ(sum(-35), 0x1p-35f);
  EXPECT_EQ(sum(-36), 0.0f);
}

// Steps of 32 cut 25 bits below the largest product.
TEST(BlockScaled, CutsAtTwentyFiveBits) {
  auto model = *blockScaledModel("mxf8f6f4", Format::F8E5M2, Format::F8E5M2);
  auto sum = [&](float small) {
    Operands o{std::vector<float>(32, 0), std::vector<float>(32, 1), {1}, {1}};
    o.a[0] = 1024;
    o.a[1] = -1024;
    o.a[2] = small;
    return run(model, o, 0);
  };
  EXPECT_EQ(sum(0x1p-15f), 0x1p-15f);
  EXPECT_EQ(sum(0x1p-16f), 0.0f);
}

// A step of 64 sees a group at the exponent of its scales, whatever its sum is.
TEST(BlockScaled, GroupsAreSeenAtTheirScales) {
  auto model = *blockScaledModel("mxf4", Format::F4E2M1FN, Format::F4E2M1FN);
  Operands o{std::vector<float>(64, 0), std::vector<float>(64, 0), {1, 0x1p-40f}, {1, 1}};
  o.a[32] = o.b[32] = 1; // 2^-40 beside an empty block of scale 1
  EXPECT_EQ(run(model, o, 0), 0.0f);
  o.scaleA[0] = 0x1p-40f;
  EXPECT_EQ(run(model, o, 0), 0x1p-40f);
}

TEST(BlockScaled, ChainsStepsAndSpecialValues) {
  auto model = *blockScaledModel("mxf4nvf4", Format::F4E2M1FN, Format::F4E2M1FN);
  Operands o = draw(model, 160, -2, 2, 3); // the last step is half full
  Operands head = o, tail = o;
  head.a.resize(128), head.b.resize(128);
  tail.a.erase(tail.a.begin(), tail.a.begin() + 128),
      tail.b.erase(tail.b.begin(), tail.b.begin() + 128);
  tail.scaleA.erase(tail.scaleA.begin(), tail.scaleA.begin() + 8),
      tail.scaleB.erase(tail.scaleB.begin(), tail.scaleB.begin() + 8);
  EXPECT_EQ(run(model, o, 2), run(model, tail, run(model, head, 2)));
  // The sign of an f8E4M3FN scale is not looked at.
  float positive = run(model, o, 0);
  o.scaleA[0] = -o.scaleA[0];
  EXPECT_EQ(run(model, o, 0), positive);
  o.scaleB[3] = std::nanf("");
  EXPECT_EQ(llvm::bit_cast<uint32_t>(run(model, o, 0)), 0x7FFFFFFFu);
  EXPECT_EQ(run(model, draw(model, 64, 0, 0, 1), HUGE_VALF), HUGE_VALF);
}

} // namespace
