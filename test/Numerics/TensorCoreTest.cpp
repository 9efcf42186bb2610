// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/TensorCore.h"

#include "mp/Numerics/Cast.h"

#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace mpcore::numerics;

namespace {

const float inf = std::numeric_limits<float>::infinity();

TensorCoreModel model(Architecture architecture, Format operand, Format result = Format::F32) {
  auto found = tensorCoreModel(architecture, operand, result);
  EXPECT_TRUE(found);
  return *found;
}

uint32_t bitsOf(float value) { return llvm::bit_cast<uint32_t>(value); }

float equalProducts(const TensorCoreModel &m, float a, float b, size_t k, float c) {
  std::vector<float> as(k, a), bs(k, b);
  return modelDot(m, as.data(), bs.data(), k, c);
}

// These products tell the architectures apart (training-numerics 11.5).
TEST(TensorCore, DiscriminatorsTellArchitecturesApart) {
  struct {
    Architecture arch;
    float of24, of25;
  } rows[] = {{Architecture::SM70, 1.0f, 1.0f},
              {Architecture::SM75, 1.0f + 0x1p-20f, 1.0f},
              {Architecture::SM80, 1.0f + 0x1p-20f, 1.0f},
              {Architecture::SM89, 1.0f + 0x1p-20f, 1.0f},
              {Architecture::SM90, 1.0f + 0x1p-20f, 1.0f + 0x1p-21f},
              {Architecture::SM100, 1.0f + 0x1p-20f, 1.0f + 0x1p-21f}};
  for (auto &row : rows) {
    TensorCoreModel m = model(row.arch, Format::F16);
    SCOPED_TRACE(describe(m));
    EXPECT_EQ(equalProducts(m, 0x1p-12f, 0x1p-12f, 16, 1), row.of24);
    EXPECT_EQ(equalProducts(m, 0x1p-12f, 0x1p-13f, 16, 1), row.of25);
    // Cut, not rounded: 1 + 1.5 * 2^-24 stays 1.
    EXPECT_EQ(equalProducts(m, 0x1.8p-12f, 0x1p-12f, 1, 1), 1.0f);
    EXPECT_EQ(equalProducts(m, -0x1.8p-12f, 0x1p-12f, 1, -1), -1.0f);
  }
}

TEST(TensorCore, FP8DiscriminatorsTellInstructionsApart) {
  Format f = Format::F8E4M3FN;
  TensorCoreModel wgmma = model(Architecture::SM90, f);
  EXPECT_EQ(equalProducts(wgmma, 0x1p-7f, 0x1p-7f, 32, 1), 1.0f);
  EXPECT_EQ(equalProducts(wgmma, 0x1p-7f, 0x1p-7f, 32, 0), 0x1p-9f);
  TensorCoreModel tcgen05 = model(Architecture::SM100, f);
  EXPECT_EQ(equalProducts(tcgen05, 0x1p-7f, 0x1p-7f, 32, 1), 1.001953125f);
  for (Architecture arch : {Architecture::SM90, Architecture::SM100}) {
    auto emulated = tensorCoreModel(arch, f, f, Format::F32, Route::MmaSync);
    EXPECT_EQ(equalProducts(*emulated, 0x1p-7f, 0x1p-7f, 32, 1), 1.001953125f);
  }
}

std::vector<float> decodeAll(Format format, std::vector<uint64_t> patterns) {
  std::vector<float> values;
  for (uint64_t bits : patterns)
    values.push_back(float(decode(bits, format)));
  return values;
}

// One record per instruction, chosen because F - 1 and F + 1 give other bits
// (hardware results of MATLAB-tensor-core, BSD-2-Clause).
TEST(TensorCore, RecordsThatPinTheAlignment) {
  struct Record {
    Architecture arch;
    Route route;
    Format format;
    uint32_t c, d;
    std::vector<uint64_t> a, b;
  };
  const Record records[] = {
      {Architecture::SM70,
       Route::MmaSync,
       Format::F16,
       0x3f4c6b1f,
       0xbf99ee40,
       {0xbd85, 0xbd37, 0xb0e6, 0xb5d0},
       {0xb0d1, 0x3e6d, 0x4065, 0xb8e3}},
      {Architecture::SM80,
       Route::MmaSync,
       Format::F16,
       0x3f6a6da4,
       0x3e865e58,
       {0xb143, 0x3cbd, 0x372f, 0x3ec8, 0x3044, 0x3b0c, 0x3a07, 0xaf14},
       {0x3087, 0x402f, 0x2f95, 0x2ebc, 0xbd80, 0xc0f1, 0xbd8f, 0xb8db}},
      {Architecture::SM80,
       Route::MmaSync,
       Format::BF16,
       0x3e871edf,
       0x3bd07980,
       {0x3ed0, 0xbef0, 0xbf8d, 0x3fa4, 0x3ea6, 0x3ee9, 0xbcd1, 0x3fd8},
       {0xbf36, 0x3f19, 0xbe94, 0xbf89, 0x4011, 0xbe65, 0x3e87, 0x3ee0}},
      {Architecture::SM90,
       Route::MmaSync,
       Format::F16,
       0x3e2ed9a0,
       0x3f2dd9de,
       {0xb571, 0xbd62, 0x399c, 0x3ba4, 0x3c98, 0xb717, 0xbd1c, 0xa3cf, 0xbcf4, 0x3b5d, 0xb4a9,
        0x4027, 0xbb36, 0x3c63, 0x3c5e, 0x3163},
       {0x351b, 0xbd1f, 0x9f9a, 0xbdb0, 0x3f91, 0x3ac6, 0xa9cd, 0x2469, 0x399e, 0xb861, 0xbc80,
        0x3122, 0xbd61, 0xbdb2, 0xb5ad, 0xbb0d}},
      {Architecture::SM89,
       Route::MmaSync,
       Format::F8E4M3FN,
       0x3f78ad9c,
       0xc02af800,
       {0xb3, 0x2e, 0xbe, 0xb4, 0xb4, 0xbb, 0xb5, 0xb8, 0xb1, 0xad, 0xa7,
        0x1c, 0xa5, 0x38, 0x3a, 0x2a, 0x33, 0x24, 0xb8, 0xac, 0x24, 0x33,
        0x3a, 0xbd, 0x2b, 0xa8, 0x40, 0x1c, 0xab, 0x41, 0x2e, 0x1e},
       {0xbd, 0xba, 0x02, 0x39, 0x35, 0x40, 0x20, 0x3c, 0x23, 0x3d, 0x8b,
        0x28, 0x34, 0xa3, 0xb9, 0x32, 0x39, 0xc0, 0xab, 0x2a, 0x36, 0x33,
        0xaa, 0xc2, 0xa6, 0xba, 0x3a, 0x3b, 0x38, 0xbc, 0xad, 0xac}},
      {Architecture::SM90,
       Route::Wgmma,
       Format::F8E4M3FN,
       0,
       0x3fe6ac00,
       {0x1b, 0xbd, 0x32, 0xbc, 0x26, 0xb1, 0x2b, 0x1e, 0x3e, 0x38, 0x34,
        0xb5, 0xb5, 0xaa, 0x3f, 0xb8, 0xaf, 0x2b, 0xb2, 0x8d, 0xb6, 0x38,
        0x35, 0x9e, 0x21, 0xba, 0x97, 0x89, 0xab, 0x26, 0x30, 0x3e},
       {0xb6, 0x2f, 0x3a, 0xb3, 0xb5, 0xa6, 0xb1, 0xb2, 0xb7, 0x27, 0xad,
        0xba, 0xc3, 0x31, 0xa5, 0xbb, 0x07, 0xbc, 0x32, 0x27, 0xb2, 0x38,
        0xb8, 0xb0, 0xb0, 0xa6, 0x28, 0xae, 0x30, 0xbc, 0x2d, 0xb1}},
      {Architecture::SM100,
       Route::MmaSync,
       Format::F8E4M3FN,
       0x3f66b81c,
       0x4096153c,
       {0x37, 0x38, 0xaa, 0x3b, 0xb3, 0x2a, 0x38, 0x3e, 0x36, 0x35, 0xb8,
        0x2b, 0x0f, 0x29, 0x38, 0x35, 0xb8, 0x37, 0x03, 0xba, 0xae, 0xa6,
        0x3a, 0x3d, 0x92, 0x26, 0xb0, 0xaf, 0xb3, 0x33, 0x42, 0x2d},
       {0x31, 0xb2, 0x2d, 0x29, 0xbf, 0x2f, 0xbc, 0xb9, 0x1b, 0xb3, 0xb5,
        0x40, 0x87, 0x41, 0x21, 0xaa, 0xb7, 0x3f, 0xb2, 0x31, 0xad, 0x9d,
        0xb8, 0x3a, 0x3d, 0x3b, 0x9b, 0x86, 0xbc, 0xac, 0x12, 0x83}},
  };
  for (const Record &r : records) {
    auto m = tensorCoreModel(r.arch, r.format, r.format, Format::F32, r.route);
    ASSERT_TRUE(m);
    SCOPED_TRACE(describe(*m));
    std::vector<float> a = decodeAll(r.format, r.a), b = decodeAll(r.format, r.b);
    float c = llvm::bit_cast<float>(r.c);
    EXPECT_EQ(bitsOf(modelDot(*m, a.data(), b.data(), a.size(), c)), r.d);
  }
}

TEST(TensorCore, SpecialValues) {
  TensorCoreModel m = model(Architecture::SM80, Format::F16);
  EXPECT_EQ(bitsOf(equalProducts(m, inf, 0, 4, 0)), 0x7FFFFFFFu);
  EXPECT_EQ(bitsOf(equalProducts(m, NAN, 1, 1, 0)), 0x7FFFFFFFu);
  EXPECT_EQ(bitsOf(equalProducts(m, inf, 1, 4, -inf)), 0x7FFFFFFFu);
  EXPECT_EQ(equalProducts(m, inf, -2, 4, 5), -inf);
  EXPECT_EQ(equalProducts(m, 1, 1, 4, inf), inf);
  EXPECT_EQ(bitsOf(equalProducts(m, 0, 1, 4, -0.0f)), 0u);
  TensorCoreModel toF16 = model(Architecture::SM80, Format::F16, Format::F16);
  float nan16 = equalProducts(toF16, NAN, 1, 1, 0);
  EXPECT_EQ(convert(bitsOf(nan16), Format::F32, Format::F16), 0x7FFFu);
  EXPECT_EQ(equalProducts(toF16, 256, 256, 1, 0), inf);
  EXPECT_EQ(equalProducts(toF16, 256, 255.875f, 1, 0), 65504.0f);
}

TEST(TensorCore, SubnormalsAreNotFlushed) {
  TensorCoreModel m = model(Architecture::SM80, Format::F16);
  EXPECT_EQ(equalProducts(m, 0x1p-24f, 0x1p-24f, 1, 0), 0x1p-48f);
  TensorCoreModel bf16 = model(Architecture::SM80, Format::BF16);
  EXPECT_EQ(equalProducts(bf16, 0x1p-75f, 0x1p-74f, 1, 0), 0x1p-149f);
  EXPECT_EQ(equalProducts(bf16, 0x1p-75f, 0x1p-75f, 1, 0), 0.0f);
  EXPECT_EQ(equalProducts(bf16, 0x1p-133f, 0x1p100f, 1, 0), 0x1p-33f);
}

TEST(TensorCore, OverflowOfTheF32ResultIsInfinity) {
  TensorCoreModel m = model(Architecture::SM80, Format::BF16);
  EXPECT_EQ(equalProducts(m, 0x1p64f, 0x1p63f, 2, 0), inf);
  EXPECT_EQ(equalProducts(m, 0x1p64f, 0x1p63f, 1, 0), 0x1p127f);
}

TEST(TensorCore, PromotionKeepsSmallTerms) {
  TensorCoreModel m = model(Architecture::SM90, Format::F8E4M3FN);
  // 4096 products of 2^-14: lost one by one beside 1, kept as sums of 128.
  EXPECT_EQ(equalProducts(m, 0x1p-7f, 0x1p-7f, 4096, 1), 1.0f);
  m.promoteEvery = 128;
  EXPECT_EQ(equalProducts(m, 0x1p-7f, 0x1p-7f, 4096, 1), 1.25f);
}

TEST(TensorCore, ChainOfGroupsIsTheDot) {
  TensorCoreModel m = model(Architecture::SM80, Format::F16);
  float a[20], b[20];
  for (int i = 0; i < 20; ++i) {
    a[i] = float(i * 37 % 11 - 5) / 8;
    b[i] = float(i * 23 % 13 - 6) / 16;
  }
  float c = fusedStep(m, a, b, 8, 0.3f);
  c = fusedStep(m, a + 8, b + 8, 8, c);
  c = fusedStep(m, a + 16, b + 16, 4, c);
  EXPECT_EQ(bitsOf(modelDot(m, a, b, 20, 0.3f)), bitsOf(c));
}

TEST(TensorCore, OnlyExistingInstructionsHaveModels) {
  using A = Architecture;
  using F = Format;
  EXPECT_FALSE(tensorCoreModel(A::SM70, F::BF16));
  EXPECT_FALSE(tensorCoreModel(A::SM75, F::TF32));
  EXPECT_FALSE(tensorCoreModel(A::SM80, F::F8E4M3FN));
  EXPECT_FALSE(tensorCoreModel(A::SM80, F::BF16, F::F16));
  EXPECT_FALSE(tensorCoreModel(A::SM80, F::F32));
  EXPECT_FALSE(tensorCoreModel(A::SM90, F::F16, F::BF16, F::F32, Route::Wgmma));
  EXPECT_FALSE(tensorCoreModel(A::SM80, F::F16, F::F16, F::F32, Route::Wgmma));
  EXPECT_FALSE(tensorCoreModel(A::SM90, F::F16, F::F16, F::F32, Route::Tcgen05));
  EXPECT_TRUE(tensorCoreModel(A::SM90, F::F8E4M3FN, F::F8E5M2, F::F32, Route::Wgmma));
  // fp6 and fp4 meet each other and fp8 in mma.sync of sm_120 alone.
  EXPECT_TRUE(tensorCoreModel(A::SM120, F::F4E2M1FN, F::F6E3M2FN, F::F32, Route::MmaSync));
  EXPECT_TRUE(tensorCoreModel(A::SM120, F::F6E2M3FN, F::F8E5M2, F::F16, Route::MmaSync));
  EXPECT_FALSE(tensorCoreModel(A::SM120, F::F4E2M1FN, F::F16, F::F32, Route::MmaSync));
  EXPECT_FALSE(tensorCoreModel(A::SM100, F::F4E2M1FN, F::F4E2M1FN, F::F32, Route::MmaSync));
  EXPECT_FALSE(tensorCoreModel(A::SM89, F::F8E4M3FN, F::F4E2M1FN, F::F32, Route::MmaSync));
}

TEST(TensorCore, ChipsWithoutRecordsAreNotCalledRecorded) {
  for (Format operand : {Format::F16, Format::BF16, Format::TF32, Format::F8E4M3FN, Format::F8E5M2,
                         Format::F6E3M2FN, Format::F4E2M1FN})
    for (Architecture arch : {Architecture::SM75, Architecture::SM120})
      if (auto m = tensorCoreModel(arch, operand))
        EXPECT_EQ(m->source, ModelSource::Inferred) << describe(*m);
}

TEST(TensorCore, ChipNames) {
  EXPECT_EQ(parseArchitecture("sm_86"), Architecture::SM80);
  EXPECT_EQ(parseArchitecture("sm_90a"), Architecture::SM90);
  EXPECT_EQ(parseArchitecture("sm_103f"), Architecture::SM100);
  EXPECT_EQ(parseArchitecture("sm_121"), Architecture::SM120);
  for (const char *bad : {"sm_60", "sm_80a", "sm_90x", "90", "sm_", "ieee"})
    EXPECT_FALSE(parseArchitecture(bad)) << bad;
}

} // namespace
