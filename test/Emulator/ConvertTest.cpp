// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every form of cvt between floats against lib/Numerics, which defines mp.cast. NaN results are one
// NaN of the hardware's own, so of them only the kind is compared.

#include "TestSupport.h"
#include "mp/Numerics/Cast.h"
#include "llvm/ADT/StringExtras.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using namespace mpcore::numerics;

namespace {

struct Form {
  const char *modifiers; ///< between cvt and the types
  Format to, from;
  mpcore::numerics::Rounding rounding;
  Overflow overflow;
};

using R = mpcore::numerics::Rounding;
constexpr Overflow ieee = Overflow::IEEE, saturate = Overflow::Saturate;
const Form scalarForms[] = {
    {"rn.", Format::F16, Format::F32, R::RNE, ieee},
    {"rz.", Format::F16, Format::F32, R::RZ, ieee},
    {"rn.satfinite.", Format::F16, Format::F32, R::RNE, saturate},
    {"rn.", Format::BF16, Format::F32, R::RNE, ieee},
    {"rz.", Format::BF16, Format::F32, R::RZ, ieee},
    {"rna.", Format::TF32, Format::F32, R::RNA, ieee},
    {"rn.", Format::TF32, Format::F32, R::RNE, ieee},
    {"rz.", Format::TF32, Format::F32, R::RZ, ieee},
    {"", Format::F32, Format::F16, R::RNE, ieee},
    {"", Format::F32, Format::BF16, R::RNE, ieee},
    {"rn.", Format::F32, Format::F64, R::RNE, ieee},
    {"rz.", Format::F32, Format::F64, R::RZ, ieee},
    {"rp.", Format::F32, Format::F64, R::RU, ieee},
    {"rm.", Format::F32, Format::F64, R::RD, ieee},
    {"", Format::F64, Format::F32, R::RNE, ieee},
    {"rn.", Format::F16, Format::F64, R::RNE, ieee},
};
const Form packedForms[] = {
    {"rn.", Format::F16, Format::F32, R::RNE, ieee},
    {"rz.", Format::F16, Format::F32, R::RZ, ieee},
    {"rn.satfinite.", Format::F16, Format::F32, R::RNE, saturate},
    {"rn.", Format::BF16, Format::F32, R::RNE, ieee},
    {"rz.", Format::BF16, Format::F32, R::RZ, ieee},
    {"rn.satfinite.", Format::BF16, Format::F32, R::RNE, saturate},
    {"rn.satfinite.", Format::F8E4M3FN, Format::F32, R::RNE, saturate},
    {"rn.satfinite.", Format::F8E5M2, Format::F32, R::RNE, saturate},
    {"rn.satfinite.", Format::F8E4M3FN, Format::F16, R::RNE, saturate},
    {"rn.satfinite.", Format::F8E5M2, Format::F16, R::RNE, saturate},
    {"rn.", Format::F16, Format::F8E4M3FN, R::RNE, ieee},
    {"rn.", Format::F16, Format::F8E5M2, R::RNE, ieee},
};

std::string ptxName(Format format) {
  switch (format) {
  case Format::F8E4M3FN: return "e4m3";
  case Format::F8E5M2: return "e5m2";
  default: return toString(format).lower();
  }
}

/// All patterns of up to 16 bits; of wider formats values around every rounding boundary of f16,
/// bf16 and tf32, and every exponent.
std::vector<uint64_t> patternsOf(Format format) {
  const FormatInfo &f = info(format);
  std::vector<uint64_t> patterns;
  if (f.bits <= 16) {
    for (uint64_t bits = 0; bits < (uint64_t(1) << f.bits); ++bits)
      patterns.push_back(bits);
    return patterns;
  }
  for (uint64_t top = 0; top < (uint64_t(2) << f.exponentBits); top += f.bits == 64 ? 9 : 1)
    for (unsigned bit = 0; bit <= f.fractionBits; bit += f.bits == 64 ? 2 : 1)
      for (int delta = -1; delta <= 1; ++delta)
        for (uint64_t leading : {0u, 3u}) {
          uint64_t fraction =
              (uint64_t(1) << bit) + (leading << (f.fractionBits - 2)) + uint64_t(delta);
          patterns.push_back(top << f.fractionBits |
                             (fraction & ((uint64_t(1) << f.fractionBits) - 1)));
        }
  return patterns;
}

/// tf32 lives in the upper bits of a register.
uint64_t inRegister(uint64_t bits, Format format) {
  return format == Format::TF32 ? bits << 13 : bits;
}

void expectConverted(uint64_t found, uint64_t source, const Form &form) {
  uint64_t expected = convert(source, form.from, form.to, form.rounding, form.overflow);
  if (isNaN(expected, form.to)) {
    uint64_t pattern = form.to == Format::TF32 ? found >> 13 : found;
    EXPECT_TRUE(isNaN(pattern, form.to)) << form.modifiers << ptxName(form.to);
    return;
  }
  EXPECT_EQ(found, inRegister(expected, form.to))
      << "cvt." << form.modifiers << ptxName(form.to) << "." << ptxName(form.from) << " of 0x"
      << std::hex << source;
}

char registerOf(Format format) {
  unsigned bits = info(format).bits;
  return bits == 64 ? 'l' : bits > 16 ? 'w' : 'h';
}

TEST(Convert, EveryScalarFormIsThatOfNumerics) {
  for (const Form &form : scalarForms) {
    std::string to = registerOf(form.to) == 'l'   ? "%ld"
                     : registerOf(form.to) == 'w' ? "%wd"
                                                  : "%hd";
    std::string from = std::string("%") + registerOf(form.from) + "a";
    std::string body = "cvt." + std::string(form.modifiers) + ptxName(form.to) + "." +
                       ptxName(form.from) + " " + to + ", " + from + ";";
    std::vector<uint64_t> patterns = patternsOf(form.from);
    std::vector<uint64_t> found = eval(body, registerOf(form.to), {patterns});
    ASSERT_EQ(found.size(), patterns.size()) << body;
    for (size_t i = 0; i < patterns.size() && !HasFailure(); ++i)
      expectConverted(found[i], patterns[i], form);
  }
}

// Two values at once; the first operand goes to the upper half.
TEST(Convert, EveryPackedFormIsThatOfNumerics) {
  for (const Form &form : packedForms) {
    unsigned toBits = info(form.to).bits, fromBits = info(form.from).bits;
    std::vector<uint64_t> low = patternsOf(form.from), high(low.rbegin(), low.rend()), packed;
    for (size_t i = 0; i < low.size(); ++i)
      packed.push_back(high[i] << fromBits | low[i]);
    bool isPair = fromBits < 32; // one register holds both
    std::string body = "cvt." + std::string(form.modifiers) + ptxName(form.to) + "x2." +
                       ptxName(form.from) + (isPair ? "x2" : "") +
                       (toBits == 8 ? " %hd, " : " %wd, ") +
                       (!isPair         ? "%wb, %wa;"
                        : fromBits == 8 ? "%ha;"
                                        : "%wa;");
    std::vector<uint64_t> found = isPair ? eval(body, toBits == 8 ? 'h' : 'w', {packed})
                                         : eval(body, toBits == 8 ? 'h' : 'w', {low, high});
    ASSERT_EQ(found.size(), low.size()) << body;
    uint64_t mask = (uint64_t(1) << toBits) - 1;
    for (size_t i = 0; i < low.size() && !HasFailure(); ++i) {
      expectConverted(found[i] & mask, low[i], form);
      expectConverted(found[i] >> toBits, high[i], form);
    }
  }
}

} // namespace
