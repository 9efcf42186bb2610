// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables beside the emulator, which has its own: matrix instructions run on fragments that the
// layouts distribute and collect, and memory accesses at random addresses are counted.

#include "../Emulator/TestSupport.h"
#include "mp/Layouts/Fragments.h"

#include "gtest/gtest.h"

#include <map>
#include <random>
#include <set>

using namespace mpcore::layouts;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {

using Bytes = std::vector<uint8_t>;

/// Runs `body` in one block. It finds its thread number in %t, the addresses of the input and of
/// the output in %in and %out, and 64 KiB of shared memory at sm.
struct Launched {
  Bytes output;
  LaunchStats stats;
};
Launched run(const std::string &registers, const std::string &body, unsigned threads,
             const Bytes &input, size_t outputBytes) {
  auto module = load(R"(.shared .align 1024 .b8 sm[49152];
.visible .entry k(.param .u64 IN, .param .u64 OUT) {
  .reg .b32 %t, %s, %u; .reg .b64 %in, %out, %w; .reg .pred %p;
)" + registers + R"(
  mov.u32 %t, %tid.x; mov.u32 %s, sm; ld.param.u64 %in, [IN]; ld.param.u64 %out, [OUT];
)" + body + "\n  ret;\n}\n");
  if (!module)
    return {Bytes(outputBytes), {}};
  Device device;
  DevicePtr in = upload(device, input);
  DevicePtr out = upload(device, Bytes(outputBytes));
  auto stats =
      device.launch(*module, "k", {1}, {threads}, 0, {KernelArg::value(in), KernelArg::value(out)});
  if (!stats) {
    ADD_FAILURE() << llvm::toString(stats.takeError());
    return {Bytes(outputBytes), {}};
  }
  return {download<uint8_t>(device, out, outputBytes), *stats};
}

std::string number(uint64_t value) { return std::to_string(value); }

/// "{%a0, %a1, ...}"
std::string list(const std::string &prefix, unsigned count) {
  std::string text = "{";
  for (unsigned k = 0; k < count; ++k)
    text += (k ? ", %" : "%") + prefix + number(k);
  return text + "}";
}

/// Integers that every element type represents.
struct Matrix {
  unsigned rows, columns;
  std::vector<int> values;
  Matrix(unsigned rows, unsigned columns) : rows(rows), columns(columns), values(rows * columns) {}
  int &at(const Point &p) { return values[p[Dim::Row] * columns + p[Dim::Column]]; }
  int &at(unsigned row, unsigned column) { return values[row * columns + column]; }
  static Matrix random(unsigned rows, unsigned columns, int least, std::mt19937 &rng) {
    Matrix m(rows, columns);
    for (int &v : m.values)
      v = least + int(rng() % 3);
    return m;
  }
};

/// The bits of a small integer as an element of the PTX type.
uint64_t encode(llvm::StringRef type, int value) {
  if (type == "f64")
    return std::bit_cast<uint64_t>(double(value));
  const uint32_t f32 = std::bit_cast<uint32_t>(float(value));
  if (type == "f32" || type == "tf32")
    return f32;
  if (type == "bf16")
    return f32 >> 16;
  const unsigned sign = value < 0, magnitude = std::abs(value); // 0, 1 and 2 in small floats
  if (type == "f16")
    return sign << 15 | (magnitude ? (14 + magnitude) << 10 : 0);
  if (type == "e4m3")
    return sign << 7 | (magnitude ? (6 + magnitude) << 3 : 0);
  return uint64_t(value) & 0xffffffff; // integers, cut where they are packed
}

double decode(llvm::StringRef type, uint64_t bits) {
  if (type == "f64")
    return std::bit_cast<double>(bits);
  if (type == "f32")
    return std::bit_cast<float>(uint32_t(bits));
  if (type == "s32")
    return int32_t(bits);
  // f16
  const int exponent = int(bits >> 10 & 31), fraction = int(bits & 1023);
  const double magnitude = exponent ? std::ldexp(1024 + fraction, exponent - 25) : 0;
  return bits >> 15 & 1 ? -magnitude : magnitude;
}

/// The part of a matrix that lane `lane` holds, in registers one after the other.
Bytes fragment(const LinearLayout &layout, Matrix &matrix, llvm::StringRef type, unsigned bits,
               unsigned lane) {
  const unsigned elements = 1u << layout.inputBits(Dim::Register);
  Bytes bytes(std::max(elements * bits / 8, 4u));
  for (unsigned i = 0; i < elements; ++i) {
    uint64_t value = encode(type, matrix.at(layout.apply({{Dim::Register, i}, {Dim::Lane, lane}})));
    for (unsigned bit = 0; bit < bits; ++bit)
      bytes[(i * bits + bit) / 8] |= (value >> bit & 1) << ((i * bits + bit) % 8);
  }
  return bytes;
}

struct MmaCase {
  const char *a, *d;
  unsigned m, k, bits, resultBits;
};

TEST(LayoutsBesideEmulator, MmaSync) {
  const MmaCase cases[] = {{"f16", "f32", 16, 8, 16, 32},   {"f16", "f16", 16, 16, 16, 16},
                           {"bf16", "f32", 16, 16, 16, 32}, {"tf32", "f32", 16, 4, 32, 32},
                           {"tf32", "f32", 16, 8, 32, 32},  {"s8", "s32", 8, 16, 8, 32},
                           {"s8", "s32", 16, 16, 8, 32},    {"s8", "s32", 16, 32, 8, 32},
                           {"e4m3", "f32", 16, 32, 8, 32},  {"s4", "s32", 16, 32, 4, 32},
                           {"s4", "s32", 16, 64, 4, 32},    {"f64", "f64", 8, 4, 64, 64},
                           {"f64", "f64", 16, 16, 64, 64}};
  std::mt19937 rng(1);
  for (const MmaCase &c : cases) {
    Matrix a = Matrix::random(c.m, c.k, -1, rng), b = Matrix::random(c.k, 8, -1, rng),
           start = Matrix::random(c.m, 8, -1, rng);
    LinearLayout layoutA = mmaA(c.m, c.k, c.bits), layoutB = mmaB(c.k, c.bits), layoutC = mmaC(c.m);
    // Registers of A, B and C of each lane.
    Bytes input;
    unsigned sizes[3] = {};
    for (unsigned lane = 0; lane < 32; ++lane) {
      const Bytes parts[] = {fragment(layoutA, a, c.a, c.bits, lane),
                             fragment(layoutB, b, c.a, c.bits, lane),
                             fragment(layoutC, start, c.d, c.resultBits, lane)};
      for (unsigned k = 0; k < 3; ++k) {
        input.insert(input.end(), parts[k].begin(), parts[k].end());
        sizes[k] = parts[k].size();
      }
    }
    const unsigned word = c.bits == 64 ? 8 : 4, perLane = sizes[0] + sizes[1] + sizes[2];
    const std::string type = c.bits == 64 ? "f64" : "b32";
    auto resultType = c.d == std::string("f32") ? std::string("f32") : type;
    std::string registers =
        "  .reg ." + type + " %a<16>, %b<16>; .reg ." + resultType + " %c<8>, %d<8>;";
    std::string body = "  mul.wide.u32 %w, %t, " + number(perLane) + "; add.u64 %in, %in, %w;\n";
    unsigned at = 0;
    for (unsigned k = 0; k < 3; ++k)
      for (unsigned r = 0; r < sizes[k] / word; ++r, at += word)
        body += "  ld.global." + std::string(k == 2 ? resultType : type) + " %" + "abc"[k] +
                number(r) + ", [%in+" + number(at) + "];\n";
    body += std::string("  mma.sync.aligned.m") + number(c.m) + "n8k" + number(c.k) + ".row.col." +
            c.d + "." + c.a + "." + c.a + "." + c.d + " " + list("d", sizes[2] / word) + ", " +
            list("a", sizes[0] / word) + ", " + list("b", sizes[1] / word) + ", " +
            list("c", sizes[2] / word) + ";\n";
    body += "  mul.wide.u32 %w, %t, " + number(sizes[2]) + "; add.u64 %out, %out, %w;\n";
    for (unsigned r = 0; r < sizes[2] / word; ++r)
      body +=
          "  st.global." + resultType + " [%out+" + number(r * word) + "], %d" + number(r) + ";\n";
    Launched result = run(registers, body, 32, input, 32 * sizes[2]);

    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < 1u << layoutC.inputBits(Dim::Register); ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, result.output.data() + lane * sizes[2] + i * c.resultBits / 8,
                    c.resultBits / 8);
        Point p = layoutC.apply({{Dim::Register, i}, {Dim::Lane, lane}});
        int expected = start.at(p);
        for (unsigned k = 0; k < c.k; ++k)
          expected += a.at(p[Dim::Row], k) * b.at(k, p[Dim::Column]);
        ASSERT_EQ(decode(c.d, bits), expected)
            << c.a << " k" << c.k << " lane " << lane << " " << i;
      }
  }
}

/// A warp stores 512 bytes of shared memory or loads them by ldmatrix; element e of memory is e.
TEST(LayoutsBesideEmulator, LdmatrixAndStmatrix) {
  for (unsigned count : {1u, 2u, 4u})
    for (bool transposed : {false, true}) {
      // Rows of matrices lie at random multiples of 16 bytes: 32 lanes give as many addresses.
      std::vector<uint32_t> rows(32);
      for (uint32_t k = 0; k < 32; ++k)
        rows[k] = (k * 11 + 5) % 32 * 16;
      Bytes input(32 * 4);
      std::memcpy(input.data(), rows.data(), input.size());
      const std::string suffix = std::string(".sync.aligned.m8n8.x") + number(count) +
                                 (transposed ? ".trans" : "") + ".shared.b16 ";
      std::string address =
          "  mul.wide.u32 %w, %t, 4; add.u64 %in, %in, %w; ld.global.b32 %u, [%in]; "
          "add.u32 %u, %u, %s;\n";
      std::string fill =
          "  mov.u32 %i, %t;\nFILL: shl.b32 %v, %i, 1; add.u32 %v, %v, %s; cvt.u16.u32 %h, %i; "
          "st.shared.b16 [%v], %h; add.u32 %i, %i, 32; setp.lt.u32 %p, %i, 256; @%p bra FILL;\n"
          "  bar.sync 0;\n";
      std::string store = "  mul.wide.u32 %w, %t, 16; add.u64 %out, %out, %w;\n";
      for (unsigned j = 0; j < count; ++j)
        store += "  st.global.b32 [%out+" + number(4 * j) + "], %r" + number(j) + ";\n";
      const std::string registers = "  .reg .b32 %r<4>, %i, %v; .reg .b16 %h;";
      Launched loaded =
          run(registers,
              fill + address + "  ldmatrix" + suffix + list("r", count) + ", [%u];\n" + store, 32,
              input, 32 * 16);
      LinearLayout layout = ldmatrix(count, transposed), pointers = ldmatrixPointers(count);
      // The lane that points at each row.
      std::map<std::pair<uint32_t, uint32_t>, uint32_t> pointing;
      for (uint32_t lane = 0; lane < 8 * count; ++lane) {
        Point row = pointers.apply({{Dim::Lane, lane}});
        pointing[{row[Dim::Matrix], row[Dim::Row]}] = lane;
      }
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t i = 0; i < 2 * count; ++i) {
          Point p = layout.apply({{Dim::Register, i}, {Dim::Lane, lane}});
          const uint32_t owner = pointing[{p[Dim::Matrix], p[Dim::Row]}];
          uint16_t found = 0;
          std::memcpy(&found, loaded.output.data() + lane * 16 + i * 2, 2);
          EXPECT_EQ(found, rows[owner] / 2 + p[Dim::Column]);
        }
      // stmatrix puts them back: what was loaded and stored to the same rows changes nothing.
      std::string copyBack =
          "  bar.sync 0;\n  mov.u32 %i, %t;\nCLEAR: shl.b32 %v, %i, 2; add.u32 %v, %v, %s; "
          "mov.b32 %r3, 0; st.shared.b32 [%v], %r3; add.u32 %i, %i, 32; "
          "setp.lt.u32 %p, %i, 128; @%p bra CLEAR;\n  bar.sync 0;\n";
      std::string values;
      for (unsigned j = 0; j < count; ++j) // element i of lane l is 8 l + i
        values += "  shl.b32 %i, %t, 3; add.u32 %i, %i, " + number(2 * j) +
                  "; add.u32 %v, %i, 1; shl.b32 %v, %v, 16; or.b32 %q" + number(j) + ", %i, %v;\n";
      std::string read =
          "  bar.sync 0;\n  shl.b32 %v, %t, 4; add.u32 %v, %v, %s; ld.shared.v4.b32 "
          "{%r0, %r1, %r2, %r3}, [%v]; mul.wide.u32 %w, %t, 16; add.u64 %out, %out, %w; "
          "st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};\n";
      Launched stored = run("  .reg .b32 %r<4>, %q<4>, %i, %v;",
                            address + copyBack + values + "  stmatrix" + suffix + "[%u], " +
                                list("q", count) + ";\n" + read,
                            32, input, 32 * 16);
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t i = 0; i < 2 * count; ++i) {
          Point p = layout.apply({{Dim::Register, i}, {Dim::Lane, lane}});
          const uint32_t owner = pointing[{p[Dim::Matrix], p[Dim::Row]}];
          uint16_t found = 0;
          std::memcpy(&found, stored.output.data() + rows[owner] + 2 * p[Dim::Column], 2);
          EXPECT_EQ(found, 8 * lane + i);
        }
    }
}

/// D = A B of bf16 by wgmma from shared memory: 64 rows, n columns, one span of the swizzle deep.
void wgmmaCase(unsigned n, Swizzle mode, Dim contiguousA, std::mt19937 &rng) {
  const unsigned span = unsigned(mode), k = std::max(16u, span / 2);
  const unsigned kBits = llvm::bit_width(k) - 1, nBits = 5 + (n > 32);
  Matrix a = Matrix::random(64, k, -1, rng), b = Matrix::random(k, 64, -1, rng);
  LinearLayout tileA = sharedTile(6, kBits, 16, contiguousA, mode),
               tileB = sharedTile(kBits, nBits, 16, Dim::Row, mode);
  const unsigned bytesA = 128 * k, bytesB = (2 * k) << nBits;
  Bytes input(bytesA + bytesB);
  auto put = [&](const LinearLayout &tile, unsigned base, Matrix &matrix, const Point &p) {
    uint16_t value = encode("bf16", matrix.at(p));
    std::memcpy(input.data() + base + tile.apply(p)[Dim::Byte], &value, 2);
  };
  for (uint32_t row = 0; row < 64; ++row)
    for (uint32_t column = 0; column < k; ++column)
      put(tileA, 0, a, {{Dim::Row, row}, {Dim::Column, column}});
  for (uint32_t row = 0; row < k; ++row)
    for (uint32_t column = 0; column < 1u << nBits; ++column)
      put(tileB, bytesA, b, {{Dim::Row, row}, {Dim::Column, column}});

  std::string body =
      "  mov.u32 %i, %t;\nCOPY: shl.b32 %v, %i, 2; cvt.u64.u32 %w, %v; add.u64 %w, %w, %in; "
      "ld.global.b32 %u, [%w]; add.u32 %v, %v, %s; st.shared.b32 [%v], %u; add.u32 %i, %i, 128; "
      "setp.lt.u32 %p, %i, " +
      number(input.size() / 4) +
      "; @%p bra COPY;\n"
      "  fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n";
  // Start address, leading and stride byte offsets over 16, and the mode (manual: matrix
  // descriptor).
  auto descriptor = [&](const std::string &name, unsigned base, unsigned leading, unsigned stride) {
    const uint64_t modeBits = mode == Swizzle::None   ? 0
                              : mode == Swizzle::B128 ? 1
                              : mode == Swizzle::B64  ? 2
                                                      : 3;
    const uint64_t high =
        modeBits << 62 | uint64_t(stride / 16) << 32 | uint64_t(leading / 16) << 16;
    body += "  add.u32 %v, %s, " + number(base) + "; shr.u32 %v, %v, 4; cvt.u64.u32 %" + name +
            ", %v; or.b64 %" + name + ", %" + name + ", " + number(high) + ";\n";
  };
  const bool trans = contiguousA == Dim::Row;
  body += "  setp.ne.u32 %p, 0, 0;\n";
  for (unsigned step = 0; step < k / 16; ++step) {
    // Along a contiguous k a step of 16 is 32 bytes; without a swizzle it is two spans of 16 bytes.
    const bool plain = mode == Swizzle::None;
    if (trans)
      descriptor("da", step * 16 * span, k * span, 8 * span);
    else
      descriptor("da", plain ? step * 2 * 64 * span : step * 32, plain ? 64 * span : 0, 8 * span);
    descriptor("db", bytesA + (plain ? step * 2 * (span << nBits) : step * 32),
               plain ? span << nBits : 0, 8 * span);
    body += "  wgmma.mma_async.sync.aligned.m64n" + number(n) + "k16.f32.bf16.bf16 " +
            list("d", n / 2) + ", %da, %db, %p, 1, 1, " + (trans ? "1" : "0") +
            ", 0;\n"
            "  setp.eq.u32 %p, 0, 0;\n";
  }
  body += "  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
          "  mul.wide.u32 %w, %t, " +
          number(2 * n) + "; add.u64 %out, %out, %w;\n";
  for (unsigned r = 0; r < n / 2; ++r)
    body += "  st.global.f32 [%out+" + number(4 * r) + "], %d" + number(r) + ";\n";
  Launched result = run("  .reg .f32 %d<128>; .reg .b32 %i, %v; .reg .b64 %da, %db;", body, 128,
                        input, 128 * 2 * n);
  RepeatedLayout layout = wgmmaAccumulator(n);
  for (uint32_t thread = 0; thread < 128; ++thread)
    for (uint32_t i = 0; i < n / 2; ++i) {
      Point p =
          layout.apply({{Dim::Register, i}, {Dim::Lane, thread % 32}, {Dim::Warp, thread / 32}});
      float found = 0;
      std::memcpy(&found, result.output.data() + thread * 2 * n + 4 * i, 4);
      int expected = 0;
      for (unsigned x = 0; x < k; ++x)
        expected += a.at(p[Dim::Row], x) * b.at(x, p[Dim::Column]);
      ASSERT_EQ(found, expected) << "n " << n << " swizzle " << span << " thread " << thread << " "
                                 << i;
    }
}

TEST(LayoutsBesideEmulator, Wgmma) {
  std::mt19937 rng(2);
  for (Swizzle mode : {Swizzle::B32, Swizzle::B64, Swizzle::B128})
    for (unsigned n : {8u, 24u, 64u})
      for (Dim contiguous : {Dim::Column, Dim::Row})
        wgmmaCase(n, mode, contiguous, rng);
  wgmmaCase(24, Swizzle::None, Dim::Column, rng);
}

/// Cycles of shared memory: 32 banks of 4 bytes serve one phase after the other, 32 lanes of up to
/// 4 bytes, 16 of 8 or 8 of 16, each in as many as one bank's different words.
unsigned wavefronts(llvm::ArrayRef<uint32_t> addresses, unsigned bytes) {
  const unsigned phase = bytes <= 4 ? 32 : 128 / bytes;
  unsigned total = 0;
  for (; !addresses.empty(); addresses = addresses.drop_front(phase)) {
    std::map<uint32_t, std::set<uint32_t>> banks;
    for (uint32_t at : addresses.take_front(phase))
      for (uint32_t word = at / 4; word <= (at + bytes - 1) / 4; ++word)
        banks[word % 32].insert(word);
    size_t worst = 0;
    for (auto &[bank, words] : banks)
      worst = std::max(worst, words.size());
    total += worst;
  }
  return total;
}

/// One access of each lane at an address of its own, shared or global.
TEST(LayoutsBesideEmulator, WavefrontsAndSectors) {
  std::mt19937 rng(3);
  const std::pair<unsigned, const char *> widths[] = {{1, "u8 %u"},
                                                      {2, "u16 %u"},
                                                      {4, "b32 %u"},
                                                      {8, "v2.b32 {%u, %v}"},
                                                      {16, "v4.b32 {%u, %v, %x, %y}"}};
  for (auto [bytes, form] : widths)
    for (int k = 0; k < 24; ++k) {
      std::vector<uint32_t> at(32);
      for (uint32_t &address : at)
        address = rng() % 4096 / bytes * bytes;
      Bytes input((32 + 1024) * 4);
      std::memcpy(input.data(), at.data(), at.size() * 4);
      const std::string address =
          "  mul.wide.u32 %w, %t, 4; add.u64 %w, %w, %in; ld.global.b32 %i, [%w];\n";
      const std::string fill =
          "  mov.u32 %x, %t;\nFILL: shl.b32 %v, %x, 2; add.u32 %v, %v, %s; st.shared.b32 [%v], "
          "%x; add.u32 %x, %x, 32; setp.lt.u32 %p, %x, 1024; @%p bra FILL;\n  bar.sync 0;\n";
      const std::string registers = "  .reg .b32 %i, %v, %x, %y;";
      Launched without = run(registers, address + fill, 32, input, 4);
      Launched shared =
          run(registers, address + fill + "  add.u32 %i, %i, %s; ld.shared." + form + ", [%i];", 32,
              input, 4);
      EXPECT_EQ(shared.stats.sharedWavefronts - without.stats.sharedWavefronts,
                wavefronts(at, bytes));
      // The array of 32 lane addresses is 128 bytes: what follows it is still aligned to 32.
      Launched global =
          run(registers,
              address + fill + "  cvt.u64.u32 %w, %i; add.u64 %w, %w, %in; ld.global." + form +
                  ", [%w+128];",
              32, input, 4);
      std::set<uint32_t> sectors; // of 32 bytes, which no access crosses
      for (uint32_t address : at)
        sectors.insert(address / 32);
      EXPECT_EQ(global.stats.globalSectors - without.stats.globalSectors, sectors.size());
    }
}

} // namespace
