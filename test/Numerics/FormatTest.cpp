// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/Format.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mpcore::numerics;

namespace {

// Facts from the formats' standards: OCP 8-bit and MX, IEEE 754, AMD FNUZ.
struct Known {
  Format format;
  const char *name;
  unsigned bits;
  int bias;
  double maxFinite;
  uint64_t largest;
  int minNormalLog2;
  int minSubnormalLog2;
  bool inf, nan, negativeZero;
};

const Known known[] = {
    {Format::F64, "f64", 64, 1023, 0x1.fffffffffffffp1023, 0x7FEFFFFFFFFFFFFF, -1022, -1074, true,
     true, true},
    {Format::F32, "f32", 32, 127, 0x1.fffffep127, 0x7F7FFFFF, -126, -149, true, true, true},
    {Format::TF32, "tf32", 19, 127, 0x1.ffcp127, 0x3FBFF, -126, -136, true, true, true},
    {Format::BF16, "bf16", 16, 127, 0x1.fep127, 0x7F7F, -126, -133, true, true, true},
    {Format::F16, "f16", 16, 15, 65504, 0x7BFF, -14, -24, true, true, true},
    {Format::F8E5M2, "f8E5M2", 8, 15, 57344, 0x7B, -14, -16, true, true, true},
    {Format::F8E4M3, "f8E4M3", 8, 7, 240, 0x77, -6, -9, true, true, true},
    {Format::F8E4M3FN, "f8E4M3FN", 8, 7, 448, 0x7E, -6, -9, false, true, true},
    {Format::F8E5M2FNUZ, "f8E5M2FNUZ", 8, 16, 57344, 0x7F, -15, -17, false, true, false},
    {Format::F8E4M3FNUZ, "f8E4M3FNUZ", 8, 8, 240, 0x7F, -7, -10, false, true, false},
    {Format::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8, 11, 30, 0x7F, -10, -13, false, true, false},
    {Format::F8E3M4, "f8E3M4", 8, 3, 15.5, 0x6F, -2, -6, true, true, true},
    {Format::F8E8M0FNU, "f8E8M0FNU", 8, 127, 0x1p127, 0xFE, -127, -127, false, true, false},
    {Format::F6E3M2FN, "f6E3M2FN", 6, 3, 28, 0x1F, -2, -4, false, false, true},
    {Format::F6E2M3FN, "f6E2M3FN", 6, 1, 7.5, 0x1F, 0, -3, false, false, true},
    {Format::F4E2M1FN, "f4E2M1FN", 4, 1, 6, 0x7, 0, -1, false, false, true},
};

TEST(Format, FactsAreTheStandards) {
  ASSERT_EQ(std::size(known), allFormats().size());
  for (const Known &k : known) {
    const FormatInfo &f = info(k.format);
    SCOPED_TRACE(k.name);
    EXPECT_EQ(f.name, k.name);
    EXPECT_EQ(f.bits, k.bits);
    EXPECT_EQ(f.bias, k.bias);
    EXPECT_EQ(f.maxFinite, k.maxFinite);
    EXPECT_EQ(f.largest, k.largest);
    EXPECT_EQ(f.minNormal, std::ldexp(1.0, k.minNormalLog2));
    EXPECT_EQ(f.minSubnormal, std::ldexp(1.0, k.minSubnormalLog2));
    EXPECT_EQ(f.hasInf, k.inf);
    EXPECT_EQ(f.hasNaN, k.nan);
    EXPECT_EQ(f.hasNegativeZero, k.negativeZero);
    EXPECT_EQ(f.unitRoundoff, std::ldexp(1.0, -int(f.precision)));
  }
}

TEST(Format, LookUpBySpellingAndSemantics) {
  for (Format format : allFormats()) {
    EXPECT_EQ(parseFormat(info(format).name), format);
    EXPECT_EQ(formatOf(*info(format).semantics), format);
    EXPECT_EQ(info(format).format, format);
  }
  EXPECT_FALSE(parseFormat("bf17"));
  EXPECT_FALSE(parseFormat(""));
  EXPECT_FALSE(formatOf(llvm::APFloat::IEEEquad()));
  EXPECT_FALSE(formatOf(llvm::APFloat::x87DoubleExtended()));
}

TEST(Format, UnpackIgnoresHigherBits) {
  Unpacked one = unpack(0xFFFFFFFFFFFFFF38, Format::F8E4M3FN);
  EXPECT_EQ(one.kind, ValueClass::Finite);
  EXPECT_FALSE(unpack(0x138, Format::F8E4M3FN).negative);
  EXPECT_EQ(unpack(0x138, Format::F8E4M3FN).significand, 8u);
  EXPECT_EQ(unpack(0x138, Format::F8E4M3FN).exponent, -3);
}

// Every pattern of every format of up to 19 bits means what APFloat says.
TEST(Format, UnpackAgreesWithAPFloatOnEveryPattern) {
  for (Format format : allFormats()) {
    const FormatInfo &f = info(format);
    if (f.bits > 19)
      continue;
    SCOPED_TRACE(f.name.str());
    for (uint64_t bits = 0; bits < (uint64_t(1) << f.bits); ++bits) {
      llvm::APFloat reference(*f.semantics, llvm::APInt(f.bits, bits));
      Unpacked value = unpack(bits, format);
      ASSERT_EQ(value.kind == ValueClass::NaN, reference.isNaN()) << bits;
      ASSERT_EQ(value.kind == ValueClass::Infinity, reference.isInfinity());
      ASSERT_EQ(value.kind == ValueClass::Zero, reference.isZero()) << bits;
      if (reference.isNaN())
        continue;
      ASSERT_EQ(value.negative, reference.isNegative()) << bits;
      if (value.kind != ValueClass::Finite)
        continue;
      double expected = reference.convertToDouble();
      double actual = std::ldexp(double(value.significand), value.exponent);
      ASSERT_EQ(value.negative ? -actual : actual, expected) << bits;
    }
  }
}

} // namespace
