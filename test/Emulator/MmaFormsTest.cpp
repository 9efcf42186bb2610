// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every form of mma.sync on a random tile. Small integers are compared with the product of the
// dense matrices; random bits with the model of lib/Numerics.

#include "MmaForms.h"
#include "mp/Numerics/BlockScaled.h"
#include "mp/Numerics/TensorCore.h"

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

TEST(MmaForms, SmallIntegersAreTheDenseProduct) {
  std::mt19937 rng(11);
  unsigned number = 0;
  for (const Form &f : allForms()) {
    SCOPED_TRACE(f.opcode() + " selector " + std::to_string(f.selector));
    Tile t(f, Tile::SmallIntegers, rng);
    auto got = execute(f, t, chipOf(f, number++), rng);
    ASSERT_FALSE(got.empty());
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < fragmentElements(f.c, f.m * 8); ++i) {
        auto [row, column] = placeC(lane, i);
        double want = exact(f, t, row, column);
        if (f.c == Kind::S32) {
          int64_t sum = int64_t(want);
          want = f.mods == ".satfinite" ? double(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX))
                                        : double(int32_t(uint32_t(sum)));
        }
        ASSERT_EQ(decode(f.c, element(got, f.c, lane, i)), want)
            << "row " << row << " column " << column;
      }
  }
  EXPECT_GT(number, 300u);
}

TEST(MmaForms, RandomBitsAreTheModels) {
  std::mt19937 rng(12);
  unsigned number = 0;
  for (const Form &f : allForms()) {
    if (!isFloat(f.a))
      continue;
    const std::string chip = chipOf(f, number++);
    SCOPED_TRACE(f.opcode() + " on " + chip);
    Tile t(f, Tile::RandomBits, rng);
    auto got = execute(f, t, chip, rng);
    ASSERT_FALSE(got.empty());
    auto model = numerics::tensorCoreModel(*numerics::parseArchitecture(chip), formatOf(f.a),
                                           formatOf(f.b), formatOf(f.c), numerics::Route::MmaSync);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < fragmentElements(f.c, f.m * 8); ++i) {
        auto [row, column] = placeC(lane, i);
        // A sparse product has half as many products, each with the row of B that the element
        // meets.
        std::vector<float> x, y, scaleA, scaleB;
        for (unsigned s = 0; s < f.stored(); ++s) {
          x.push_back(float(decode(f.a, t.a[row * f.stored() + s])));
          y.push_back(float(decode(f.b, t.b[t.place[row * f.stored() + s] * 8 + column])));
        }
        for (unsigned s = 0; s < f.scaleBlocks; ++s) {
          scaleA.push_back(float(scaleValue(f, t.scaleA[row * f.scaleBlocks + s])));
          scaleB.push_back(float(scaleValue(f, t.scaleB[column * f.scaleBlocks + s])));
        }
        const float c = float(decode(f.c, t.c[row * 8 + column]));
        const float want =
            f.scaleBlocks
                ? numerics::blockScaledDot(
                      *numerics::blockScaledModel(f.scaleKind, formatOf(f.a), formatOf(f.b)),
                      x.data(), y.data(), scaleA.data(), scaleB.data(), x.size(), c)
                : numerics::modelDot(*model, x.data(), y.data(), x.size(), c);
        const uint64_t bits = element(got, f.c, lane, i);
        if (std::isnan(want))
          ASSERT_TRUE(std::isnan(decode(f.c, bits)));
        else
          ASSERT_EQ(decode(f.c, bits), double(want)) << "row " << row << " column " << column;
      }
  }
}

TEST(MmaForms, QuadPairs) {
  // Four products of 8 x 8 x 4. The manual's words: X = laneid % 4, and 4 more for laneid >= 16.
  std::mt19937 rng(13);
  using enum Kind;
  for (const char *chip : {"sm_70", "sm_75", "sm_80", "sm_90a"})
    for (const char *layout : {"row.col", "row.row", "col.row", "col.col"})
      for (auto [c, d] : {std::pair{F32, F32}, {F16, F16}, {F16, F32}}) {
        SCOPED_TRACE(std::string(chip) + " " + layout + " " + nameOf(d) + " " + nameOf(c));
        const bool rowA = layout[0] == 'r', colB = std::string(layout).substr(4) == "col";
        MatrixKernel kernel;
        const unsigned nC = c == F16 ? 4 : 8, nD = d == F16 ? 4 : 8;
        kernel.inputs = {2, 2, nC};
        kernel.results = nD;
        kernel.instruction = std::string("mma.sync.aligned.m8n8k4.") + layout + "." + nameOf(d) +
                             ".f16.f16." + nameOf(c) + " " + registers("%d", nD) +
                             ", {%a0, %a1}, {%b0, %b1}, " + registers("%c", nC) + ";";
        std::array<std::vector<uint32_t>, 6> files = {
            std::vector<uint32_t>(64), std::vector<uint32_t>(64), std::vector<uint32_t>(nC * 32)};
        int a[4][8][4], b[4][4][8], acc[4][8][8];
        for (auto *m : {&a[0][0][0], &b[0][0][0]})
          for (int i = 0; i < 128; ++i)
            m[i] = int(rng() % 9) - 4;
        for (int i = 0; i < 256; ++i)
          (&acc[0][0][0])[i] = int(rng() % 41) - 20;
        auto accumulatorSpot = [](Kind kind, unsigned lane, unsigned i) {
          const unsigned high = lane < 16 ? 0 : 4;
          if (kind == F16)
            return Spot{lane % 4 + high, i};
          return Spot{(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
        };
        for (unsigned lane = 0; lane < 32; ++lane) {
          const unsigned pair = lane % 16 / 4, high = lane < 16 ? 0 : 4;
          for (unsigned i = 0; i < 4; ++i) {
            setElement(
                files[0], F16, lane, i,
                encode(F16, rowA ? a[pair][lane % 4 + high][i] : a[pair][i % 4 + high][lane % 4]));
            setElement(
                files[1], F16, lane, i,
                encode(F16, colB ? b[pair][i][lane % 4 + high] : b[pair][lane % 4][i + high]));
          }
          for (unsigned i = 0; i < 8; ++i) {
            auto [row, column] = accumulatorSpot(c, lane, i);
            setElement(files[2], c, lane, i, encode(c, acc[pair][row][column]));
          }
        }
        auto got = kernel.run(files, "sm_75", chip);
        ASSERT_FALSE(got.empty());
        for (unsigned lane = 0; lane < 32; ++lane)
          for (unsigned i = 0; i < 8; ++i) {
            const unsigned pair = lane % 16 / 4;
            auto [row, column] = accumulatorSpot(d, lane, i);
            int want = acc[pair][row][column];
            for (unsigned k = 0; k < 4; ++k)
              want += a[pair][row][k] * b[pair][k][column];
            ASSERT_EQ(decode(d, element(got, d, lane, i)), want)
                << "lane " << lane << " element " << i;
          }
      }
}

static Fault faultOfForm(const Form &f, const std::string &instruction,
                         const std::array<std::vector<uint32_t>, 6> &files,
                         const std::string &chip) {
  MatrixKernel kernel;
  kernel.inputs = {4, 4, 4, 1, 1, 1};
  kernel.results = 1;
  kernel.instruction = instruction;
  auto result = kernel.tryRun(files, f.target(), chip);
  Fault fault;
  EXPECT_FALSE(bool(result));
  if (!result)
    llvm::handleAllErrors(result.takeError(), [&](const FaultError &e) { fault = e.get(); });
  return fault;
}

TEST(MmaForms, FaultsNameTheLane) {
  std::array<std::vector<uint32_t>, 6> files;
  for (auto &file : files)
    file.assign(128, 0x44444444); // metadata: places 0 and 1
  const Form sparse{16, 16, Kind::F16, Kind::F16, Kind::F32};
  const std::string sp = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                         "{%d0,%d1,%d2,%d3}, {%a0,%a1}, {%b0,%b1}, {%c0,%c1,%c2,%c3}, %e0, 2;";
  files[3][22] = 0x44414444; // lane 22 is the third of its four: row 13, places 1 and 0
  Fault f = faultOfForm(sparse, sp, files, "sm_80");
  EXPECT_EQ(f.kind, FaultKind::Misuse);
  EXPECT_EQ(f.lane, 22u);
  EXPECT_EQ(f.kernel, "k");
  EXPECT_NE(f.message.find("sparsity metadata 0b0001 of row 13"), std::string::npos) << f.message;
  // The other variant takes any order, but not one place twice.
  MatrixKernel kernel;
  kernel.inputs = {4, 4, 4, 1, 1, 1};
  kernel.instruction = std::string(sp).replace(6, 18, "");
  EXPECT_TRUE(bool(kernel.tryRun(files, "sm_80", "sm_80")));
  files[3][22] = 0x44454444;
  EXPECT_EQ(faultOfForm(sparse, kernel.instruction, files, "sm_80").lane, 22u);
  files[3][22] = 0x44444444;
  EXPECT_NE(faultOfForm(sparse, sp, files, "sm_75").message.find("sm_75"), std::string::npos);

  const Form scaled{16, 32, Kind::E4M3, Kind::E4M3, Kind::F32, ".kind::mxf8f6f4.block_scale"};
  auto scales = [](const char *byte, const char *thread) {
    return std::string("cvt.u16.u32 %h0, ") + byte + "; cvt.u16.u32 %h1, " + thread +
           "; mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 "
           "{%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, {%c0,%c1,%c2,%c3}, %x0, {%h0, %h1}, "
           "%y0, {0, 0};";
  };
  f = faultOfForm(scaled, scales("%t", "0"), files, "sm_120a");
  EXPECT_EQ(f.lane, 1u);
  EXPECT_NE(f.message.find("byte id of A of the scales is 1, lane 0 has 0"), std::string::npos)
      << f.message;
  f = faultOfForm(scaled, scales("0", "2"), files, "sm_120a");
  EXPECT_NE(f.message.find("thread id of A of the scales is 2: less than 2"), std::string::npos)
      << f.message;
  f = faultOfForm(scaled, scales("0", "0"), files, "sm_90a");
  EXPECT_NE(f.message.find("no Tensor Core model for scaled blocks"), std::string::npos)
      << f.message;
}
