// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync with fragments placed by the manual's formulas, ldmatrix and stmatrix.

#include "../Numerics/RecordedVectors.h"
#include "MatrixSupport.h"
#include <bit>
#include <functional>
#include <random>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
/// The place of element i of a lane's fragment; g = lane / 4, t = lane % 4.
using Place = std::function<std::pair<int, int>(int g, int t, int i)>;

struct Case {
  const char *name, *opcode;
  int m, k;
  Kind kind;
  Place a, b;
};

// Registers of all lanes, register-major, packed from the bits of a matrix.
std::vector<uint32_t> packBits(Kind kind, int elements, const Place &place,
                               const std::function<uint64_t(int, int)> &at) {
  std::vector<uint32_t> words(elements * bitsOf(kind));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      auto [row, col] = place(lane / 4, lane % 4, i);
      setElement(words, kind, lane, i, at(row, col));
    }
  return words;
}

std::vector<uint32_t> pack(Kind kind, int elements, const Place &place,
                           const std::function<int(int, int)> &at) {
  return packBits(kind, elements, place,
                  [&](int row, int col) { return encode(kind, at(row, col)); });
}

std::vector<uint32_t> run(const std::string &opcode, const std::vector<uint32_t> &a,
                          const std::vector<uint32_t> &b, const std::vector<uint32_t> &c,
                          const std::string &chip, const std::string &target = "sm_90a") {
  MatrixKernel kernel;
  kernel.inputs = {unsigned(a.size() / 32), unsigned(b.size() / 32), unsigned(c.size() / 32)};
  kernel.results = kernel.inputs[2];
  kernel.instruction =
      opcode + " " + registers("%d", kernel.results) + ", " + registers("%a", kernel.inputs[0]) +
      ", " + registers("%b", kernel.inputs[1]) + ", " + registers("%c", kernel.results) + ";";
  return kernel.run({a, b, c}, target, chip);
}

// The manual's formulas, form by form.
Place a16816 = [](int g, int t, int i) {
  return std::pair{(i == 0 || i == 1 || i == 4 || i == 5) ? g : g + 8,
                   t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
};
Place b16816 = [](int g, int t, int i) { return std::pair{t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g}; };
Place a1688 = [](int g, int t, int i) { return std::pair{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };
Place b1688 = [](int g, int t, int i) { return std::pair{t * 2 + i, g}; };
Place aTf32k8 = [](int g, int t, int i) {
  return std::pair{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
};
Place bTf32k8 = [](int g, int t, int i) { return std::pair{i == 0 ? t : t + 4, g}; };
Place aTf32k4 = [](int g, int t, int i) { return std::pair{i == 0 ? g : g + 8, t}; };
Place bTf32k4 = [](int g, int t, int) { return std::pair{t, g}; };
Place aByte32 = [](int g, int t, int i) {
  return std::pair{(i < 4 || (i >= 8 && i < 12)) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
};
Place bByte32 = [](int g, int t, int i) {
  return std::pair{t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
};
Place aByte16 = [](int g, int t, int i) { return std::pair{i < 4 ? g : g + 8, t * 4 + (i & 3)}; };
Place bByte16 = [](int g, int t, int i) { return std::pair{t * 4 + i, g}; };
Place aByte8 = [](int g, int t, int i) { return std::pair{g, t * 4 + i}; };
Place aNibble64 = [](int g, int t, int i) {
  return std::pair{(i < 8 || (i >= 16 && i < 24)) ? g : g + 8,
                   t * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
};
Place bNibble64 = [](int g, int t, int i) {
  return std::pair{t * 8 + (i & 7) + (i >= 8 ? 32 : 0), g};
};
Place aBit256 = [](int g, int t, int i) {
  return std::pair{(i < 32 || (i >= 64 && i < 96)) ? g : g + 8,
                   t * 32 + (i & 31) + (i >= 64 ? 128 : 0)};
};
Place bBit256 = [](int g, int t, int i) {
  return std::pair{t * 32 + (i & 31) + (i >= 32 ? 128 : 0), g};
};

std::pair<int, int> placeC(int lane, int i) {
  return {lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1)};
}
} // namespace

TEST(Mma, SmallIntegersInEveryShape) {
  const Case cases[] = {
      {"f16 k16", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, Kind::F16, a16816,
       b16816},
      {"f16 k8", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 16, 8, Kind::F16, a1688,
       b1688},
      {"bf16 k16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, Kind::BF16,
       a16816, b16816},
      {"tf32 k8", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, Kind::TF32, aTf32k8,
       bTf32k8},
      {"tf32 k4", "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, Kind::TF32, aTf32k4,
       bTf32k4},
      {"e4m3", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 32, Kind::E4M3, aByte32,
       bByte32},
      {"e5m2", "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e5m2.e5m2.f32", 16, 32,
       Kind::E5M2, aByte32, bByte32},
      {"s8 k32", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16, 32, Kind::S8, aByte32,
       bByte32},
      {"u8 k16", "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.u8.s32", 16, 16, Kind::U8,
       aByte16, bByte16},
      {"s8 m8", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 8, 16, Kind::S8, aByte8, bByte16},
      {"s4", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 16, 64, Kind::S4, aNibble64,
       bNibble64},
      {"u4", "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32", 16, 64, Kind::U4, aNibble64,
       bNibble64},
      {"b1 xor", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 256, Kind::B1,
       aBit256, bBit256},
      {"b1 and", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 256, Kind::B1,
       aBit256, bBit256},
  };
  std::mt19937 rng(5);
  for (const Case &c : cases) {
    SCOPED_TRACE(c.name);
    const bool blackwell = std::string(c.opcode).find("kind::") != std::string::npos;
    auto draw = [&] {
      return c.kind == Kind::B1 ? int(rng() & 1) : int(rng() % 5) - (isUnsigned(c.kind) ? 0 : 2);
    };
    std::vector<int> a(c.m * c.k), b(c.k * 8), acc(c.m * 8);
    for (int &v : a)
      v = draw();
    for (int &v : b)
      v = draw();
    for (int &v : acc)
      v = int(rng() % 100) - 50;
    auto wordsA =
        pack(c.kind, c.m * c.k / 32, c.a, [&](int r, int col) { return a[r * c.k + col]; });
    auto wordsB = pack(c.kind, c.k * 8 / 32, c.b, [&](int r, int col) { return b[r * 8 + col]; });
    const int regsC = c.m * 8 / 32;
    std::vector<uint32_t> wordsC(regsC * 32);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < regsC; ++i) {
        auto [row, col] = placeC(lane, i);
        int v = acc[row * 8 + col];
        wordsC[i * 32 + lane] = isFloat(c.kind) ? std::bit_cast<uint32_t>(float(v)) : uint32_t(v);
      }
    auto got = run(c.opcode, wordsA, wordsB, wordsC, blackwell ? "sm_120a" : "sm_90a",
                   blackwell ? "sm_120a" : "sm_90a");
    ASSERT_EQ(got.size(), wordsC.size());
    bool isXor = std::string(c.name) == "b1 xor";
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < regsC; ++i) {
        auto [row, col] = placeC(lane, i);
        int want = acc[row * 8 + col];
        for (int k = 0; k < c.k; ++k) {
          int x = a[row * c.k + k], y = b[k * 8 + col];
          want += isXor ? x ^ y : x * y;
        }
        uint32_t word = got[i * 32 + lane];
        ASSERT_EQ(isFloat(c.kind) ? int(std::bit_cast<float>(word)) : int(word), want)
            << "row " << row << " column " << col;
      }
  }
}

TEST(Mma, HalfAccumulators) {
  std::vector<uint32_t> a(128, 0x3c003c00), b(64, 0x40004000),
      c(64, 0x3c004000); // 1, 2, and pairs (2, 1)
  auto got = run("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", a, b, c, "sm_80");
  for (uint32_t w : got)
    EXPECT_EQ(w, 0x50205040u); // 33 and 34
}

TEST(Mma, AccumulatesAsTheChipDoes) {
  // C = 1 and 16 equal products: what survives alignment tells the architectures apart.
  auto result = [](float product, const char *chip) {
    uint32_t half = uint32_t(encode(Kind::F16, 1));
    uint32_t small = uint32_t(encode(Kind::F16, product));
    std::vector<uint32_t> a(128, half | half << 16), b(64, small | small << 16), c(128, 0x3f800000);
    return std::bit_cast<float>(
        run("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", a, b, c, chip)[0]);
  };
  EXPECT_EQ(result(0x1p-24f, "sm_80"), 1 + 0x1p-20f);
  EXPECT_EQ(result(0x1p-24f, "sm_90a"), 1 + 0x1p-20f);
  // 2^-25 is no f16 number: halve the other factor.
  auto halved = [&](const char *chip) {
    uint32_t one = uint32_t(encode(Kind::F16, 1)) - 0x400, tiny = 1; // 0.5 * 2^-24
    std::vector<uint32_t> a(128, one | one << 16), b(64, tiny | tiny << 16), c(128, 0x3f800000);
    return std::bit_cast<float>(
        run("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", a, b, c, chip)[0]);
  };
  EXPECT_EQ(halved("sm_80"), 1.0f);
  EXPECT_EQ(halved("sm_90a"), 1 + 0x1p-21f);
}

namespace {
/// An instruction that computes the dot products of `rows` records side by side: record r is row r
/// of A, column r of B and the element of C there. Volta's does so in each of its four quad pairs.
struct DotForm {
  Kind kind, result;
  int k, rows;
  Place a, b, c;
  std::string opcode(const std::string &shape) const {
    std::string d = nameOf(result), x = nameOf(kind);
    return "mma.sync.aligned." + shape + ".row.col." + d + "." + x + "." + x + "." + d;
  }
};

DotForm dotForm(Kind kind, Kind result, int k, bool isVolta) {
  if (isVolta) {
    Place a = [](int g, int t, int i) { return std::pair{g % 4 * 8 + t + (g >= 4 ? 4 : 0), i}; };
    Place b = [](int g, int t, int i) { return std::pair{i, g % 4 * 8 + t + (g >= 4 ? 4 : 0)}; };
    Place c = [result](int g, int t, int i) {
      int half = g >= 4 ? 4 : 0;
      auto [row, col] = result == Kind::F16
                            ? std::pair{t + half, i}
                            : std::pair{(t & 1) + (i & 2) + half, (i & 4) + (t & 2) + (i & 1)};
      return std::pair{g % 4 * 8 + row, g % 4 * 8 + col};
    };
    return {kind, result, k, 32, a, b, c};
  }
  Place c = [](int g, int t, int i) { return placeC(g * 4 + t, i); };
  Place a = kind == Kind::TF32 ? aTf32k4 : k == 8 ? a1688 : k == 16 ? a16816 : aByte32;
  Place b = kind == Kind::TF32 ? bTf32k4 : k == 8 ? b1688 : k == 16 ? b16816 : bByte32;
  return {kind, result, k, 8, a, b, c};
}

/// Counts the recorded results that the emulated instruction gives, bit for bit.
size_t countReproduced(const mpcore::numerics::test::RecordedSet &set, const DotForm &form,
                       const std::string &shape, const std::string &chip,
                       const std::string &target) {
  size_t equal = 0;
  const int elements = form.rows == 32 ? 4 : 16 * form.k / 32,
            elementsB = form.rows == 32 ? 4 : 8 * form.k / 32;
  const int elementsC = form.rows == 32 ? 8 : 4;
  for (size_t first = 0; first < set.d.size(); first += form.rows) {
    auto isThere = [&](int row) { return row < form.rows && first + row < set.d.size(); };
    auto a = packBits(form.kind, elements, form.a, [&](int row, int k) -> uint64_t {
      return isThere(row) ? nearestBits(form.kind, set.a[(first + row) * set.k + k]) : 0;
    });
    auto b = packBits(form.kind, elementsB, form.b, [&](int k, int col) -> uint64_t {
      return isThere(col) ? nearestBits(form.kind, set.b[(first + col) * set.k + k]) : 0;
    });
    auto c = packBits(form.result, elementsC, form.c, [&](int row, int col) -> uint64_t {
      return row == col && isThere(row) ? nearestBits(form.result, set.c[first + row]) : 0;
    });
    auto d = run(form.opcode(shape), a, b, c, chip, target);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < elementsC; ++i)
        if (auto [row, col] = form.c(lane / 4, lane % 4, i); row == col && isThere(row))
          equal += element(d, form.result, lane, i) == nearestBits(form.result, set.d[first + row]);
  }
  return equal;
}
} // namespace

// The emulator gives the results that GPUs returned, through the instruction that was recorded.
TEST(Mma, EveryRecordedResult) {
  using namespace mpcore::numerics::test;
  std::string why;
  auto root = recordedVectors(why);
  if (!root)
    GTEST_SKIP() << why;
  const std::pair<const char *, const char *> gpus[] = {
      {"V100", "sm_70"}, {"A100", "sm_80"}, {"A2", "sm_86"},   {"Ada", "sm_89"},
      {"L40S", "sm_89"}, {"H100", "sm_90"}, {"H200", "sm_90"}, {"B200", "sm_100"}};
  const std::pair<const char *, Kind> types[] = {{"fp16", Kind::F16},
                                                 {"bf16", Kind::BF16},
                                                 {"tf32", Kind::TF32},
                                                 {"E4M3", Kind::E4M3},
                                                 {"E5M2", Kind::E5M2}};
  const std::pair<const char *, Kind> results[] = {{"fp32", Kind::F32}, {"fp16", Kind::F16}};
  unsigned sets = 0;
  for (auto [gpu, chip] : gpus)
    for (auto [type, kind] : types)
      for (auto [resultName, result] : results) {
        auto set = readRecordedSet(*root, gpu, type, resultName);
        bool isWgmma = std::string(chip) == "sm_90" && bitsOf(kind) == 8 && result == Kind::F32;
        if (!set || isWgmma)
          continue;
        SCOPED_TRACE(std::string(gpu) + " " + type + " -> " + resultName);
        ++sets;
        bool isVolta = std::string(chip) == "sm_70";
        std::string shape = (isVolta ? "m8n8k" : "m16n8k") + std::to_string(set->k);
        DotForm form = dotForm(kind, result, set->k, isVolta);
        EXPECT_EQ(countReproduced(*set, form, shape, chip, isVolta ? "sm_70" : "sm_90a"),
                  set->d.size());
      }
  EXPECT_EQ(sets, 44u);
  // Another chip's arithmetic does not give them.
  auto hopper = readRecordedSet(*root, "H100", "fp16", "fp32");
  ASSERT_TRUE(hopper);
  EXPECT_LT(countReproduced(*hopper, dotForm(Kind::F16, Kind::F32, 16, false), "m16n8k16", "sm_80",
                            "sm_90a"),
            hopper->d.size());
}

TEST(Mma, PartOfAWarpIsAFault) {
  auto m = load(
      R"(.visible .entry k() { .reg .pred p; .reg .b32 a, t; mov.u32 t, %tid.x; setp.lt.u32 p, t, 9; mov.u32 a, 0;
    @p mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {a,a,a,a}, {a,a}, {a}, {a,a,a,a}; ret; })");
  Device device;
  Fault f = faultOf(device.launch(*m, "k", {1}, {32}, 0, {}));
  EXPECT_EQ(f.kind, FaultKind::Divergence);
  EXPECT_EQ(f.lane, 9u);
}

TEST(Mma, RefusesWhatDoesNotExist) {
  for (const char *bad : {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%wa,%wa,%wa,%wa}, "
                          "{%wa,%wa,%wa,%wa}, {%wa,%wa}, {%wa,%wa,%wa,%wa};",
                          "mma.sync.aligned.m16n8k16.row.col.bf16.bf16.bf16.bf16 {%wa,%wa}, "
                          "{%wa,%wa,%wa,%wa}, {%wa,%wa}, {%wa,%wa};",
                          "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%wa,%wa,%wa,%wa}, "
                          "{%wa,%wa,%wa,%wa}, {%wa,%wa}, {%wa,%wa,%wa,%wa};",
                          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%wa,%wa}, "
                          "{%wa,%wa,%wa,%wa}, {%wa,%wa}, {%wa,%wa,%wa,%wa};",
                          "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%wa,%wa,%wa,%wa}, "
                          "{%wa,%wa}, {%wa,%wa}, {%wa,%wa,%wa,%wa}, %wa, 4;",
                          "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%wa,%wa}, [%wa];"})
    EXPECT_NE(loadError(evalText(bad, 'w')).find("test.ptx:"), std::string::npos) << bad;
}

// 1024 bytes of shared memory hold 512 numbered halves; then the body, then %r0..%r3 are stored.
static std::vector<uint16_t> moved(const std::string &body, LaunchStats *stats = nullptr) {
  auto m = load(
      R"(.visible .entry k(.param .u64 P) { .shared .align 16 .b8 s[1024]; .reg .b32 %t, %a, %i, %v, %r<4>; .reg .b64 %p, %o; .reg .pred %q;
    ld.param.u64 %p, [P]; mov.u32 %t, %tid.x; mov.u32 %i, %t;
    FILL: shl.b32 %a, %i, 2; mov.u32 %v, s; add.u32 %a, %a, %v; shl.b32 %v, %i, 17; shl.b32 %r0, %i, 1; or.b32 %v, %v, %r0; or.b32 %v, %v, 65536;
    st.shared.b32 [%a], %v; add.u32 %i, %i, 32; setp.lt.u32 %q, %i, 256; @%q bra FILL;
    bar.sync 0; )" +
      body + R"(
    shl.b32 %i, %t, 4; cvt.u64.u32 %o, %i; add.u64 %p, %p, %o; st.global.v4.b32 [%p], {%r0, %r1, %r2, %r3}; ret; })");
  Device device;
  DevicePtr p = take(device.alloc(512));
  auto r = device.launch(*m, "k", {1}, {32}, 0, {KernelArg::value(p)});
  if (!r) {
    ADD_FAILURE() << llvm::toString(r.takeError());
    return {};
  }
  if (stats)
    *stats = *r;
  return download<uint16_t>(device, p, 256);
}
// Lane l gives row l: 16 bytes at 16 l (matrices follow each other), or 32 bytes apart.
static const char *rows = "mov.u32 %a, s; shl.b32 %v, %t, 4; add.u32 %a, %a, %v; ";

TEST(Ldmatrix, PlainAndTransposed) {
  auto x4 = moved(std::string(rows) +
                  "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];");
  auto t4 = moved(std::string(rows) +
                  "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%a];");
  for (int lane = 0; lane < 32; ++lane)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 2; ++e) {
        EXPECT_EQ(x4[lane * 8 + j * 2 + e], 64 * j + lane / 4 * 8 + lane % 4 * 2 + e);
        EXPECT_EQ(t4[lane * 8 + j * 2 + e], 64 * j + (lane % 4 * 2 + e) * 8 + lane / 4);
      }
}

TEST(Ldmatrix, CountsConflictsAndChecksAlignment) {
  LaunchStats stats;
  moved(std::string(rows) + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];",
        &stats);
  EXPECT_EQ(stats.bankConflicts, 0u);
  // Rows 128 bytes apart: all eight in the same banks.
  moved("mov.u32 %a, s; and.b32 %v, %t, 7; shl.b32 %v, %v, 7; add.u32 %a, %a, %v; "
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];",
        &stats);
  EXPECT_EQ(stats.bankConflicts, 28u);
}

TEST(Stmatrix, UndoesLdmatrix) {
  auto got =
      moved(std::string(rows) +
            R"(ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a]; bar.sync 0;
    movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1; stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a], {%r0, %r1, %r2, %r3}; bar.sync 0;
    mov.u32 %v, s; shl.b32 %i, %t, 4; add.u32 %v, %v, %i; ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%v];)");
  for (int i = 0; i < 256; ++i) {
    int r = i % 64 / 8, c = i % 8;
    EXPECT_EQ(got[i], i / 64 == 1 ? 64 + c * 8 + r : i);
  }
}
