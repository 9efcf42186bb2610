// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every type of wgmma, dense and sparse, A in shared memory and in registers, on random tiles.
// Operands lie in shared memory without a swizzle: core matrices of eight rows of 16 bytes.

#include "../Numerics/RecordedVectors.h"
#include "MatrixSupport.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
struct Form {
  unsigned n, k; // k: dense
  Kind a, b, d;
  bool sparse = false, aInRegisters = false;
  unsigned selector = 0;
  std::string mods = "";
  unsigned stored() const { return sparse ? k / 2 : k; }
};

/// Bytes of an operand of `rows` rows of `k` elements: core matrices follow each other along k,
/// then along the rows.
struct Image {
  Kind kind;
  unsigned k;
  unsigned rowGroup() const { return k * bitsOf(kind) / 8 * 8; } // eight rows
  std::vector<uint32_t> words;
  /// A word at least for each thread that copies.
  Image(Kind kind, unsigned rows, unsigned k)
      : kind(kind), k(k), words(std::max(128u, rows * k * bitsOf(kind) / 32)) {}
  void set(unsigned row, unsigned column, uint64_t bits) {
    const unsigned bit = column * bitsOf(kind), chunk = bit / 128;
    const unsigned at = row / 8 * rowGroup() * 8 + chunk * 1024 + row % 8 * 128 + bit % 128;
    const uint32_t mask = bitsOf(kind) == 32 ? ~0u : ((1u << bitsOf(kind)) - 1) << (at % 32);
    words[at / 32] = (words[at / 32] & ~mask) | uint32_t(bits) << (at % 32);
  }
};

std::vector<Form> allForms() {
  using enum Kind;
  std::vector<Form> forms;
  auto add = [&](Form f, unsigned selectors, bool sparseToo = true) {
    static const unsigned columns[] = {8, 24, 64, 256};
    for (bool inRegisters : {false, true}) {
      f.aInRegisters = inRegisters;
      f.n = columns[forms.size() % 4];
      forms.push_back(f);
      for (unsigned s = 0; sparseToo && s < selectors; ++s) {
        Form twice = f;
        twice.k *= 2;
        twice.sparse = true;
        twice.selector = s;
        twice.n = columns[forms.size() % 4];
        forms.push_back(twice);
      }
    }
  };
  add({8, 16, F16, F16, F32}, 2);
  add({8, 16, F16, F16, F16}, 2);
  add({8, 16, BF16, BF16, F32}, 2);
  add({8, 8, TF32, TF32, F32}, 2);
  for (Kind a : {E4M3, E5M2})
    for (Kind b : {E4M3, E5M2})
      for (Kind d : {F32, F16})
        add({8, 32, a, b, d}, 1);
  for (Kind a : {S8, U8})
    for (Kind b : {S8, U8}) {
      add({8, 32, a, b, S32}, 1);
      add({8, 32, a, b, S32, false, false, 0, ".satfinite"}, 1);
    }
  add({8, 256, B1, B1, S32}, 0, false);
  return forms;
}

// Files: A's image or fragments, B's image, D's registers, metadata.
MatrixKernel kernelOf(const Form &f, const Image &a, const Image &b, unsigned registersA,
                      unsigned registersD) {
  MatrixKernel kernel;
  kernel.threads = 128;
  kernel.declarations = ".shared .align 128 .b8 sa[8192];\n.shared .align 128 .b8 sb[32768];\n";
  kernel.inputs = {f.aInRegisters ? registersA : 0, 0, registersD, f.sparse ? 1u : 0u};
  kernel.results = registersD;
  auto copy = [](const char *param, const char *to, size_t bytes, const char *label) {
    return std::string("ld.param.u64 %l3, [") + param + "]; mov.u32 %v, %t;\n" + label +
           ": mul.wide.u32 %o, %v, 4; add.u64 %o, %l3, %o; ld.global.b32 %w0, [%o];\n"
           "shl.b32 %w1, %v, 2; mov.u32 %w2, " +
           to +
           "; add.u32 %w1, %w1, %w2; st.shared.b32 [%w1], %w0;\n"
           "add.u32 %v, %v, 128; setp.lt.u32 %q, %v, " +
           std::to_string(bytes / 4) + "; @%q bra " + label + ";\n";
  };
  auto descriptor = [](const char *reg, const char *of, const Image &image) {
    // Start address, 128 bytes from core matrix to core matrix along k, and eight rows further on.
    const uint64_t rest = uint64_t(128 / 16) << 16 | uint64_t(image.rowGroup() / 16) << 32;
    return std::string("mov.u32 %w0, ") + of + "; shr.u32 %w0, %w0, 4; cvt.u64.u32 " + reg +
           ", %w0; or.b64 " + reg + ", " + reg + ", " + std::to_string(rest) + ";\n";
  };
  std::string s;
  if (!f.aInRegisters)
    s += copy("A", "sa", a.words.size() * 4, "COPYA") + descriptor("%l0", "sa", a);
  s += copy("B", "sb", b.words.size() * 4, "COPYB") + descriptor("%l1", "sb", b);
  for (unsigned i = 0; i < registersD; ++i)
    s += "mov.b32 %d" + std::to_string(i) + ", %c" + std::to_string(i) + "; ";
  s += "\nfence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;\nsetp.eq.u32 %q, 0, "
       "0;\nwgmma.mma_async" +
       std::string(f.sparse ? ".sp" : "") + ".sync.aligned.m64n" + std::to_string(f.n) + "k" +
       std::to_string(f.k) + f.mods + "." + nameOf(f.d) + "." + nameOf(f.a) + "." + nameOf(f.b) +
       (f.a == Kind::B1 ? ".and.popc " : " ") + registers("%d", registersD) + ", " +
       (f.aInRegisters ? registers("%a", 4) : "%l0") + ", %l1, " +
       (f.sparse ? "%e0, " + std::to_string(f.selector) + ", " : "") + "%q";
  if (f.d != Kind::S32)
    s += ", -1, 1";
  if (f.a == Kind::F16 || f.a == Kind::BF16)
    s += f.aInRegisters ? ", 0" : ", 0, 0";
  kernel.instruction = s + "; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
  return kernel;
}
} // namespace

TEST(WgmmaForms, SmallIntegersAreTheDenseProduct) {
  std::mt19937 rng(21);
  for (const Form &f : allForms()) {
    SCOPED_TRACE(std::string(nameOf(f.a)) + " " + nameOf(f.b) + " " + nameOf(f.d) + " n " +
                 std::to_string(f.n) + (f.sparse ? " sparse" : "") +
                 (f.aInRegisters ? " A in registers" : "") + f.mods);
    auto draw = [&](Kind k) {
      return k == Kind::B1 ? int(rng() & 1) : int(rng() % 5) - (isUnsigned(k) ? 0 : 2);
    };
    const unsigned bits = bitsOf(f.a), width = bits == 32 ? 2 : 4, perD = 32 / bitsOf(f.d);
    std::vector<std::vector<int>> dense(64, std::vector<int>(f.k)),
        stored(64, std::vector<int>(f.stored())), b(f.k, std::vector<int>(f.n));
    std::vector<uint32_t> metadata(128);
    for (uint32_t &word : metadata)
      word = rng();
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned group = 0; group < (f.sparse ? f.k / width : 0); ++group) {
        unsigned places[2] = {unsigned(rng() % 4), 0}, nibble;
        places[1] = (places[0] + 1 + rng() % 3) % 4;
        nibble = places[0] | places[1] << 2;
        if (width == 2)
          places[0] = rng() % 2, nibble = places[0] ? 0b1110 : 0b0100;
        for (unsigned i = 0; i < width / 2; ++i)
          dense[row][group * width + places[i]] = stored[row][group * width / 2 + i] = draw(f.a);
        // The warp's lanes 4 g + t: 16-bit and tf32 rows g and g + 8 in one word, 8-bit rows in
        // neighbouring lanes.
        const unsigned g = row % 8, high = row % 16 / 8;
        const unsigned t = bits >= 16 ? 2 * f.selector + group / 4 : high + 2 * (group / 8);
        const unsigned at = bits >= 16 ? 16 * high + 4 * (group % 4) : 4 * (group % 8);
        uint32_t &word = metadata[row / 16 * 32 + 4 * g + t];
        word = (word & ~(15u << at)) | nibble << at;
      }
    if (!f.sparse)
      for (unsigned row = 0; row < 64; ++row)
        for (unsigned k = 0; k < f.k; ++k)
          dense[row][k] = stored[row][k] = draw(f.a);
    Image imageA(f.a, 64, f.stored()), imageB(f.b, f.n, f.k);
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned s = 0; s < f.stored(); ++s)
        imageA.set(row, s, encode(f.a, stored[row][s]));
    for (unsigned k = 0; k < f.k; ++k)
      for (unsigned n = 0; n < f.n; ++n)
        imageB.set(n, k, encode(f.b, b[k][n] = draw(f.b)));

    const unsigned registersD = f.n / 2 / perD;
    std::array<std::vector<uint32_t>, 6> files = {
        imageA.words, imageB.words, std::vector<uint32_t>(registersD * 128), metadata};
    const unsigned perA = 32 / bits;
    if (f.aInRegisters) {
      files[0].assign(4 * 128, 0);
      for (unsigned thread = 0; thread < 128; ++thread)
        for (unsigned i = 0; i < 4 * perA; ++i) {
          const unsigned g = thread % 32 / 4, t = thread % 4, reg = i / perA;
          const unsigned row = thread / 32 * 16 + g + (reg % 2 ? 8 : 0),
                         column = t * perA + i % perA + (reg >= 2 ? 4 * perA : 0);
          files[0][reg * 128 + thread] |= uint32_t(encode(f.a, stored[row][column]))
                                          << (bits == 32 ? 0 : i % perA * bits);
        }
    }
    auto spot = [](unsigned thread, unsigned i) {
      return std::pair{thread / 32 * 16 + thread % 32 / 4 + (i / 2 % 2 ? 8 : 0),
                       i / 4 * 8 + thread % 4 * 2 + i % 2};
    };
    std::vector<std::vector<int64_t>> c(64, std::vector<int64_t>(f.n));
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned i = 0; i < f.n / 2; ++i) {
        auto [row, column] = spot(thread, i);
        c[row][column] =
            f.d == Kind::S32 ? (rng() % 4 ? int32_t(rng()) : INT32_MAX) : int(rng() % 41) - 20;
        files[2][i / perD * 128 + thread] |= uint32_t(encode(f.d, double(c[row][column])))
                                             << (perD == 1 ? 0 : i % 2 * 16);
      }
    auto got = kernelOf(f, imageA, imageB, 4, registersD).run(files, "sm_90a", "sm_90a");
    ASSERT_FALSE(got.empty());
    const int sign = f.d == Kind::S32 ? 1 : -1; // the instruction negates A
    for (unsigned thread = 0; thread < 128; ++thread)
      for (unsigned i = 0; i < f.n / 2; ++i) {
        auto [row, column] = spot(thread, i);
        int64_t want = c[row][column];
        for (unsigned k = 0; k < f.k; ++k)
          want += sign * int64_t(dense[row][k]) * b[k][column];
        if (f.d == Kind::S32)
          want = f.mods.empty() ? int32_t(uint32_t(want))
                                : std::clamp<int64_t>(want, INT32_MIN, INT32_MAX);
        uint32_t word = got[i / perD * 128 + thread];
        if (perD == 2)
          word = word >> (i % 2 * 16) & 0xffff;
        ASSERT_EQ(decode(f.d, word), double(want)) << "row " << row << " column " << column;
      }
  }
}

// The emulator gives what GPUs returned for products of fp8 into f32, eight records side by side; C
// took no part.
TEST(WgmmaForms, EveryRecordedResult) {
  using namespace mpcore::numerics::test;
  std::string why;
  auto root = recordedVectors(why);
  if (!root)
    GTEST_SKIP() << why;
  for (const char *gpu : {"H100", "H200"})
    for (auto [type, kind] : {std::pair{"E4M3", Kind::E4M3}, std::pair{"E5M2", Kind::E5M2}}) {
      SCOPED_TRACE(std::string(gpu) + " " + type);
      auto set = readRecordedSet(*root, gpu, type, "fp32");
      ASSERT_TRUE(set);
      Form form = {8, set->k, kind, kind, Kind::F32};
      const unsigned registersD = form.n / 2;
      size_t equal = 0;
      for (size_t first = 0; first < set->d.size(); first += 8) {
        const unsigned count = unsigned(std::min<size_t>(8, set->d.size() - first));
        Image a(kind, 64, set->k), b(kind, form.n, set->k);
        for (unsigned record = 0; record < count; ++record)
          for (unsigned k = 0; k < set->k; ++k) {
            const size_t at = (first + record) * set->k + k;
            a.set(record, k, nearestBits(kind, set->a[at]) ^ 0x80); // the instruction negates A
            b.set(record, k, nearestBits(kind, set->b[at]));
          }
        auto got = kernelOf(form, a, b, 4, registersD)
                       .run({a.words, b.words, std::vector<uint32_t>(registersD * 128),
                             std::vector<uint32_t>(128)},
                            "sm_90a", "sm_90a");
        ASSERT_FALSE(got.empty());
        for (unsigned thread = 0; thread < 32; ++thread)
          for (unsigned i = 0; i < 2; ++i) // rows below 8
            if (const unsigned row = thread / 4; row == thread % 4 * 2 + i && row < count)
              equal += got[i * 128 + thread] == nearestBits(Kind::F32, set->d[first + row]);
      }
      EXPECT_EQ(equal, set->d.size());
    }
}
