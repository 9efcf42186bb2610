// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions on floats, form by form: reciprocals and roots, approximations, conversions of small
// formats.

#include "InstructionForms.h"

#include "mp/Numerics/Cast.h"

#include <bit>
#include <cfenv>
#include <cmath>

using namespace mpcore;
using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using V = std::vector<uint64_t>;

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
