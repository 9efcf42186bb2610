// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix, stmatrix, movmatrix and wmma, form by form. What a fragment of wmma holds is the
// emulator's own choice: those are stored again, and multiplied, as the elements in memory say.

#include "FormTable.h"
#include "mp/Numerics/TensorCore.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
/// One warp; IN is copied to shared memory first, and shared memory to OUT in the end. %a: the
/// lane's row, 16 bytes each, lane l that of row l * 7 % 32.
std::vector<uint32_t> run(const std::string &body, const std::vector<uint32_t> &in,
                          const std::string &target) {
  const std::string words = std::to_string(in.size());
  auto module =
      load(".visible .entry k(.param .u64 IN, .param .u64 OUT) {\n.shared .align 16 .b8 sh[4096]; "
           ".reg .pred %p; .reg .b32 %r<8>, %t, %a, %s, %v; .reg .b64 %i, %o, %w, %g;\n"
           "mov.u32 %t, %tid.x; mov.u32 %s, sh; ld.param.u64 %i, [IN]; ld.param.u64 %o, [OUT]; "
           "mul.wide.u32 %w, %t, 4; add.u64 %i, %i, %w; add.u64 %o, %o, %w;\n"
           "mov.u32 %v, %t; shl.b32 %a, %t, 2; add.u32 %a, %a, %s;\n"
           "C: ld.global.u32 %r0, [%i]; st.shared.u32 [%a], %r0; add.u64 %i, %i, 128; add.u32 %a, "
           "%a, 128; add.u32 %v, %v, 32; setp.lt.u32 %p, %v, " +
               words +
               "; @%p bra C;\n"
               "bar.warp.sync -1; mul.lo.u32 %a, %t, 7; and.b32 %a, %a, 31; shl.b32 %a, %a, 4; "
               "add.u32 %a, %a, %s; cvt.u64.u32 %g, %a; cvta.shared.u64 %g, %g;\n" +
               body +
               "\nbar.warp.sync -1; mov.u32 %v, %t; shl.b32 %a, %t, 2; add.u32 %a, %a, %s;\n"
               "D: ld.shared.u32 %r0, [%a]; st.global.u32 [%o], %r0; add.u64 %o, %o, 128; add.u32 "
               "%a, %a, 128; add.u32 %v, %v, 32; setp.lt.u32 %p, %v, " +
               words + "; @%p bra D;\nret; }",
           target);
  if (!module)
    return {};
  Device device;
  DevicePtr from = upload(device, in), to = upload(device, std::vector<uint32_t>(in.size()));
  auto r =
      device.launch(*module, "k", {1}, {32}, 0, {KernelArg::value(from), KernelArg::value(to)});
  if (!r) {
    ADD_FAILURE() << llvm::toString(r.takeError()) << "\n" << body;
    return {};
  }
  return download<uint32_t>(device, to, in.size());
}

std::vector<uint32_t> randomWords(size_t count) {
  std::mt19937 rng(7);
  std::vector<uint32_t> words(count);
  for (uint32_t &w : words)
    w = rng();
  return words;
}

/// Element k of the 16 bytes that lane l points at, packed from bit 0 on.
uint32_t elementOfRow(const std::vector<uint32_t> &in, unsigned lane, unsigned bits, unsigned k) {
  const auto *row = reinterpret_cast<const uint8_t *>(in.data()) + 16 * (lane * 7 % 32);
  uint32_t value = 0;
  for (unsigned b = 0; b < bits; ++b)
    value |= uint32_t(row[(bits * k + b) / 8] >> ((bits * k + b) % 8) & 1) << b;
  return value;
}

std::string list(unsigned count) { return registers("%r", count); }
/// Stores the registers over the rows: register r of lane l at word 32 r + l.
std::string storeRegisters(unsigned count) {
  std::string s = "\nbar.warp.sync -1; shl.b32 %v, %t, 2; add.u32 %v, %v, %s;";
  for (unsigned r = 0; r < count; ++r)
    s += " st.shared.u32 [%v+" + std::to_string(128 * r) + "], %r" + std::to_string(r) + ";";
  return s;
}
} // namespace

TEST(MatrixMoveForms, Ldmatrix) {
  const auto in = randomWords(128);
  struct {
    const char *shape, *format;
    unsigned bits, most;
    bool trans;
  } const forms[] = {{"m8n8", "b16", 16, 4, false},
                     {"m8n8", "b16", 16, 4, true},
                     {"m8n16", "b8x16.b6x16_p32", 6, 4, false},
                     {"m8n16", "b8x16.b4x16_p64", 4, 4, false},
                     {"m16n16", "b8", 8, 2, true},
                     {"m16n16", "b8x16.b6x16_p32", 6, 2, true},
                     {"m16n16", "b8x16.b4x16_p64", 4, 2, true}};
  for (auto &f : forms)
    for (unsigned count = 1; count <= f.most; count *= 2)
      for (const char *space : {"", ".shared", ".shared::cta"}) {
        const bool large = std::string(f.shape) == "m16n16";
        const unsigned registers = large ? 2 * count : count;
        const std::string form = std::string("ldmatrix.sync.aligned.") + f.shape + ".x" +
                                 std::to_string(count) + (f.trans ? ".trans" : "") + space + "." +
                                 f.format + " " + list(registers) +
                                 (*space ? ", [%a];" : ", [%g];");
        auto got = run(form + storeRegisters(registers), in, f.bits == 16 ? "sm_75" : "sm_120a");
        ASSERT_EQ(got.size(), in.size());
        for (unsigned r = 0; r < registers; ++r)
          for (unsigned l = 0; l < 32; ++l) {
            // The fragments of mma: an operand's row and its neighbours along k, or with .trans the
            // other way around.
            uint32_t want = 0;
            const unsigned group = l / 4, first = f.bits == 16 ? l % 4 * 2 : l % 4 * 4,
                           parts = f.bits == 16 ? 2 : 4;
            for (unsigned e = 0; e < parts; ++e) {
              const unsigned matrix = large ? r / 2 : r, along = first + e,
                             across = group + (large ? r % 2 * 8 : 0);
              const unsigned row = (large ? 16 : 8) * matrix + (f.trans ? along : across),
                             column = f.trans ? across : along;
              want |= elementOfRow(in, row, f.bits, column) << (32 / parts * e);
            }
            ASSERT_EQ(got[32 * r + l], want) << form << " register " << r << " lane " << l;
          }
      }
}

TEST(MatrixMoveForms, Stmatrix) {
  for (bool bytes : {false, true})
    for (bool trans : {false, true})
      for (unsigned count : {1, 2, 4})
        for (const char *space : {"", ".shared", ".shared::cta"}) {
          if (bytes && !trans)
            continue;
          const std::string form = std::string("stmatrix.sync.aligned.") +
                                   (bytes ? "m16n8" : "m8n8") + ".x" + std::to_string(count) +
                                   (trans ? ".trans" : "") + space + (bytes ? ".b8" : ".b16") +
                                   (*space ? " [%a], " : " [%g], ") + list(count) + ";";
          std::string
              fill; // part p of lane l, register r: 1000 (4 r + p) + l, as bytes or halves of it
          for (unsigned r = 0; r < count; ++r)
            fill += "mul.lo.u32 %v, %t, " + std::to_string(bytes ? 0x01010101 : 0x00010001) +
                    "; add.u32 %r" + std::to_string(r) + ", %v, " +
                    std::to_string((bytes ? 0x60402000u : 0x04000000u) +
                                   r * (bytes ? 0x08080808u : 0x00400040u)) +
                    "; ";
          const std::vector<uint32_t> in(128, 0xeeeeeeee);
          auto got = run(fill + form, in, bytes ? "sm_120a" : "sm_90a");
          ASSERT_EQ(got.size(), in.size());
          std::vector<uint8_t> want(512, 0xee);
          for (unsigned r = 0; r < count; ++r)
            for (unsigned l = 0; l < 32; ++l)
              for (unsigned e = 0; e < (bytes ? 4 : 2); ++e) {
                // The accumulators of mma: row l / 4 (and 8 more), columns 2 (l % 4) and the next;
                // stored by rows, or with .trans by columns.
                const unsigned i = l / 4 + (e / 2) * 8, j = l % 4 * 2 + e % 2;
                const unsigned row = 8 * r + (trans ? j : i), column = trans ? i : j,
                               at = 16 * (row * 7 % 32);
                const uint32_t value = bytes ? l + 0x20 * e + 8 * r : l + 0x400 * e + 0x40 * r;
                std::memcpy(&want[at + (bytes ? column : 2 * column)], &value, bytes ? 1 : 2);
              }
          ASSERT_EQ(0, std::memcmp(got.data(), want.data(), 512)) << form;
        }
}

TEST(MatrixMoveForms, Movmatrix) {
  auto got = run("mad.lo.u32 %r1, %t, 0x00020002, 0x00010000; "
                 "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;" +
                     storeRegisters(1),
                 randomWords(128), "sm_75");
  for (unsigned l = 0; l < 32; ++l) // element (i, j) is 8 i + j; lane l gets (2 (l % 4) + e, l / 4)
    EXPECT_EQ(got[l], (8 * (l % 4 * 2 + 1) + l / 4) << 16 | (8 * (l % 4 * 2) + l / 4));
}

TEST(MatrixMoveForms, Faults) {
  auto fault = [](const std::string &body) {
    auto module = load(".visible .entry k() {\n.shared .align 16 .b8 sh[512]; .reg .pred %p; .reg "
                       ".b32 %r<8>, %t, %a; mov.u32 %t, %tid.x; mov.u32 %a, sh; "
                       "shl.b32 %t, %t, 4; add.u32 %a, %a, %t;" +
                           body + " ret; }",
                       "sm_120a");
    Device device;
    return faultOf(device.launch(*module, "k", {1}, {32}, 0, {}));
  };
  EXPECT_EQ(fault("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];").kind,
            FaultKind::Uninitialized);
  EXPECT_EQ(fault("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a+8], {%r0};").kind,
            FaultKind::Misaligned);
  EXPECT_EQ(fault("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a+16], {%r0, %r1, %r2, %r3};").kind,
            FaultKind::OutOfBounds);
  EXPECT_EQ(fault("setp.lt.u32 %p, %t, 64; @%p bra L; ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
                  "{%r0}, [%a]; L:")
                .kind,
            FaultKind::Divergence);
  // The padding of rows of 6- and 4-bit elements may hold nothing.
  const std::string packed =
      "st.shared.b64 [%a], 0; bar.warp.sync -1; ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.";
  auto module =
      load(".visible .entry k() {\n.shared .align 16 .b8 sh[512]; .reg .b32 %r<8>, %t, %a; mov.u32 "
           "%t, %tid.x; mov.u32 %a, sh; shl.b32 %t, %t, 4; add.u32 %a, %a, %t;" +
               packed + "b4x16_p64 {%r0}, [%a]; ret; }",
           "sm_120a");
  Device device;
  take(device.launch(*module, "k", {1}, {32}, 0, {}));
  EXPECT_EQ(fault(packed + "b6x16_p32 {%r0}, [%a];").kind, FaultKind::Uninitialized);
}

//===----------------------------------------------------------------------===//
// wmma
//===----------------------------------------------------------------------===//

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
