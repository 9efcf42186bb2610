// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wmma, form by form. What a fragment holds is the emulator's own choice: fragments are stored
// again, and multiplied, as the elements in memory say.

#include "FormTable.h"
#include "mp/Numerics/TensorCore.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
struct Product {
  unsigned m, n, k;
  Kind a, b, c, d;
  std::string op, modifier;
};

/// A matrix in memory, elements packed; row or column major with room between rows (or columns).
struct Matrix {
  Kind kind;
  unsigned rows, cols;
  bool row;
  unsigned stride;
  std::vector<uint32_t> words;
  Matrix(Kind kind, unsigned rows, unsigned cols, bool row, unsigned room)
      : kind(kind), rows(rows), cols(cols), row(row), stride((row ? cols : rows) + room),
        words(size_t(stride) * (row ? rows : cols) * bitsOf(kind) / 32 + 4) {}
  size_t index(unsigned r, unsigned c) const {
    return row ? size_t(r) * stride + c : size_t(c) * stride + r;
  }
  uint64_t get(unsigned r, unsigned c) const {
    const size_t bit = index(r, c) * bitsOf(kind);
    uint64_t v = 0;
    std::memcpy(&v, reinterpret_cast<const uint8_t *>(words.data()) + bit / 8,
                std::max(1u, bitsOf(kind) / 8));
    return bitsOf(kind) == 64 ? v : v >> (bit % 8) & ((uint64_t(1) << bitsOf(kind)) - 1);
  }
  void set(unsigned r, unsigned c, uint64_t v) {
    const size_t bit = index(r, c) * bitsOf(kind);
    uint8_t *at = reinterpret_cast<uint8_t *>(words.data()) + bit / 8;
    if (bitsOf(kind) < 8)
      *at |= uint8_t(v << (bit % 8));
    else
      std::memcpy(at, &v, bitsOf(kind) / 8);
  }
};

unsigned registerCount(Kind kind, unsigned elements, bool operand) {
  return kind == Kind::F16 && operand ? 8
         : kind == Kind::F64          ? elements / 32
                                      : std::max(1u, elements * bitsOf(kind) / 1024);
}
const char *prefix(Kind kind, char role) {
  static const char *const names[] = {"%a",  "%b",  "%c",  "%d",  "%fc",
                                      "%fd", "%da", "%db", "%dc", "%dd"};
  const unsigned which = role - 'a';
  return names[kind == Kind::F64 ? 6 + which : kind == Kind::F32 ? 2 + which : which];
}

class WmmaForms : public testing::Test {
protected:
  void check(const Product &p, bool rowA, bool rowB, bool rowC, const std::string &space) {
    const bool strided = !space.empty();
    // A row or column starts at a multiple of 16 bytes.
    auto room = [&](Kind kind) { return strided ? 256 / bitsOf(kind) : 0; };
    Matrix a(p.a, p.m, p.k, rowA, room(p.a)), b(p.b, p.k, p.n, rowB, room(p.b)),
        c(p.c, p.m, p.n, rowC, room(p.c)), d(p.d, p.m, p.n, rowC, room(p.d));
    auto fill = [&](Matrix &m) {
      for (unsigned r = 0; r < m.rows; ++r)
        for (unsigned col = 0; col < m.cols; ++col)
          m.set(r, col, value(m.kind));
    };
    fill(a), fill(b), fill(c);
    const std::string shape =
        "m" + std::to_string(p.m) + "n" + std::to_string(p.n) + "k" + std::to_string(p.k);
    auto regs = [&](Kind kind, char role) {
      const unsigned elements = role == 'a' ? p.m * p.k : role == 'b' ? p.n * p.k : p.m * p.n;
      return registers(prefix(kind, role), registerCount(kind, elements, role < 'c'));
    };
    auto loadOf = [&](char role, const Matrix &m) {
      return std::string("wmma.load.") + role + ".sync.aligned." + (m.row ? "row." : "col.") +
             shape + space + "." + nameOf(m.kind) + " " + regs(m.kind, role) + ", [%p" + role +
             "]" + (strided ? ", " + std::to_string(m.stride) : "") + ";\n";
    };
    const std::string types =
        "." + std::string(nameOf(p.d)) +
        (p.a == Kind::F16 ? "" : std::string(".") + nameOf(p.a) + "." + nameOf(p.b)) + "." +
        nameOf(p.c);
    const bool rounds = p.modifier.size() == 3;
    const std::string mma = "wmma.mma" + p.op + ".sync.aligned." + (rowA ? "row." : "col.") +
                            (rowB ? "row." : "col.") + shape + (rounds ? p.modifier : "") + types +
                            (rounds ? "" : p.modifier) + " " + regs(p.d, 'd') + ", " +
                            regs(p.a, 'a') + ", " + regs(p.b, 'b') + ", " + regs(p.c, 'c') + ";\n";
    const std::string store = std::string("wmma.store.d.sync.aligned.") + (rowC ? "row." : "col.") +
                              shape + space + "." + nameOf(p.d) + " [%pd], " + regs(p.d, 'd') +
                              (strided ? ", " + std::to_string(d.stride) : "") + ";\n";
    std::string text = ".visible .entry k(.param .u64 A, .param .u64 B, .param .u64 C, .param .u64 "
                       "D) {\n.reg .b32 %a<8>, %b<8>, %c<8>, %d<8>; .reg .f32 %fc<8>, %fd<8>; "
                       ".reg .f64 %da<2>, %db<2>, %dc<2>, %dd<2>; .reg .b64 %pa, %pb, %pc, %pd;\n";
    for (char role : {'a', 'b', 'c', 'd'})
      text += std::string("ld.param.u64 %p") + role + ", [" + char(role - 'a' + 'A') + "];\n";
    text += loadOf('a', a) + loadOf('b', b) + loadOf('c', c) + mma + store + "ret; }";
    auto module = load(text, "sm_80");
    ASSERT_TRUE(module) << text;
    Device device;
    DevicePtr out = upload(device, d.words);
    LaunchOptions options;
    options.chip = "sm_80";
    auto r = device.launch(*module, "k", {1}, {32}, 0,
                           {KernelArg::value(upload(device, a.words)),
                            KernelArg::value(upload(device, b.words)),
                            KernelArg::value(upload(device, c.words)), KernelArg::value(out)},
                           options);
    ASSERT_TRUE(bool(r)) << llvm::toString(r.takeError()) << text;
    d.words = download<uint32_t>(device, out, d.words.size());
    for (unsigned row = 0; row < p.m; ++row)
      for (unsigned col = 0; col < p.n; ++col)
        if (p.d == Kind::F64) // rounded down, a sum that cancels is -0
          ASSERT_EQ(decode(p.d, d.get(row, col)), decode(p.d, expected(p, a, b, c, row, col)))
              << mma << row << ", " << col;
        else
          ASSERT_EQ(d.get(row, col), expected(p, a, b, c, row, col)) << mma << row << ", " << col;
  }
  uint64_t value(Kind kind) {
    switch (kind) {
    case Kind::F16:
    case Kind::BF16:
    case Kind::TF32:
    case Kind::F32:
    case Kind::F64: // sums stay exact
      return encode(kind, double(int(rng() % 17) - 8) / 4);
    case Kind::S32: return rng() % 4 ? rng() % 1000 : 0x7ffffff0;
    default: return rng() & ((uint64_t(1) << bitsOf(kind)) - 1);
    }
  }
  uint64_t expected(const Product &p, const Matrix &a, const Matrix &b, const Matrix &c,
                    unsigned row, unsigned col) {
    if (p.c == Kind::S32) {
      int64_t sum = int32_t(uint32_t(c.get(row, col)));
      for (unsigned k = 0; k < p.k; ++k) {
        const int64_t x = int64_t(decode(p.a, a.get(row, k))),
                      y = int64_t(decode(p.b, b.get(k, col)));
        sum += p.a != Kind::B1 ? x * y : p.op[1] == 'a' ? (x & y) : (x ^ y);
      }
      return p.modifier == ".satfinite" ? uint32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX))
                                        : uint32_t(sum);
    }
    double sum = decode(p.c, c.get(row, col));
    for (unsigned k = 0; k < p.k; ++k)
      sum += decode(p.a, a.get(row, k)) * decode(p.b, b.get(k, col));
    return encode(p.d, sum);
  }
  std::mt19937 rng{23};
};
} // namespace

TEST_F(WmmaForms, EveryTypeShapeAndLayout) {
  using enum Kind;
  std::vector<Product> products;
  for (auto [m, n] : {std::pair{16u, 16u}, {32u, 8u}, {8u, 32u}}) {
    for (auto [c, d] : {std::pair{F32, F32}, {F16, F16}, {F16, F32}, {F32, F16}})
      products.push_back({m, n, 16, F16, F16, c, d, "", ""});
    products.push_back({m, n, 16, BF16, BF16, F32, F32, "", ""});
    for (Kind k : {S8, U8})
      for (const char *saturates : {"", ".satfinite"})
        products.push_back({m, n, 16, k, k, S32, S32, "", saturates});
  }
  products.push_back({16, 16, 8, TF32, TF32, F32, F32, "", ""});
  for (const char *rounding : {"", ".rn", ".rz", ".rm", ".rp"})
    products.push_back({8, 8, 4, F64, F64, F64, F64, "", rounding});
  for (Kind k : {S4, U4})
    for (const char *saturates : {"", ".satfinite"})
      products.push_back({8, 8, 32, k, k, S32, S32, "", saturates});
  for (const char *op : {".xor.popc", ".and.popc"})
    products.push_back({8, 8, 128, B1, B1, S32, S32, op, ""});
  for (const Product &p : products)
    for (unsigned layouts = 0; layouts < 8; ++layouts)
      for (const char *space : {"", ".global"}) {
        const bool rowA = layouts & 1, rowB = layouts & 2, rowC = layouts & 4;
        if (bitsOf(p.a) < 8 && (!rowA || rowB))
          continue; // k is contiguous
        check(p, rowA, rowB, rowC, space);
      }
}

TEST_F(WmmaForms, DirectedRounding) {
  // 1 + 2^-60 and its negative, by mma.sync and wmma.
  struct {
    const char *mode;
    uint64_t up, down;
  } const modes[] = {{"", 0x3ff0000000000000, 0xbff0000000000000},
                     {".rn", 0x3ff0000000000000, 0xbff0000000000000},
                     {".rz", 0x3ff0000000000000, 0xbff0000000000000},
                     {".rm", 0x3ff0000000000000, 0xbff0000000000001},
                     {".rp", 0x3ff0000000000001, 0xbff0000000000000}};
  for (auto &mode : modes)
    for (const char *op :
         {"mma.sync.aligned.m8n8k4.row.col", "wmma.mma.sync.aligned.row.col.m8n8k4"}) {
      const std::string body =
          "{ .reg .f64 %a, %b, %c<2>, %d<2>; .reg .pred %q; mov.f64 %a, 0d0000000000000000; "
          "mov.f64 %b, %a; .reg .b32 %l; mov.u32 %l, %laneid; and.b32 %l, %l, 3; setp.eq.u32 %q, "
          "%l, 0; "
          "@%q mov.b64 %a, %la; @%q mov.f64 %b, 0d3ff0000000000000; mov.b64 %c0, %lb; mov.b64 %c1, "
          "%lb; " +
          std::string(op) + mode.mode +
          ".f64.f64.f64.f64 {%d0, %d1}, {%a}, {%b}, {%c0, %c1}; mov.b64 %ld, %d0; }";
      for (bool negative : {false, true}) {
        const uint64_t sign = negative ? 0x8000000000000000 : 0;
        auto got = eval(body, 'l',
                        {std::vector<uint64_t>(32, 0x3ff0000000000000 | sign),
                         std::vector<uint64_t>(32, 0x3c30000000000000 | sign)},
                        "", "sm_90a");
        for (uint64_t g : got)
          ASSERT_EQ(g, negative ? mode.down : mode.up) << op << mode.mode;
      }
    }
}
