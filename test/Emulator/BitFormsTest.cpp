// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions on bits, form by form, on corner values, against the manual's sentence in C++.

#include "InstructionForms.h"

#include <bit>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using V = std::vector<uint64_t>;

TEST_F(InstructionForms, Bits) {
  auto bitwise = [&](auto zero) {
    using U = decltype(zero);
    const char *t = Names<U>::bits;
    constexpr unsigned bits = 8 * sizeof(U);
    typed<U>("and", 2, [](U a, U b, U) { return U(a & b); }, t);
    typed<U>("or", 2, [](U a, U b, U) { return U(a | b); }, t);
    typed<U>("xor", 2, [](U a, U b, U) { return U(a ^ b); }, t);
    typed<U>("not", 1, [](U a, U, U) { return U(~a); }, t);
    typed<U>("cnot", 1, [](U a, U, U) { return U(a == 0); }, t);
    const std::string r = std::string("%") + Names<U>::reg;
    check<U>(std::string("shl.") + t, r + "d, " + r + "a, %wb",
             [](uint64_t a, uint64_t b, uint64_t) {
               return uint32_t(b) < bits ? U(U(a) << uint32_t(b)) : U(0);
             });
    for (const char *type : {t, Names<U>::type})
      check<U>(std::string("shr.") + type, r + "d, " + r + "a, %wb",
               [](uint64_t a, uint64_t b, uint64_t) {
                 return uint32_t(b) < bits ? U(U(a) >> uint32_t(b)) : U(0);
               });
    using S = std::make_signed_t<U>;
    check<S>(std::string("shr.") + Names<S>::type, r + "d, " + r + "a, %wb",
             [](uint64_t a, uint64_t b, uint64_t) {
               return S(S(a) >> std::min(uint32_t(b), bits - 1));
             });
    if constexpr (bits >= 32) {
      check<uint32_t>(std::string("popc.") + t, "%wd, " + r + "a",
                      [](uint64_t a, uint64_t, uint64_t) { return std::popcount(U(a)); });
      check<uint32_t>(std::string("clz.") + t, "%wd, " + r + "a",
                      [](uint64_t a, uint64_t, uint64_t) { return std::countl_zero(U(a)); });
      typed<U>(
          "brev", 1,
          [](U a, U, U) {
            U v = 0;
            for (unsigned i = 0; i < bits; ++i)
              v |= U(a >> i & 1) << (bits - 1 - i);
            return v;
          },
          t);
      // The most significant bit that is no sign.
      for (bool isSigned : {false, true})
        for (bool shift : {false, true})
          check<uint32_t>(std::string("bfind") + (shift ? ".shiftamt." : ".") +
                              (isSigned ? Names<S>::type : Names<U>::type),
                          "%wd, " + r + "a", [=](uint64_t a, uint64_t, uint64_t) {
                            for (int i = bits - 1; i >= 0; --i)
                              if ((U(a) >> i & 1) != (isSigned ? U(a) >> (bits - 1) : 0))
                                return uint32_t(shift ? bits - 1 - i : i);
                            return ~0u;
                          });
      // Position and length are the low bytes.
      for (bool isSigned : {false, true})
        check<U>(std::string("bfe.") + (isSigned ? Names<S>::type : Names<U>::type),
                 r + "d, " + r + "a, %wb, %wc", [=](uint64_t a, uint64_t b, uint64_t c) {
                   unsigned pos = b & 255, len = c & 255, msb = bits - 1;
                   U sign = !isSigned || !len ? 0 : U(a) >> std::min(pos + len - 1, msb) & 1, d = 0;
                   for (unsigned i = 0; i <= msb; ++i)
                     d |= U(i < len && pos + i <= msb ? U(a) >> (pos + i) & 1 : sign) << i;
                   return d;
                 });
      check<U>(std::string("bfi.") + t, r + "d, " + r + "a, " + r + "b, %wb, %wc",
               [](uint64_t a, uint64_t b, uint64_t c) {
                 unsigned pos = b & 255, len = c & 255;
                 U d = U(b);
                 for (unsigned i = 0; i < len && pos + i < bits; ++i)
                   d = (d & ~(U(1) << (pos + i))) | U(U(a) >> i & 1) << (pos + i);
                 return d;
               });
    }
  };
  bitwise(uint16_t()), bitwise(uint32_t()), bitwise(uint64_t());
  check<uint32_t>("setp.ne.u32 %pd, %wb, 0; { .reg .pred q, s; setp.gt.u32 q, %wa, %wb; and.pred "
                  "s, q, %pd; or.pred s, s, q; xor.pred s, s, %pd; not.pred s, s; "
                  "selp.u32 %wd, 5, 9, s; } mov.u32",
                  "%wd, %wd", [](uint64_t a, uint64_t b, uint64_t) {
                    bool p = uint32_t(b), q = uint32_t(a) > uint32_t(b), s = q && p;
                    s = s || q, s = s != p;
                    return !s ? 5 : 9;
                  });
  for (unsigned table : {0x00u, 0x01u, 0x80u, 0x96u, 0xe8u, 0xcau, 0x1bu, 0xffu})
    check<uint32_t>("lop3.b32", "%wd, %wa, %wb, %wc, " + std::to_string(table),
                    [=](uint64_t a, uint64_t b, uint64_t c) {
                      uint32_t d = 0;
                      for (unsigned i = 0; i < 32; ++i)
                        d |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1)
                             << i;
                      return d;
                    });
  for (bool left : {false, true})
    for (bool wrap : {false, true})
      check<uint32_t>(
          std::string("shf.") + (left ? "l." : "r.") + (wrap ? "wrap" : "clamp") + ".b32",
          "%wd, %wa, %wb, %wc", [=](uint64_t a, uint64_t b, uint64_t c) {
            const unsigned n = wrap ? c & 31 : std::min(uint32_t(c), 32u);
            const uint64_t both = b << 32 | uint32_t(a);
            return uint32_t(left ? n == 32 ? a : both >> (32 - n) : n == 32 ? b : both >> n);
          });
  for (bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    check<uint32_t>("bmsk." + mode + ".b32", "%wd, %wa, %wb",
                    [=](uint64_t a, uint64_t b, uint64_t) {
                      const unsigned pos = wrap ? a & 31 : std::min(uint32_t(a), 32u),
                                     len = wrap ? b & 31 : std::min(uint32_t(b), 32u);
                      uint32_t d = 0;
                      for (unsigned i = pos; i < pos + len && i < 32; ++i)
                        d |= 1u << i;
                      return d;
                    });
    for (bool isSigned : {false, true})
      check<uint32_t>("szext." + mode + (isSigned ? ".s32" : ".u32"), "%wd, %wa, %wb",
                      [=](uint64_t a, uint64_t b, uint64_t) {
                        const unsigned n = wrap ? b & 31 : std::min(uint32_t(b), 32u);
                        uint32_t d = 0;
                        for (unsigned i = 0; i < 32 && n; ++i)
                          d |= uint32_t(a >> (i < n ? i : n - 1) & (i < n || isSigned)) << i;
                        return d;
                      });
  }
  // Bytes of b:a by selector; the modes of prmt have selectors of their own.
  auto bytes = [](uint64_t a, uint64_t b, std::array<unsigned, 4> which) {
    uint32_t d = 0;
    for (unsigned i = 0; i < 4; ++i)
      d |= uint32_t((b << 32 | uint32_t(a)) >> (8 * which[i]) & 255) << (8 * i);
    return d;
  };
  check<uint32_t>("prmt.b32.f4e", "%wd, %wa, %wb, %wc", [&](uint64_t a, uint64_t b, uint64_t c) {
    unsigned s = c & 3;
    return bytes(a, b, {s, s + 1, s + 2, s + 3});
  });
  check<uint32_t>("prmt.b32.b4e", "%wd, %wa, %wb, %wc", [&](uint64_t a, uint64_t b, uint64_t c) {
    unsigned s = c & 3;
    return bytes(a, b, {s, (s + 7) % 8, (s + 6) % 8, (s + 5) % 8});
  });
  check<uint32_t>("prmt.b32.rc8", "%wd, %wa, %wb, %wc", [&](uint64_t a, uint64_t b, uint64_t c) {
    unsigned s = c & 3;
    return bytes(a, b, {s, s, s, s});
  });
  check<uint32_t>("prmt.b32.ecl", "%wd, %wa, %wb, %wc", [&](uint64_t a, uint64_t b, uint64_t c) {
    unsigned s = c & 3;
    return bytes(a, b, {std::max(0u, s), std::max(1u, s), std::max(2u, s), 3});
  });
  check<uint32_t>("prmt.b32.ecr", "%wd, %wa, %wb, %wc", [&](uint64_t a, uint64_t b, uint64_t c) {
    unsigned s = c & 3;
    return bytes(a, b, {0, std::min(1u, s), std::min(2u, s), s});
  });
  check<uint32_t>("prmt.b32.rc16", "%wd, %wa, %wb, %wc", [&](uint64_t a, uint64_t b, uint64_t c) {
    unsigned s = 2 * (c & 1);
    return bytes(a, b, {s, s + 1, s, s + 1});
  });
  check<uint32_t>("prmt.b32", "%wd, %wa, %wb, %wc", [&](uint64_t a, uint64_t b, uint64_t c) {
    uint32_t d = 0;
    for (unsigned i = 0; i < 4; ++i) {
      unsigned s = c >> (4 * i) & 15;
      uint32_t byte = bytes(a, b, {s & 7, 0, 0, 0}) & 255;
      d |= (s & 8 ? (byte >> 7 ? 255u : 0) : byte) << (8 * i);
    }
    return d;
  });
}
