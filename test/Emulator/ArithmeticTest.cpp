// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar instructions against plain C++ and APFloat.

#include "TestSupport.h"
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>
#include <random>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using llvm::APFloat;
using V = std::vector<uint64_t>;

static uint64_t f(float v) { return std::bit_cast<uint32_t>(v); }
static uint64_t d(double v) { return std::bit_cast<uint64_t>(v); }

static V corners32() {
  return {0,          1,          2,          31,         32,         33,
          0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x12345678,
          0xdeadbeef, 0x00ff00ff, 0x8000,     0x7fff};
}
static void allPairs(const V &values, V &a, V &b) {
  for (uint64_t x : values)
    for (uint64_t y : values)
      a.push_back(x), b.push_back(y);
}
static void expectAll(const V &got, const V &want, const char *what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], want[i]) << what << " at " << i << std::hex << " got " << got[i] << " want "
                               << want[i];
}
template <class F> static V map(const V &a, const V &b, F fn) {
  V r;
  for (size_t i = 0; i < a.size(); ++i)
    r.push_back(fn(a[i], b[i]));
  return r;
}

TEST(Integer, ThirtyTwoBits) {
  V a, b;
  allPairs(corners32(), a, b);
  struct {
    const char *op;
    uint32_t (*fn)(uint32_t, uint32_t);
  } cases[] = {
      {"add.s32", [](uint32_t x, uint32_t y) { return x + y; }},
      {"sub.u32", [](uint32_t x, uint32_t y) { return x - y; }},
      {"mul.lo.s32", [](uint32_t x, uint32_t y) { return x * y; }},
      {"mul.hi.u32", [](uint32_t x, uint32_t y) { return uint32_t(uint64_t(x) * y >> 32); }},
      {"mul.hi.s32",
       [](uint32_t x, uint32_t y) { return uint32_t(int64_t(int32_t(x)) * int32_t(y) >> 32); }},
      {"min.s32",
       [](uint32_t x, uint32_t y) { return uint32_t(std::min(int32_t(x), int32_t(y))); }},
      {"max.u32", [](uint32_t x, uint32_t y) { return std::max(x, y); }},
      {"and.b32", [](uint32_t x, uint32_t y) { return x & y; }},
      {"xor.b32", [](uint32_t x, uint32_t y) { return x ^ y; }},
      {"shl.b32", [](uint32_t x, uint32_t y) { return y > 31 ? 0 : x << y; }},
      {"shr.u32", [](uint32_t x, uint32_t y) { return y > 31 ? 0 : x >> y; }},
      {"shr.s32", [](uint32_t x, uint32_t y) { return uint32_t(int32_t(x) >> std::min(y, 31u)); }},
      {"div.u32", [](uint32_t x, uint32_t y) { return y ? x / y : ~0u; }},
      {"rem.u32", [](uint32_t x, uint32_t y) { return y ? x % y : x; }},
      {"div.s32",
       [](uint32_t x, uint32_t y) {
         return y == 0 ? ~0u : y == ~0u ? -x : uint32_t(int32_t(x) / int32_t(y));
       }},
      {"add.sat.s32",
       [](uint32_t x, uint32_t y) {
         return uint32_t(
             std::clamp<int64_t>(int64_t(int32_t(x)) + int32_t(y), INT32_MIN, INT32_MAX));
       }},
  };
  for (auto &c : cases)
    expectAll(eval(std::string(c.op) + " %wd, %wa, %wb;", 'w', {a, b}), map(a, b, c.fn), c.op);
}

TEST(Integer, WideAndNarrow) {
  V a, b;
  allPairs(corners32(), a, b);
  expectAll(
      eval("mul.wide.s32 %ld, %wa, %wb;", 'l', {a, b}),
      map(a, b, [](uint64_t x, uint64_t y) { return uint64_t(int64_t(int32_t(x)) * int32_t(y)); }),
      "mul.wide");
  expectAll(eval("mul.hi.s16 %hd, %ha, %hb;", 'h', {a, b}),
            map(a, b,
                [](uint64_t x, uint64_t y) {
                  return uint64_t(uint16_t(int32_t(int16_t(x)) * int16_t(y) >> 16));
                }),
            "mul.hi.s16");
  expectAll(
      eval("mad.wide.u32 %ld, %wa, %wb, 7;", 'l', {a, b}),
      map(a, b, [](uint64_t x, uint64_t y) { return uint64_t(uint32_t(x)) * uint32_t(y) + 7; }),
      "mad.wide");
  expectAll(eval("shr.s16 %hd, %ha, 3;", 'h', {a, b}),
            map(a, b, [](uint64_t x, uint64_t) { return uint64_t(uint16_t(int16_t(x) >> 3)); }),
            "shr.s16");
  // 128-bit addition through the carry flag.
  expectAll(
      eval("add.cc.u32 %wd, %wa, %wb; addc.u32 %wd, 0, 0;", 'w', {a, b}),
      map(a, b, [](uint64_t x, uint64_t y) { return (uint64_t(uint32_t(x)) + uint32_t(y)) >> 32; }),
      "carry");
  expectAll(
      eval("sub.cc.u32 %wd, %wa, %wb; subc.u32 %wd, 0, 0;", 'w', {a, b}),
      map(a, b,
          [](uint64_t x, uint64_t y) { return uint64_t(uint32_t(x) < uint32_t(y) ? ~0u : 0); }),
      "borrow");
}

TEST(Bits, FieldsAndPermutations) {
  V a, b;
  allPairs(corners32(), a, b);
  expectAll(eval("bfe.u32 %wd, %wa, 4, 9;", 'w', {a, b}),
            map(a, b, [](uint64_t x, uint64_t) { return (uint32_t(x) >> 4) & 0x1ff; }), "bfe.u32");
  expectAll(eval("bfe.s32 %wd, %wa, 4, 9;", 'w', {a, b}),
            map(a, b,
                [](uint64_t x, uint64_t) {
                  return uint64_t(uint32_t(int32_t(uint32_t(x) << 19) >> 23));
                }),
            "bfe.s32");
  expectAll(eval("bfe.s32 %wd, %wa, 28, 9;", 'w', {a, b}),
            map(a, b, [](uint64_t x, uint64_t) { return uint64_t(uint32_t(int32_t(x) >> 28)); }),
            "bfe.s32 past the end");
  expectAll(eval("bfi.b32 %wd, %wa, %wb, 8, 5;", 'w', {a, b}),
            map(a, b,
                [](uint64_t x, uint64_t y) {
                  return (uint32_t(y) & ~0x1f00u) | (uint32_t(x) & 31) << 8;
                }),
            "bfi");
  expectAll(eval("prmt.b32 %wd, %wa, %wb, 0x7531;", 'w', {a, b}),
            map(a, b,
                [](uint64_t x, uint64_t y) {
                  uint64_t v = y << 32 | uint32_t(x);
                  return uint64_t((v >> 8 & 255) | (v >> 24 & 255) << 8 | (v >> 40 & 255) << 16 |
                                  (v >> 56 & 255) << 24);
                }),
            "prmt");
  expectAll(eval("prmt.b32 %wd, %wa, %wb, 0x8888;", 'w', {a, b}),
            map(a, b, [](uint64_t x, uint64_t) { return x & 0x80 ? 0xffffffff : 0; }), "prmt sign");
  expectAll(
      eval("shf.l.wrap.b32 %wd, %wa, %wb, 12;", 'w', {a, b}),
      map(a, b,
          [](uint64_t x, uint64_t y) { return uint64_t(uint32_t(y << 12 | uint32_t(x) >> 20)); }),
      "shf.l");
  expectAll(eval("shf.r.clamp.b32 %wd, %wa, %wb, 40;", 'w', {a, b}),
            map(a, b, [](uint64_t, uint64_t y) { return y; }), "shf.r.clamp");
  expectAll(
      eval("lop3.b32 %wd, %wa, %wb, 0xf0f0f0f0, 0x96;", 'w', {a, b}),
      map(a, b, [](uint64_t x, uint64_t y) { return uint64_t(uint32_t(x ^ y ^ 0xf0f0f0f0)); }),
      "lop3");
  expectAll(eval("popc.b32 %wd, %wa;", 'w', {a}),
            map(a, b, [](uint64_t x, uint64_t) { return uint64_t(std::popcount(uint32_t(x))); }),
            "popc");
  expectAll(eval("clz.b64 %wd, %la;", 'w', {a}),
            map(a, b, [](uint64_t x, uint64_t) { return uint64_t(std::countl_zero(x)); }), "clz");
  expectAll(eval("bfind.s32 %wd, %wa;", 'w', {V{0, 1, 0xffffffff, 0x80000000, 0xfffffffe}}),
            V{0xffffffff, 0, 0xffffffff, 30, 0}, "bfind");
  expectAll(eval("brev.b32 %wd, %wa;", 'w', {V{1, 0x80000000, 0xf0}}), V{0x80000000, 1, 0x0f000000},
            "brev");
  expectAll(eval("dp4a.s32.u32 %wd, %wa, %wb, 10;", 'w', {V{0xff010203}, V{0x01020304}}),
            V{uint32_t(10 + 3 * 4 + 2 * 3 + 1 * 2 - 1)}, "dp4a");
}

static const float floats[] = {0.0f,     -0.0f,     1.0f,        -1.0f,     1.5f,
                               3.0f,     0x1p-149f, 0x1.8p-127f, 0x1p-126f, 0x1.fffffep127f,
                               INFINITY, -INFINITY, NAN,         0.1f,      -7.25f,
                               1e-20f,   1e20f,     16777216.0f, 0.3333333f};

// A bit pattern, with every NaN as the canonical one.
static uint64_t canonical(const APFloat &v) {
  return v.isNaN() ? 0x7fffffff : v.bitcastToAPInt().getZExtValue();
}

TEST(Float, EveryRoundingAgainstAPFloat) {
  V a, b, c;
  for (float x : floats)
    for (float y : floats)
      for (float z : {1.0f, -0.1f, 0x1p-149f, 1e20f})
        a.push_back(f(x)), b.push_back(f(y)), c.push_back(f(z));
  struct {
    const char *name;
    APFloat::roundingMode mode;
  } modes[] = {{"rn", APFloat::rmNearestTiesToEven},
               {"rz", APFloat::rmTowardZero},
               {"rm", APFloat::rmTowardNegative},
               {"rp", APFloat::rmTowardPositive}};
  auto of = [](uint64_t bits) { return APFloat(std::bit_cast<float>(uint32_t(bits))); };
  for (auto &mode : modes) {
    std::string m = mode.name;
    V add, mul, div, fma, ftz;
    for (size_t i = 0; i < a.size(); ++i) {
      APFloat x = of(a[i]);
      x.add(of(b[i]), mode.mode);
      add.push_back(canonical(x));
      x = of(a[i]);
      x.multiply(of(b[i]), mode.mode);
      mul.push_back(canonical(x));
      x = of(a[i]);
      x.divide(of(b[i]), mode.mode);
      div.push_back(canonical(x));
      x = of(a[i]);
      x.fusedMultiplyAdd(of(b[i]), of(c[i]), mode.mode);
      fma.push_back(canonical(x));
    }
    expectAll(eval("add." + m + ".f32 %wd, %wa, %wb;", 'w', {a, b}), add, "add");
    expectAll(eval("mul." + m + ".f32 %wd, %wa, %wb;", 'w', {a, b}), mul, "mul");
    expectAll(eval("div." + m + ".f32 %wd, %wa, %wb;", 'w', {a, b}), div, "div");
    expectAll(eval("fma." + m + ".f32 %wd, %wa, %wb, %wc;", 'w', {a, b, c}), fma, "fma");
  }
}

TEST(Float, SoftwareFmaRoundsOnce) {
  // fma.ftz takes the path without the host's fused instruction; results here are normal.
  std::mt19937 rng(7);
  V a, b, c, want;
  for (int i = 0; i < 4000; ++i) {
    auto pick = [&] {
      return std::bit_cast<float>(uint32_t((rng() & 0x807fffff) | (100 + rng() % 54) << 23));
    };
    float x = pick(), y = pick(), z = i % 3 ? pick() : -x * y * (1 + 0x1p-23f * float(rng() % 5));
    APFloat r(x);
    r.fusedMultiplyAdd(APFloat(y), APFloat(z), APFloat::rmNearestTiesToEven);
    if (r.isDenormal() || APFloat(z).isDenormal())
      continue;
    a.push_back(f(x)), b.push_back(f(y)), c.push_back(f(z)), want.push_back(canonical(r));
  }
  expectAll(eval("fma.rn.ftz.f32 %wd, %wa, %wb, %wc;", 'w', {a, b, c}), want, "fma.ftz");
}

TEST(Float, FlushSaturateMinMax) {
  expectAll(eval("add.ftz.f32 %wd, %wa, %wb;", 'w',
                 {V{f(0x1p-130f), f(-0x1p-130f)}, V{f(0x1p-130f), f(-0.0f)}}),
            V{f(0.0f), f(-0.0f)}, "ftz");
  expectAll(eval("add.sat.f32 %wd, %wa, 0f00000000;", 'w', {V{f(2), f(-2), f(0.25f), f(NAN)}}),
            V{f(1), f(0), f(0.25f), f(0)}, "sat");
  expectAll(eval("min.f32 %wd, %wa, %wb;", 'w',
                 {V{f(NAN), f(1), f(-0.0f), f(NAN)}, V{f(2), f(NAN), f(0.0f), f(NAN)}}),
            V{f(2), f(1), f(-0.0f), 0x7fffffff}, "min");
  expectAll(
      eval("max.NaN.f32 %wd, %wa, %wb;", 'w', {V{f(NAN), f(1), f(-0.0f)}, V{f(2), f(3), f(0.0f)}}),
      V{0x7fffffff, f(3), f(0.0f)}, "max.NaN");
  V first{f(NAN), f(1), f(-0x1p-130f), f(NAN)}, second{f(2), f(NAN), f(-0.0f), f(NAN)},
      third{f(-3), f(4), f(-1), f(NAN)};
  expectAll(eval("max.f32 %wd, %wa, %wb, %wc;", 'w', {first, second, third}, "", "sm_100a"),
            V{f(2), f(4), f(-0.0f), 0x7fffffff}, "max of three");
  expectAll(eval("min.ftz.NaN.f32 %wd, %wa, %wb, %wc;", 'w', {first, second, third}, "", "sm_100a"),
            V{0x7fffffff, 0x7fffffff, f(-1), 0x7fffffff}, "min of three");
  expectAll(
      eval("fma.rn.f64 %ld, %la, %lb, %lc;", 'l', {V{d(1 + 0x1p-52)}, V{d(1 - 0x1p-52)}, V{d(-1)}}),
      V{d(-0x1p-104)}, "fma.f64");
  expectAll(eval("copysign.f32 %wd, %wa, %wb;", 'w', {V{f(-2)}, V{f(3)}}), V{f(-3)}, "copysign");
  expectAll(eval("sqrt.rn.f32 %wd, %wa;", 'w', {V{f(2), f(-1), f(-0.0f)}}),
            V{f(std::sqrt(2.0f)), 0x7fffffff, f(-0.0f)}, "sqrt");
  expectAll(
      eval("sqrt.rp.f32 %wd, %wa;", 'w', {V{f(2), f(4)}}),
      V{f(std::nextafter(std::sqrt(2.0f), 2.0f)) - (double(std::sqrt(2.0f)) * std::sqrt(2.0f) > 2),
        f(2)},
      "sqrt.rp");
}

TEST(Half, EveryF16SumAndFmaOfASample) {
  std::mt19937 rng(3);
  auto half = [](uint64_t bits) { return APFloat(APFloat::IEEEhalf(), llvm::APInt(16, bits)); };
  auto bf = [](uint64_t bits) { return APFloat(APFloat::BFloat(), llvm::APInt(16, bits)); };
  auto bits = [](const APFloat &v) {
    return v.isNaN() ? 0x7fff : v.bitcastToAPInt().getZExtValue();
  };
  V a, b, c, sum, product, fma, fmaBf, addBf;
  for (int i = 0; i < 20000; ++i) {
    uint64_t x = rng() & 0xffff, y = rng() & 0xffff, z = rng() & 0xffff;
    a.push_back(x), b.push_back(y), c.push_back(z);
    APFloat r = half(x);
    r.add(half(y), APFloat::rmNearestTiesToEven);
    sum.push_back(bits(r));
    r = half(x);
    r.multiply(half(y), APFloat::rmNearestTiesToEven);
    product.push_back(bits(r));
    r = half(x);
    r.fusedMultiplyAdd(half(y), half(z), APFloat::rmNearestTiesToEven);
    fma.push_back(bits(r));
    r = bf(x);
    r.fusedMultiplyAdd(bf(y), bf(z), APFloat::rmNearestTiesToEven);
    fmaBf.push_back(bits(r));
    r = bf(x);
    r.add(bf(y), APFloat::rmNearestTiesToEven);
    addBf.push_back(bits(r));
  }
  expectAll(eval("add.f16 %hd, %ha, %hb;", 'h', {a, b}), sum, "add.f16");
  expectAll(eval("mul.rn.f16 %hd, %ha, %hb;", 'h', {a, b}), product, "mul.f16");
  expectAll(eval("fma.rn.f16 %hd, %ha, %hb, %hc;", 'h', {a, b, c}), fma, "fma.f16");
  expectAll(eval("fma.rn.bf16 %hd, %ha, %hb, %hc;", 'h', {a, b, c}), fmaBf, "fma.bf16");
  expectAll(eval("add.rn.bf16 %hd, %ha, %hb;", 'h', {a, b}), addBf, "add.bf16");
  // The pair form does both halves.
  V pa, pb, pc, want;
  for (size_t i = 0; i + 1 < a.size(); i += 2) {
    pa.push_back(a[i] | a[i + 1] << 16), pb.push_back(b[i] | b[i + 1] << 16),
        pc.push_back(c[i] | c[i + 1] << 16);
    want.push_back(fma[i] | fma[i + 1] << 16);
  }
  expectAll(eval("fma.rn.f16x2 %wd, %wa, %wb, %wc;", 'w', {pa, pb, pc}), want, "fma.f16x2");
}

TEST(Float, SixteenBitSources) {
  // 1.5 and 2 as f16; -3 as bf16.
  expectAll(
      eval("add.rn.f32.f16 %wd, %ha, %wc;", 'w', {V{0x3e00}, V{0}, V{f(0.25f)}}, "", "sm_100"),
      V{f(1.75f)}, "add.f32.f16");
  expectAll(
      eval("sub.rz.f32.f16 %wd, %ha, %wc;", 'w', {V{0x3e00}, V{0}, V{f(0x1p-40f)}}, "", "sm_100"),
      V{f(1.5f) - 1}, "sub.rz.f32.f16");
  expectAll(eval("fma.rn.f32.f16 %wd, %ha, %hb, %wc;", 'w', {V{0x3e00}, V{0x4000}, V{f(-1)}}, "",
                 "sm_100"),
            V{f(2)}, "fma.f32.f16");
  expectAll(eval("fma.rn.sat.f32.bf16 %wd, %ha, %hb, %wc;", 'w',
                 {V{0xc040}, V{0xc040}, V{f(-8.5f)}}, "", "sm_100"),
            V{f(0.5f)}, "fma.f32.bf16");
}

TEST(Compare, OrderedAndUnordered) {
  V a = {f(1), f(2), f(NAN), f(1)}, b = {f(1), f(1), f(1), f(NAN)};
  expectAll(eval("setp.lt.f32 %pd, %wb, %wa;", 'p', {a, b}), V{0, 1, 0, 0}, "lt");
  expectAll(eval("setp.ltu.f32 %pd, %wb, %wa;", 'p', {a, b}), V{0, 1, 1, 1}, "ltu");
  expectAll(eval("setp.ne.f32 %pd, %wa, %wb;", 'p', {a, b}), V{0, 1, 0, 0}, "ne");
  expectAll(eval("setp.neu.f32 %pd, %wa, %wb;", 'p', {a, b}), V{0, 1, 1, 1}, "neu");
  expectAll(eval("setp.nan.f32 %pd, %wa, %wb;", 'p', {a, b}), V{0, 0, 1, 1}, "nan");
  expectAll(eval("setp.lt.s32 %pd, %wa, 0;", 'p', {V{0xffffffff, 1}}), V{1, 0}, "lt.s32");
  expectAll(eval("setp.lo.u32 %pd, %wa, 7;", 'p', {V{0xffffffff, 1}}), V{0, 1}, "lo.u32");
  expectAll(eval("{ .reg .pred q; setp.eq.s32 q, %wa, 1; setp.eq.and.s32 %pd, %wb, 2, !q; }", 'p',
                 {V{1, 0, 0}, V{2, 2, 3}}),
            V{0, 1, 0}, "and");
  expectAll(eval("{ .reg .pred q; setp.eq.s32 q|%pd, %wa, 1; }", 'p', {V{1, 0}}), V{0, 1},
            "second result");
  expectAll(eval("set.gt.u32.f32 %wd, %wa, 0f3F800000;", 'w', {V{f(2), f(0)}}), V{0xffffffff, 0},
            "set");
  expectAll(eval("setp.gt.f16 %pd, %ha, %hb;", 'p', {V{0x3c00, 0x7e00}, V{0x3800, 0x3c00}}),
            V{1, 0}, "f16");
}

TEST(Approximate, WithinTheManualsBounds) {
  V x;
  for (int i = 1; i < 3000; ++i)
    x.push_back(f(float(i) * 0.0137f));
  V ex2 = eval("ex2.approx.ftz.f32 %wd, %wa;", 'w', {x}),
    lg2 = eval("lg2.approx.f32 %wd, %wa;", 'w', {x}),
    rsqrt = eval("rsqrt.approx.f32 %wd, %wa;", 'w', {x}),
    tanh = eval("tanh.approx.f32 %wd, %wa;", 'w', {x});
  for (size_t i = 0; i < x.size(); ++i) {
    double v = std::bit_cast<float>(uint32_t(x[i]));
    auto get = [&](const V &r) { return double(std::bit_cast<float>(uint32_t(r[i]))); };
    EXPECT_LE(std::fabs(get(ex2) / std::exp2(v) - 1), 0x1p-22);
    EXPECT_LE(std::fabs(get(lg2) - std::log2(v)), 0x1p-22 * std::max(1.0, std::fabs(std::log2(v))));
    EXPECT_LE(std::fabs(get(rsqrt) * std::sqrt(v) - 1), 0x1p-22);
    EXPECT_LE(std::fabs(get(tanh) / std::tanh(v) - 1), 0x1p-11);
  }
}

TEST(Float, PairsOfF32AreTwoF32) {
  const float values[] = {0.0f, -0.0f, 1.5f, -2.25f, 1e-40f, 3e38f, INFINITY, NAN, 0x1.fffffep-3f};
  V a, b, c;
  for (float x : values)
    for (float y : values) {
      a.push_back(f(x) | f(y) << 32);
      b.push_back(f(y) | f(x) << 32);
      c.push_back(f(y * 0.5f) | f(-x) << 32);
    }
  auto both = [&](const char *op, bool fma) {
    V want;
    for (size_t i = 0; i < a.size(); ++i) {
      uint64_t pair = 0;
      for (unsigned half : {0u, 32u}) {
        float x = std::bit_cast<float>(uint32_t(a[i] >> half)),
              y = std::bit_cast<float>(uint32_t(b[i] >> half));
        float z = std::bit_cast<float>(uint32_t(c[i] >> half));
        float r = fma ? std::fma(x, y, z) : op[0] == 'a' ? x + y : op[0] == 's' ? x - y : x * y;
        pair |= (r != r ? uint64_t(0x7fffffff) : f(r)) << half;
      }
      want.push_back(pair);
    }
    std::string body = std::string(op) + ".rn.f32x2 %ld, %la, %lb" + (fma ? ", %lc;" : ";");
    expectAll(eval(body, 'l', {a, b, c}, "", "sm_100a"), want, op);
  };
  both("add", false);
  both("sub", false);
  both("mul", false);
  both("fma", true);
  EXPECT_NE(loadError(evalText("add.rz.f32x2 %ld, %la, %lb;", 'l')), "");
}
