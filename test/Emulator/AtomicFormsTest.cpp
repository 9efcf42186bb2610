// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red, form by form: what they return, and what they leave in memory.

#include "InstructionForms.h"

#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
class AtomicForms : public InstructionForms {
protected:
  /// One operation on a place that holds b, with operands a and c: in global and shared memory, by
  /// atom and red.
  template <class T>
  void atomic(const std::string &op, const char *type, llvm::function_ref<T(T, T, T)> next,
              bool isCas = false, bool mayReduce = true) {
    const std::string r = std::string("%") + Names<T>::reg, bits = Names<T>::bits;
    for (const char *space : {"global", "shared"}) {
      const bool global = space[0] == 'g';
      const std::string place = global
                                    ? ""
                                    : "{ .shared .align 16 .b8 sh[2048]; .reg .b32 p, q; mov.u32 "
                                      "p, %tid.x; mov.u32 q, sh; mad.lo.u32 p, p, 16, q; ";
      const std::string at = global ? "[%out]" : "[p]", end = global ? "" : " }";
      const std::string operands = at + ", " + r + "a" + (isCas ? ", " + r + "c" : "");
      const std::string fill = place + "st." + space + "." + bits + " " + at + ", " + r + "b; ";
      const std::string name = std::string(".") + space + "." + op + "." + type + " ";
      const std::string load =
          std::string("; ld.") + space + "." + bits + " " + r + "d, " + at + ";" + end;
      auto canonical = [&](const char *opcode) {
        forms.push_back(opcode + name + (opcode[0] == 'a' ? r + "d, " : "") +
                        (global ? "[%la]" : "[%wb]") + ", " + r + "a" +
                        (isCas ? ", " + r + "c" : "") + ";");
      };
      canonical("atom");
      results<T>(fill + "atom" + name + r + "d, " + operands + ";" + end,
                 [](T, T b, T) { return b; });
      results<T>(fill + "atom" + name + r + "d, " + operands + load, next);
      if (!mayReduce)
        continue;
      canonical("red");
      results<T>(fill + "red" + name + operands + load, next);
    }
  }
  template <class T, class F> void results(const std::string &body, F want) {
    checkPairs(body, Names<T>::reg, 8 * sizeof(T), [&](uint64_t a, uint64_t b, uint64_t c) {
      return uint64_t(T(want(T(a), T(b), T(c))));
    });
  }
  void checkPairs(const std::string &body, char reg, unsigned bits, Meaning want) {
    Operands a, b, c;
    for (uint64_t x : corners)
      for (uint64_t y : corners)
        a.push_back(x), b.push_back(y), c.push_back(x ^ (y << 3));
    checkEach(body, reg, bits, a, b, c, want);
  }
};
} // namespace

TEST_F(AtomicForms, IntegersAndBits) {
  auto bitwise = [&](auto zero, const char *type) {
    using U = decltype(zero);
    atomic<U>("and", type, [](U a, U b, U) { return a & b; });
    atomic<U>("or", type, [](U a, U b, U) { return a | b; });
    atomic<U>("xor", type, [](U a, U b, U) { return a ^ b; });
    atomic<U>("exch", type, [](U a, U, U) { return a; }, false, false);
    atomic<U>("cas", type, [](U a, U b, U c) { return b == a ? c : b; }, true, false);
  };
  bitwise(uint32_t(), "b32"), bitwise(uint64_t(), "b64");
  atomic<uint16_t>(
      "cas", "b16", [](uint16_t a, uint16_t b, uint16_t c) { return b == a ? c : b; }, true, false);
  auto extremes = [&](auto zero) {
    using T = decltype(zero);
    atomic<T>("min", Names<T>::type, [](T a, T b, T) { return std::min(a, b); });
    atomic<T>("max", Names<T>::type, [](T a, T b, T) { return std::max(a, b); });
  };
  extremes(uint32_t()), extremes(int32_t()), extremes(uint64_t()), extremes(int64_t());
  atomic<uint32_t>("add", "u32", [](uint32_t a, uint32_t b, uint32_t) { return a + b; });
  atomic<uint32_t>("add", "s32", [](uint32_t a, uint32_t b, uint32_t) { return a + b; });
  atomic<uint64_t>("add", "u64", [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  atomic<uint32_t>("inc", "u32",
                   [](uint32_t a, uint32_t b, uint32_t) { return b >= a ? 0 : b + 1; });
  atomic<uint32_t>("dec", "u32",
                   [](uint32_t a, uint32_t b, uint32_t) { return b == 0 || b > a ? a : b - 1; });
}

TEST_F(AtomicForms, Floats) {
  // Patterns of NaN are left open: the operands are cut to what is none.
  auto add = [&](auto zero, const char *type, auto mask, auto sum) {
    using U = decltype(zero);
    const std::string r = std::string("%") + Names<U>::reg,
                      cut = "and." + std::string(Names<U>::bits) + " ",
                      m = std::to_string(uint64_t(mask)) + "; ";
    const std::string op = std::string("global.add.") + type + " ";
    const std::string start = cut + r + "a, " + r + "a, " + m + cut + r + "b, " + r + "b, " + m +
                              "st.global." + Names<U>::bits + " [%out], " + r + "b; ";
    forms.push_back("atom." + op + r + "d, [%la], " + r + "a;");
    forms.push_back("red." + op + "[%la], " + r + "a;");
    results<U>(start + "atom." + op + r + "d, [%out], " + r + "a;",
               [=](U, U b, U) { return U(b & mask); });
    results<U>(start + "red." + op + "[%out], " + r + "a; ld.global." + Names<U>::bits + " " + r +
                   "d, [%out];",
               [=](U a, U b, U) { return U(sum(U(a & mask), U(b & mask))); });
  };
  add(uint32_t(), "f32", 0xbf7fffffu, [](uint32_t a, uint32_t b) {
    // Atomics on f32 in global memory flush subnormals.
    auto flush = [](uint32_t v) { return v & 0x7f800000 ? v : v & 0x80000000; };
    return flush(
        std::bit_cast<uint32_t>(std::bit_cast<float>(flush(a)) + std::bit_cast<float>(flush(b))));
  });
  add(uint64_t(), "f64", 0xbfefffffffffffffu, [](uint64_t a, uint64_t b) {
    return std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
  });
  // In shared memory they keep them.
  results<uint32_t>("{ .shared .align 4 .b8 sh[512]; .reg .b32 p, q; mov.u32 p, %tid.x; mov.u32 q, "
                    "sh; mad.lo.u32 p, p, 4, q; and.b32 %wa, %wa, 0xbf7fffff;"
                    "and.b32 %wb, %wb, 0xbf7fffff; st.shared.b32 [p], %wb; red.shared.add.f32 [p], "
                    "%wa; ld.shared.b32 %wd, [p]; }",
                    [](uint32_t a, uint32_t b, uint32_t) {
                      return std::bit_cast<uint32_t>(std::bit_cast<float>(a & 0xbf7fffff) +
                                                     std::bit_cast<float>(b & 0xbf7fffff));
                    });
  // Sums of two halves are exact in f32, and so rounded once.
  auto sum16 = [](Kind k, uint16_t a, uint16_t b) {
    const float exact = float(decode(k, a) + decode(k, b));
    llvm::APFloat v(exact);
    bool loses;
    v.convert(*numerics::info(formatOf(k)).semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
    return uint16_t(v.bitcastToAPInt().getZExtValue());
  };
  for (Kind k : {Kind::F16, Kind::BF16}) {
    const std::string name = std::string("noftz.") + nameOf(k);
    const uint16_t mask = k == Kind::F16 ? 0xb7ff : 0xbf7f; // no sum overflows
    add(uint16_t(), name.c_str(), mask, [=](uint16_t a, uint16_t b) { return sum16(k, a, b); });
    add(uint32_t(), (name + "x2").c_str(), mask * 0x10001u, [=](uint32_t a, uint32_t b) {
      return uint32_t(sum16(k, uint16_t(a >> 16), uint16_t(b >> 16))) << 16 |
             sum16(k, uint16_t(a), uint16_t(b));
    });
  }
}

TEST_F(AtomicForms, Vectors) {
  // There are the second input's bits, twice; the operand repeats the third's. Looked at is what is
  // there afterwards.
  auto element = [](Kind k, const std::string &op, uint16_t a, uint16_t b) -> uint16_t {
    const double x = decode(k, b), y = decode(k, a);
    if (op == "add")
      return uint16_t(roundTo(k, x + y));
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) && std::isnan(y) ? 0x7fff : std::isnan(x) ? a : b;
    if (x == y)
      return (op == "min") == std::signbit(x) ? b : a;
    return (x < y) == (op == "min") ? b : a;
  };
  for (Kind k : {Kind::F16, Kind::BF16})
    for (const char *op : {"add", "min", "max"})
      for (bool pairs : {false, true})
        for (unsigned n : {2, 4, 8}) {
          if (pairs && n == 8)
            continue;
          const std::string type = nameOf(k) + std::string(pairs ? "x2" : ""),
                            reg = pairs ? "b32 v" : "b16 v", count = std::to_string(n);
          std::string
              setup = "{ .reg ." + reg +
                      "<8>, w<8>; .reg .b64 x; .reg .b32 y; st.global.v2.b64 [%la], {%lb, %lb}; ",
              list = "{", old = "{";
          for (unsigned i = 0; i < n; ++i) {
            setup += (pairs ? "mov.b32 v" + std::to_string(i) + ", %wc; "
                            : "mov.b16 v" + std::to_string(i) + ", %hc; ");
            list += (i ? ", v" : "v") + std::to_string(i),
                old += (i ? ", w" : "w") + std::to_string(i);
          }
          const std::string name =
              std::string(".global.") + op + ".noftz.v" + count + "." + type + " ";
          forms.push_back("{ .reg ." + reg + "<8>, w<8>; atom" + name + old + "}, [%la], " + list +
                          "}; red" + name + "[%la], " + list + "}; }");
          for (bool reduces : {false, true})
            for (unsigned half : {0, 1}) {
              const std::string body =
                  "{ .reg .b64 base; mov.b64 %la, SPACE; cvt.u64.u32 base, %tid; shl.b64 base, "
                  "base, 4; add.u64 %la, %la, base; " +
                  setup +
                  (reduces ? "red" + name + "[%la], " + list + "}; "
                           : "atom" + name + old + "}, [%la], " + list + "}; ") +
                  "ld.global.b64 %ld, [%la+" + std::to_string(8 * half) + "]; } }";
              std::vector<uint64_t> a, b, c;
              for (uint64_t x : corners)
                for (uint64_t y : corners)
                  a.push_back(0), b.push_back(x * 0x9e3779b97f4a7c15 ^ x), c.push_back(y ^ y << 7);
              auto got = eval(body, 'l', {a, b, c}, ".global .align 16 .b8 SPACE[16384];\n");
              ASSERT_EQ(got.size(), b.size()) << body;
              for (size_t i = 0; i < got.size(); ++i)
                for (unsigned e = 0; e < 4; ++e) {
                  const unsigned at = 4 * half + e; // of eight halves
                  const uint16_t was = uint16_t(b[i] >> (16 * e)),
                                 with = uint16_t(c[i] >> (pairs ? 16 * (at % 2) : 0));
                  const bool touched = at < n * (pairs ? 2 : 1);
                  const uint16_t want = touched ? element(k, op, with, was) : was,
                                 have = uint16_t(got[i] >> (16 * e));
                  const bool bothNaN = std::isnan(decode(k, want)) &&
                                       std::isnan(decode(k, have)); // whose patterns are left open
                  ASSERT_TRUE(have == want || bothNaN) << body << std::hex << was << " " << with
                                                       << " -> " << have << ", not " << want;
                }
            }
        }
}

TEST_F(AtomicForms, HundredAndTwentyEightBits) {
  for (const char *space : {"global", "shared"})
    for (bool cas : {false, true}) {
      const bool global = space[0] == 'g';
      const std::string op = std::string("atom.") + space + (cas ? ".cas" : ".exch") + ".b128 ";
      forms.push_back("{ .reg .b128 q<4>; " + op + "q0, [%la], q1" + (cas ? ", q2" : "") + "; }");
      // There: (b, a). cas compares with (b, a or c).
      for (unsigned part = 0; part < 4; ++part) { // what was there, and what is
        const std::string place = global ? "mov.b64 base, SPACE;" : "mov.b64 base, sh;";
        const std::string body =
            "{ .shared .align 16 .b8 sh[2048]; .reg .b64 base, x, y; .reg .b32 t; .reg .b128 "
            "q<4>; " +
            place + (global ? " cvt.u64.u32 x, %tid;" : " mov.u32 t, %tid.x; cvt.u64.u32 x, t;") +
            " shl.b64 x, x, 4; add.u64 base, base, x; st." + space +
            ".v2.b64 [base], {%lb, %la}; mov.b128 q1, {%lb, %lc}; mov.b128 q2, {%lc, %lb}; " + op +
            "q0, [base], q1" + (cas ? ", q2" : "") + "; " +
            (part < 2 ? "mov.b128 {x, y}, q0; "
                      : std::string("ld.") + space + ".v2.b64 {x, y}, [base]; ") +
            "mov.b64 %ld, " + (part % 2 ? "y" : "x") + "; }";
        std::vector<uint64_t> a, b, c;
        for (uint64_t x : corners)
          for (uint64_t y : corners)
            a.push_back(x), b.push_back(y), c.push_back((x + y) % 3 ? x : ~x);
        auto got = eval(body, 'l', {a, b, c}, ".global .align 16 .b8 SPACE[16384];\n");
        ASSERT_EQ(got.size(), a.size()) << body;
        for (size_t i = 0; i < got.size(); ++i) {
          const uint64_t before[] = {b[i], a[i]}, given[] = {b[i], c[i]}, other[] = {c[i], b[i]};
          const bool equal = a[i] == c[i];
          const uint64_t *after = !cas ? given : equal ? other : before;
          ASSERT_EQ(got[i], part < 2 ? before[part] : after[part % 2]) << body;
        }
      }
    }
}
