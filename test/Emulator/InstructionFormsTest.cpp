// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar instructions, form by form: every type and modifier on corner values, against the manual's
// sentence in C++. Where ptxas is found, it has to know each form as well.

#include "InstructionForms.h"

#include "mp/Numerics/Cast.h"

#include <bit>
#include <cfenv>
#include <cmath>

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using V = std::vector<uint64_t>;

__extension__ using Wide = __int128;
/// The low 128 bits, which hold every product.
template <class T> static Wide product(T a, T b) {
  return Wide(static_cast<unsigned __int128>(Wide(a)) * static_cast<unsigned __int128>(Wide(b)));
}

TEST_F(InstructionForms, IntegerArithmetic) {
  forIntegers([&](auto zero) {
    using T = decltype(zero);
    using U = std::make_unsigned_t<T>;
    constexpr unsigned bits = 8 * sizeof(T);
    auto low = [](Wide v) { return T(U(v)); };
    typed<T>("add", 2, [&](T a, T b, T) { return low(Wide(a) + b); });
    typed<T>("sub", 2, [&](T a, T b, T) { return low(Wide(a) - b); });
    typed<T>("mul.lo", 2, [&](T a, T b, T) { return low(product(a, b)); });
    typed<T>("mul.hi", 2, [&](T a, T b, T) { return low(product(a, b) >> bits); });
    typed<T>("mad.lo", 3, [&](T a, T b, T c) {
      return low(Wide(static_cast<unsigned __int128>(product(a, b)) +
                      static_cast<unsigned __int128>(Wide(c))));
    });
    typed<T>("mad.hi", 3, [&](T a, T b, T c) { return low((product(a, b) >> bits) + c); });
    typed<T>("min", 2, [](T a, T b, T) { return std::min(a, b); });
    typed<T>("max", 2, [](T a, T b, T) { return std::max(a, b); });
    // Division by zero is left open by the manual; the remainder of the smallest number by -1 is
    // zero.
    check<T>(std::string("or.") + Names<T>::bits + " %" + Names<T>::reg + "b, %" + Names<T>::reg +
                 "b, 1; div." + Names<T>::type,
             regs<T>("dab", 3),
             [&](uint64_t a, uint64_t b, uint64_t) { return low(Wide(T(a)) / Wide(T(b | 1))); });
    check<T>(std::string("or.") + Names<T>::bits + " %" + Names<T>::reg + "b, %" + Names<T>::reg +
                 "b, 1; rem." + Names<T>::type,
             regs<T>("dab", 3),
             [&](uint64_t a, uint64_t b, uint64_t) { return low(Wide(T(a)) % Wide(T(b | 1))); });
    typed<T>("sad", 3,
             [&](T a, T b, T c) { return low(Wide(c) + (a < b ? Wide(b) - a : Wide(a) - b)); });
    if constexpr (std::is_signed_v<T>) {
      typed<T>("neg", 1, [&](T a, T, T) { return low(-Wide(a)); });
      typed<T>("abs", 1, [&](T a, T, T) { return low(a < 0 ? -Wide(a) : Wide(a)); });
    }
    if constexpr (bits == 16 || bits == 32) {
      using D =
          std::conditional_t<bits == 16, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                             std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
      const std::string r = std::string("%") + Names<D>::reg,
                        s = std::string(", %") + Names<T>::reg;
      check<D>(std::string("mul.wide.") + Names<T>::type, r + "d" + s + "a" + s + "b",
               [](uint64_t a, uint64_t b, uint64_t) { return D(Wide(T(a)) * T(b)); });
      check<D>(std::string("mad.wide.") + Names<T>::type, r + "d" + s + "a" + s + "b, " + r + "c",
               [](uint64_t a, uint64_t b, uint64_t c) { return D(Wide(T(a)) * T(b) + D(c)); });
    }
  });
  auto saturated = [](Wide v) { return int32_t(std::clamp<Wide>(v, INT32_MIN, INT32_MAX)); };
  typed<int32_t>("add.sat", 2,
                 [&](int32_t a, int32_t b, int32_t) { return saturated(Wide(a) + b); });
  typed<int32_t>("sub.sat", 2,
                 [&](int32_t a, int32_t b, int32_t) { return saturated(Wide(a) - b); });
  typed<int32_t>("mad.hi.sat", 3, [&](int32_t a, int32_t b, int32_t c) {
    return saturated((Wide(a) * b >> 32) + c);
  });
  auto low24 = [](auto v) {
    return std::is_signed_v<decltype(v)> ? Wide(int32_t(uint32_t(v) << 8) >> 8)
                                         : Wide(uint32_t(v) & 0xffffff);
  };
  auto mul24 = [&](auto zero) {
    using T = decltype(zero);
    typed<T>("mul24.lo", 2, [&](T a, T b, T) { return T(uint32_t(low24(a) * low24(b))); });
    typed<T>("mul24.hi", 2, [&](T a, T b, T) { return T(uint32_t(low24(a) * low24(b) >> 16)); });
  };
  mul24(uint32_t()), mul24(int32_t());
}

TEST_F(InstructionForms, ExtendedPrecision) {
  // Through the condition code, a number of twice the width: its high part is what the second
  // instruction gives.
  auto both = [&](auto zero, const char *type) {
    using U = decltype(zero);
    constexpr unsigned bits = 8 * sizeof(U);
    const std::string t = std::string(".") + type, r = std::string("%") + Names<U>::reg,
                      d = r + "d, ", a = r + "a, ", b = r + "b", c = r + "c";
    using Twice = unsigned __int128;
    auto of = [](uint64_t high, uint64_t low) { return Twice(U(high)) << bits | U(low); };
    // (b:a) + (a:c), (b:a) - (a:c)
    check<U>("add.cc" + t + " " + d + a + c + "; addc" + t, d + b + ", " + r + "a",
             [&](uint64_t x, uint64_t y, uint64_t z) { return U((of(y, x) + of(x, z)) >> bits); });
    check<U>("sub.cc" + t + " " + d + a + c + "; subc" + t, d + b + ", " + r + "a",
             [&](uint64_t x, uint64_t y, uint64_t z) { return U((of(y, x) - of(x, z)) >> bits); });
    // Three parts: the carry out of the middle.
    check<U>("add.cc" + t + " " + d + a + c + "; addc.cc" + t + " " + d + b + ", " + r + "a; addc" +
                 t,
             d + "0, 0", [&](uint64_t x, uint64_t y, uint64_t z) {
               U carry = U(U(x) + U(z)) < U(x);
               Wide sum = Wide(U(y)) + U(x) + carry;
               return U(sum >> bits);
             });
    check<U>("sub.cc" + t + " " + d + a + c + "; subc.cc" + t + " " + d + b + ", " + r + "a; subc" +
                 t,
             d + "0, 0", [&](uint64_t x, uint64_t y, uint64_t z) {
               U borrow = U(x) < U(z);
               return Wide(U(y)) < Wide(U(x)) + borrow ? U(-1) : U(0);
             });
    // a * b + (a:c): low part, then high part and the carry.
    check<U>("mad.lo.cc" + t + " " + d + a + b + ", " + c + "; madc.hi" + t,
             d + a + b + ", " + r + "a", [&](uint64_t x, uint64_t y, uint64_t z) {
               return U((Twice(U(x)) * U(y) + of(x, z)) >> bits);
             });
    check<U>("mad.hi.cc" + t + " " + d + a + b + ", " + c + "; madc.lo" + t, d + "0, 0, 0",
             [&](uint64_t x, uint64_t y, uint64_t z) {
               return U((Wide(U(Twice(U(x)) * U(y) >> bits)) + U(z)) >> bits);
             });
    check<U>("add.cc" + t + " " + d + a + c + "; madc.lo.cc" + t + " " + d + a + b + ", " + c +
                 "; addc" + t,
             d + "0, 0", [&](uint64_t x, uint64_t y, uint64_t z) {
               U carry = U(U(x) + U(z)) < U(x);
               return U((Wide(U(Twice(U(x)) * U(y))) + U(z) + carry) >> bits);
             });
    check<U>("add.cc" + t + " " + d + a + c + "; madc.hi.cc" + t + " " + d + a + b + ", " + c +
                 "; addc" + t,
             d + "0, 0", [&](uint64_t x, uint64_t y, uint64_t z) {
               U carry = U(U(x) + U(z)) < U(x);
               return U((Wide(U(Twice(U(x)) * U(y) >> bits)) + U(z) + carry) >> bits);
             });
  };
  both(uint32_t(), "u32"), both(uint64_t(), "u64");
  // Signs matter in the high part of a product only.
  auto high = [&](auto zero) {
    using T = decltype(zero);
    const std::string t = std::string(".") + Names<T>::type, r = std::string("%") + Names<T>::reg;
    check<T>("add.cc" + t + " " + r + "d, " + r + "a, " + r + "c; madc.hi" + t, regs<T>("dabc", 4),
             [](uint64_t a, uint64_t b, uint64_t c) {
               using U = std::make_unsigned_t<T>;
               U carry = U(U(a) + U(c)) < U(a);
               return U((Wide(T(a)) * T(b) >> (8 * sizeof(T))) + Wide(U(c)) + carry);
             });
  };
  high(int32_t()), high(int64_t());
}

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

static int64_t part(uint64_t v, unsigned i, unsigned bits, bool isSigned) {
  int64_t x = v >> (i * bits) & ((1u << bits) - 1);
  return isSigned && x >> (bits - 1) ? x - (int64_t(1) << bits) : x;
}

TEST_F(InstructionForms, DistancesOfBytesAndHalves) {
  for (unsigned n : {2, 4})
    for (unsigned types = 0; types < 8; ++types)
      for (const char *how : {"", ".sat", ".add"}) {
        std::string form = "vabsdiff" + std::to_string(n);
        for (unsigned bit : {1, 2, 4})
          form += types & bit ? ".s32" : ".u32";
        check<uint32_t>(form + how, "%wd, %wa, %wb, %wc", [=](uint64_t a, uint64_t b, uint64_t c) {
          const unsigned bits = 32 / n;
          uint64_t sum = c, packed = 0;
          for (unsigned i = 0; i < n; ++i) {
            int64_t x = part(a, i, bits, types & 2), y = part(b, i, bits, types & 4),
                    distance = x < y ? y - x : x - y;
            sum += distance;
            int64_t most = types & 1 ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
            if (*how && distance > most)
              distance = most;
            packed |= (distance & ((1 << bits) - 1)) << (bits * i);
          }
          return uint32_t(how == std::string(".add") ? sum : packed);
        });
      }
}

TEST_F(InstructionForms, DotProductsOfBytes) {
  for (bool sa : {false, true})
    for (bool sb : {false, true}) {
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      check<uint32_t>("dp4a" + types, "%wd, %wa, %wb, %wc",
                      [=](uint64_t a, uint64_t b, uint64_t c) {
                        uint64_t sum = c;
                        for (unsigned i = 0; i < 4; ++i)
                          sum += part(a, i, 8, sa) * part(b, i, 8, sb);
                        return uint32_t(sum);
                      });
      for (bool hi : {false, true})
        check<uint32_t>(std::string("dp2a.") + (hi ? "hi" : "lo") + types, "%wd, %wa, %wb, %wc",
                        [=](uint64_t a, uint64_t b, uint64_t c) {
                          uint64_t sum = c;
                          for (unsigned i = 0; i < 2; ++i)
                            sum += part(a, i, 16, sa) * part(b, i + (hi ? 2 : 0), 8, sb);
                          return uint32_t(sum);
                        });
    }
}

TEST_F(InstructionForms, Selections) {
  auto select = [&](auto zero, const char *types) {
    using U = decltype(zero);
    const std::string r = std::string("%") + Names<U>::reg;
    for (llvm::StringRef rest = types; !rest.empty();) {
      llvm::StringRef type;
      std::tie(type, rest) = rest.split(' ');
      check<U>("setp.gt.s32 %pd, %wc, 3; selp." + type.str(), r + "d, " + r + "a, " + r + "b, %pd",
               [](uint64_t a, uint64_t b, uint64_t c) { return int32_t(c) > 3 ? U(a) : U(b); });
      check<U>("slct." + type.str() + ".s32", r + "d, " + r + "a, " + r + "b, %wc",
               [](uint64_t a, uint64_t b, uint64_t c) { return int32_t(c) >= 0 ? U(a) : U(b); });
      check<U>("slct." + type.str() + ".f32", r + "d, " + r + "a, " + r + "b, %wc",
               [](uint64_t a, uint64_t b, uint64_t c) {
                 return std::bit_cast<float>(uint32_t(c)) >= 0 ? U(a) : U(b);
               });
    }
  };
  select(uint16_t(), "b16 u16 s16"), select(uint32_t(), "b32 u32 s32 f32"),
      select(uint64_t(), "b64 u64 s64 f64");
  // testp of every class.
  auto classes = [&](auto value, const char *type, const char *reg) {
    using F = decltype(value);
    using U = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;
    auto test = [&](const char *what, bool (*is)(F)) {
      check<uint32_t>(std::string("testp.") + what + "." + type + " %pd, " + reg + "; selp.u32",
                      "%wd, 1, 0, %pd",
                      [=](uint64_t a, uint64_t, uint64_t) { return is(std::bit_cast<F>(U(a))); });
    };
    test("finite", [](F v) { return std::isfinite(v); });
    test("infinite", [](F v) { return std::isinf(v); });
    test("number", [](F v) { return !std::isnan(v); });
    test("notanumber", [](F v) { return std::isnan(v); });
    test("normal", [](F v) { return std::isnormal(v); });
    test("subnormal", [](F v) { return std::fpclassify(v) == FP_SUBNORMAL; });
  };
  classes(float(), "f32", "%wa"), classes(double(), "f64", "%la");
}

// Reciprocals in all roundings: floats as the operands, the host's own rounding as reference.
TEST_F(InstructionForms, ReciprocalsAndSigns) {
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const char *names[] = {"rn", "rz", "rm", "rp"};
  auto rounded = [&](int mode, auto &&compute) {
    std::fesetround(mode);
    auto r = compute();
    std::fesetround(FE_TONEAREST);
    return r;
  };
  for (unsigned k = 0; k < 4; ++k) {
    check<uint32_t>(
        std::string("or.b32 %wa, %wa, 0x3f000000; and.b32 %wa, %wa, 0xbfffffff; rcp.") + names[k] +
            ".f32",
        "%wd, %wa", [&](uint64_t a, uint64_t, uint64_t) {
          volatile float x = std::bit_cast<float>((uint32_t(a) | 0x3f000000) & 0xbfffffff), one = 1;
          return std::bit_cast<uint32_t>(rounded(modes[k], [&] { return one / x; }));
        });
    check<uint64_t>(
        std::string(
            "or.b64 %la, %la, 0x3fe0000000000000; and.b64 %la, %la, 0xbfffffffffffffff; rcp.") +
            names[k] + ".f64",
        "%ld, %la", [&](uint64_t a, uint64_t, uint64_t) {
          volatile double x = std::bit_cast<double>((a | 0x3fe0000000000000) & 0xbfffffffffffffff),
                          one = 1;
          return std::bit_cast<uint64_t>(rounded(modes[k], [&] { return one / x; }));
        });
  }
  // The sign of a NaN is left open.
  check<uint32_t>(
      "and.b32 %wa, %wa, 0xff7fffff; neg.f32", "%wd, %wa",
      [](uint64_t a, uint64_t, uint64_t) { return uint32_t((a & 0xff7fffff) ^ 0x80000000); });
  check<uint32_t>("and.b32 %wa, %wa, 0xff7fffff; abs.f32", "%wd, %wa",
                  [](uint64_t a, uint64_t, uint64_t) { return uint32_t(a & 0x7f7fffff); });
  check<uint64_t>(
      "and.b64 %la, %la, 0xffefffffffffffff; neg.f64", "%ld, %la",
      [](uint64_t a, uint64_t, uint64_t) { return (a & 0xffefffffffffffff) ^ 0x8000000000000000; });
  check<uint64_t>("and.b64 %la, %la, 0xffefffffffffffff; abs.f64", "%ld, %la",
                  [](uint64_t a, uint64_t, uint64_t) { return a & 0x7fefffffffffffff; });
  for (const char *type : {"f16", "bf16"}) {
    const uint16_t finite = type[0] == 'f' ? 0xfbff : 0xff7f;
    const std::string clear = "and.b16 %ha, %ha, " + std::to_string(finite) + "; ";
    check<uint16_t>(clear + "neg." + type, "%hd, %ha", [=](uint64_t a, uint64_t, uint64_t) {
      return uint16_t((a & finite) ^ 0x8000);
    });
    check<uint16_t>(clear + "abs." + type, "%hd, %ha",
                    [=](uint64_t a, uint64_t, uint64_t) { return uint16_t(a & finite & 0x7fff); });
    const std::string pairs = "and.b32 %wa, %wa, " + std::to_string(finite * 0x10001u) + "; ";
    check<uint32_t>(pairs + "neg." + type + "x2", "%wd, %wa", [=](uint64_t a, uint64_t, uint64_t) {
      return uint32_t((a & finite * 0x10001u) ^ 0x80008000);
    });
    check<uint32_t>(pairs + "abs." + type + "x2", "%wd, %wa", [=](uint64_t a, uint64_t, uint64_t) {
      return uint32_t(a & finite * 0x10001u & 0x7fff7fff);
    });
  }
}

// The manual's bounds, each where it says that they hold.
TEST_F(InstructionForms, Approximations) {
  V x32, x64;
  for (int i = 1; i < 1500; ++i) {
    x32.push_back(std::bit_cast<uint32_t>(float(i) * 0.00209f));
    x64.push_back(std::bit_cast<uint64_t>(double(i) * 0.0137));
  }
  auto close = [&](const char *form, double (*exact)(double), double relative, double absolute) {
    for (const char *ftz : {"", ".ftz"}) {
      const std::string text = std::string(form) + ftz + ".f32 %wd, %wa;";
      forms.push_back(text);
      V got = eval(text, 'w', {x32});
      ASSERT_EQ(got.size(), x32.size());
      for (size_t i = 0; i < got.size(); ++i) {
        const double v = std::bit_cast<float>(uint32_t(x32[i])), want = exact(v);
        EXPECT_LE(std::fabs(std::bit_cast<float>(uint32_t(got[i])) - want),
                  std::max(relative * std::fabs(want), absolute))
            << text << " of " << v;
      }
    }
  };
  close("sin.approx", std::sin, 0, 0x1.6p-21);
  close("cos.approx", std::cos, 0, 0x1.6p-21);
  close("ex2.approx", std::exp2, 0x1p-22, 0);
  close("lg2.approx", std::log2, 0x1p-22, 0x1p-22);
  close("rcp.approx", [](double v) { return 1 / v; }, 0x1p-23, 0);
  close("sqrt.approx", std::sqrt, 0x1p-23, 0);
  close("rsqrt.approx", [](double v) { return 1 / std::sqrt(v); }, 0x1.2p-23, 0);
  for (const char *op : {"rcp", "rsqrt"}) {
    const std::string text = std::string(op) + ".approx.ftz.f64 %ld, %la;";
    forms.push_back(text);
    V got = eval(text, 'l', {x64});
    ASSERT_EQ(got.size(), x64.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const double v = std::bit_cast<double>(x64[i]),
                   want = op[1] == 'c' ? 1 / v : 1 / std::sqrt(v);
      EXPECT_LE(std::fabs(std::bit_cast<double>(got[i]) / want - 1), 0x1p-20)
          << text << " of " << v;
      EXPECT_EQ(uint32_t(got[i]), 0u); // the result has 20 bits of fraction
    }
  }
}

// Pairs of fp6, fp4 and ue8m0. Halves differ; the first source goes to the upper one.
TEST_F(InstructionForms, SmallFloats) {
  target = "sm_120a";
  using numerics::Format;
  auto round = [](uint64_t bits, Format from, Format to, numerics::Rounding rounding, bool saturate,
                  bool relu) -> uint64_t {
    const double value = numerics::info(from).bits == 32
                             ? double(std::bit_cast<float>(uint32_t(bits)))
                             : decode(Kind::F16, bits);
    if (relu && value <= 0)
      return 0;
    return numerics::convert(bits, from, to, rounding,
                             saturate ? numerics::Overflow::Saturate : numerics::Overflow::IEEE);
  };
  struct Small {
    const char *name;
    Format format;
    unsigned slot;
  };
  const Small smalls[] = {{"e2m1x2", Format::F4E2M1FN, 4},
                          {"e3m2x2", Format::F6E3M2FN, 8},
                          {"e2m3x2", Format::F6E2M3FN, 8}};
  // fp4 pairs live in registers of 8 bits.
  const std::string open = "{ .reg .b8 q; ", widen = " cvt.u16.u8 %hd, q; } mov.b16";
  for (const Small &s : smalls)
    for (bool relu : {false, true}) {
      const std::string modifiers =
          std::string("cvt.rn.satfinite.") + (relu ? "relu." : "") + s.name;
      auto to = [&](const std::string &from, const std::string &sources, Format format,
                    auto halves) {
        const bool bytes = s.slot == 4;
        check<uint16_t>((bytes ? open : "") + modifiers + "." + from + (bytes ? " q, " : " %hd, ") +
                            sources + (bytes ? ";" + widen : "; mov.b16"),
                        "%hd, %hd", [&](uint64_t a, uint64_t b, uint64_t) {
                          auto [high, low] = halves(a, b);
                          return round(high, format, s.format, numerics::Rounding::RNE, true, relu)
                                     << s.slot |
                                 round(low, format, s.format, numerics::Rounding::RNE, true, relu);
                        });
      };
      to("f32", "%wa, %wb", Format::F32, [](uint64_t a, uint64_t b) {
        return std::pair<uint64_t, uint64_t>(uint32_t(a), uint32_t(b));
      });
      if (s.slot == 4)
        to("f16x2", "%wa", Format::F16, [](uint64_t a, uint64_t) {
          return std::pair<uint64_t, uint64_t>(a >> 16 & 0xffff, a & 0xffff);
        });
      const bool bytes = s.slot == 4;
      check<uint32_t>(
          (bytes ? open + "cvt.u8.u16 q, %ha; " : std::string("and.b16 %ha, %ha, 0x3f3f; ")) +
              "cvt.rn." + (relu ? "relu." : "") + "f16x2." + s.name,
          bytes ? "%wd, q; } mov.b32 %wd, %wd" : "%wd, %ha", [&](uint64_t a, uint64_t, uint64_t) {
            auto one = [&](uint64_t bits) -> uint64_t {
              bits &= bytes ? 15 : 63;
              const uint64_t sign = bytes ? 8 : 32; // of the format
              return relu && bits & sign ? 0 : numerics::convert(bits, s.format, Format::F16);
            };
            return one(a >> s.slot) << 16 | one(a);
          });
    }
  // Scales: the sign is dropped, NaN is 0xff.
  for (auto [name, rounding] :
       {std::pair{"rz", numerics::Rounding::RZ}, {"rp", numerics::Rounding::RU}})
    for (bool saturate : {false, true}) {
      const std::string op =
          std::string("cvt.") + name + (saturate ? ".satfinite" : "") + ".ue8m0x2.";
      auto scale = [=](double v) -> uint64_t { // the exponent of a power of two
        v = std::fabs(v);
        if (std::isnan(v))
          return 0xff;
        if (std::isinf(v))
          return saturate ? 0xfe : 0xff;
        int exponent = 0;
        const double fraction =
            std::frexp(v, &exponent); // v = fraction * 2^exponent, fraction in [1/2, 1)
        exponent += (rounding == numerics::Rounding::RU && fraction != 0.5 ? 0 : -1) + 127;
        return v == 0 ? 0 : exponent < 0 ? 0 : exponent > 254 ? (saturate ? 0xfe : 0xff) : exponent;
      };
      check<uint16_t>(op + "f32", "%hd, %wa, %wb", [&](uint64_t a, uint64_t b, uint64_t) {
        return scale(std::bit_cast<float>(uint32_t(a))) << 8 |
               scale(std::bit_cast<float>(uint32_t(b)));
      });
      check<uint16_t>(op + "bf16x2", "%hd, %wa", [&](uint64_t a, uint64_t, uint64_t) {
        return scale(decode(Kind::BF16, a >> 16 & 0xffff)) << 8 |
               scale(decode(Kind::BF16, a & 0xffff));
      });
    }
  check<uint32_t>("cvt.rn.bf16x2.ue8m0x2", "%wd, %ha", [](uint64_t a, uint64_t, uint64_t) {
    auto one = [](uint64_t e) -> uint64_t { return e == 255 ? 0x7fff : e == 0 ? 0x40 : e << 7; };
    return one(a >> 8 & 255) << 16 | one(a & 255);
  });
}

// Integers have no subnormals to flush.
TEST_F(InstructionForms, FlushedConversions) {
  check<uint32_t>("cvt.rn.ftz.f32.u32", "%wd, %wa", [](uint64_t a, uint64_t, uint64_t) {
    return std::bit_cast<uint32_t>(float(uint32_t(a)));
  });
  check<uint32_t>("cvt.rn.ftz.f32.s64", "%wd, %la", [](uint64_t a, uint64_t, uint64_t) {
    return std::bit_cast<uint32_t>(float(int64_t(a)));
  });
}

// Instructions that change no value here: hints, orders of memory, waits for time.
TEST_F(InstructionForms, HintsAndFences) {
  for (const char *form :
       {"prefetch.global.L1 [%la];", "prefetch.global.L2 [%la];", "prefetchu.L1 [%la];",
        "applypriority.global.L2::evict_normal [%la], 128;",
        "createpolicy.fractional.L2::evict_last.b64 %lc, 1.0;", "nanosleep.u32 20;", "pmevent 3;",
        "griddepcontrol.wait;", "griddepcontrol.launch_dependents;", "membar.cta;", "membar.gl;",
        "membar.sys;", "fence.sc.cta;", "fence.acq_rel.gpu;", "fence.acq_rel.sys;",
        "fence.acq_rel.cluster;", "fence.proxy.alias;", "fence.proxy.async;",
        "fence.proxy.async.global;"}) {
    forms.push_back(form);
    EXPECT_EQ(eval(std::string(form) + " add.u32 %wd, %wb, 1;", 'w', {V{7}, V{41}}), V{42}) << form;
  }
  // Uniform loads are loads; address spaces are told apart.
  forms.push_back("ldu.global.u32 %wd, [%la];");
  EXPECT_EQ(eval("st.global.b64 [%out], %la; ldu.global.u32 %wd, [%out];", 'w', {V{0x100000007}}),
            V{7});
  const std::string spaces =
      R"({ .local .align 4 .b8 loc[4]; .shared .align 4 .b8 sh[4]; .reg .b64 p<4>; .reg .pred q; .reg .b32 bit;
    mov.u64 p0, loc; cvta.local.u64 p0, p0; mov.u64 p1, sh; cvta.shared.u64 p1, p1; mov.u64 p2, %out; mov.u64 p3, B; cvta.param.u64 p3, p3; )";
  const char *names[] = {"local", "shared", "global"};
  for (unsigned which = 0; which < 3; ++which)
    for (unsigned pointer = 0; pointer < 3; ++pointer) {
      forms.push_back(std::string("isspacep.") + names[which] + " %pd, %la;");
      EXPECT_EQ(eval(spaces + "isspacep." + names[which] + " q, p" + std::to_string(pointer) +
                         "; selp.u32 %wd, 1, 0, q; }",
                     'w', {V{0}}),
                V{which == pointer})
          << names[which] << " of " << names[pointer];
    }
}
