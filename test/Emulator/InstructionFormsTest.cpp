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
