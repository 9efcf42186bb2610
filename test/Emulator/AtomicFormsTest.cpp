// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red, form by form: what they return, and what they leave in memory.

#include "InstructionForms.h"

#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>

using namespace mp;
using namespace mp::emulator;
using namespace mp::emulator::test;

namespace {
class AtomicForms : public InstructionForms {
protected:
  /// One operation on a place that holds b, with operands a and c: in global and shared memory, by atom and red.
  template <class T, class F> void atomic(const std::string &op, const char *type, F next, bool isCas = false, bool mayReduce = true) {
    const std::string r = std::string("%") + Names<T>::reg, bits = Names<T>::bits;
    for (const char *space : {"global", "shared"}) {
      const bool global = space[0] == 'g';
      const std::string place = global ? "" : "{ .shared .align 16 .b8 sh[2048]; .reg .b32 p, q; mov.u32 p, %tid.x; mov.u32 q, sh; mad.lo.u32 p, p, 16, q; ";
      const std::string at = global ? "[%out]" : "[p]", end = global ? "" : " }";
      const std::string operands = at + ", " + r + "a" + (isCas ? ", " + r + "c" : "");
      const std::string fill = place + "st." + space + "." + bits + " " + at + ", " + r + "b; ";
      const std::string name = std::string(".") + space + "." + op + "." + type + " ";
      const std::string load = std::string("; ld.") + space + "." + bits + " " + r + "d, " + at + ";" + end;
      auto canonical = [&](const char *opcode) {
        forms.push_back(opcode + name + (opcode[0] == 'a' ? r + "d, " : "") + (global ? "[%la]" : "[%wb]") + ", " + r + "a" + (isCas ? ", " + r + "c" : "") + ";");
      };
      canonical("atom");
      results<T>(fill + "atom" + name + r + "d, " + operands + ";" + end, [](T, T b, T) { return b; });
      results<T>(fill + "atom" + name + r + "d, " + operands + load, next);
      if (!mayReduce)
        continue;
      canonical("red");
      results<T>(fill + "red" + name + operands + load, next);
    }
  }
  template <class T, class F> void results(const std::string &body, F want) {
    std::vector<uint64_t> a, b, c;
    for (uint64_t x : corners)
      for (uint64_t y : corners)
        a.push_back(x), b.push_back(y), c.push_back(x ^ (y << 3));
    auto got = eval(body, Names<T>::reg, {a, b, c});
    ASSERT_EQ(got.size(), a.size()) << body;
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(T(got[i]), T(want(T(a[i]), T(b[i]), T(c[i])))) << body << std::hex << " of " << a[i] << ", " << b[i] << ", " << c[i];
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
  atomic<uint16_t>("cas", "b16", [](uint16_t a, uint16_t b, uint16_t c) { return b == a ? c : b; }, true, false);
  auto extremes = [&](auto zero) {
    using T = decltype(zero);
    atomic<T>("min", Names<T>::type, [](T a, T b, T) { return std::min(a, b); });
    atomic<T>("max", Names<T>::type, [](T a, T b, T) { return std::max(a, b); });
  };
  extremes(uint32_t()), extremes(int32_t()), extremes(uint64_t()), extremes(int64_t());
  atomic<uint32_t>("add", "u32", [](uint32_t a, uint32_t b, uint32_t) { return a + b; });
  atomic<uint32_t>("add", "s32", [](uint32_t a, uint32_t b, uint32_t) { return a + b; });
  atomic<uint64_t>("add", "u64", [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  atomic<uint32_t>("inc", "u32", [](uint32_t a, uint32_t b, uint32_t) { return b >= a ? 0 : b + 1; });
  atomic<uint32_t>("dec", "u32", [](uint32_t a, uint32_t b, uint32_t) { return b == 0 || b > a ? a : b - 1; });
}

TEST_F(AtomicForms, Floats) {
  // Patterns of NaN are left open: the operands are cut to what is none.
  auto add = [&](auto zero, const char *type, auto mask, auto sum) {
    using U = decltype(zero);
    const std::string r = std::string("%") + Names<U>::reg, cut = "and." + std::string(Names<U>::bits) + " ", m = std::to_string(uint64_t(mask)) + "; ";
    const std::string op = std::string("global.add.") + type + " ";
    const std::string start = cut + r + "a, " + r + "a, " + m + cut + r + "b, " + r + "b, " + m + "st.global." + Names<U>::bits + " [%out], " + r + "b; ";
    forms.push_back("atom." + op + r + "d, [%la], " + r + "a;");
    forms.push_back("red." + op + "[%la], " + r + "a;");
    results<U>(start + "atom." + op + r + "d, [%out], " + r + "a;", [=](U, U b, U) { return U(b & mask); });
    results<U>(start + "red." + op + "[%out], " + r + "a; ld.global." + Names<U>::bits + " " + r + "d, [%out];", [=](U a, U b, U) { return U(sum(U(a & mask), U(b & mask))); });
  };
  add(uint32_t(), "f32", 0xbf7fffffu, [](uint32_t a, uint32_t b) {
    // Atomics on f32 in global memory flush subnormals.
    auto flush = [](uint32_t v) { return v & 0x7f800000 ? v : v & 0x80000000; };
    return flush(std::bit_cast<uint32_t>(std::bit_cast<float>(flush(a)) + std::bit_cast<float>(flush(b))));
  });
  add(uint64_t(), "f64", 0xbfefffffffffffffu, [](uint64_t a, uint64_t b) { return std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b)); });
  // In shared memory they keep them.
  results<uint32_t>("{ .shared .align 4 .b8 sh[512]; .reg .b32 p, q; mov.u32 p, %tid.x; mov.u32 q, sh; mad.lo.u32 p, p, 4, q; and.b32 %wa, %wa, 0xbf7fffff;"
                    "and.b32 %wb, %wb, 0xbf7fffff; st.shared.b32 [p], %wb; red.shared.add.f32 [p], %wa; ld.shared.b32 %wd, [p]; }",
                    [](uint32_t a, uint32_t b, uint32_t) {
                      return std::bit_cast<uint32_t>(std::bit_cast<float>(a & 0xbf7fffff) + std::bit_cast<float>(b & 0xbf7fffff));
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
      return uint32_t(sum16(k, uint16_t(a >> 16), uint16_t(b >> 16))) << 16 | sum16(k, uint16_t(a), uint16_t(b));
    });
  }
}
