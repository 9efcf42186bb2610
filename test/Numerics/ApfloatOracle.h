// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives APFloat's answers to conversions, and says where it has none.

#ifndef MP_TEST_NUMERICS_APFLOATORACLE_H
#define MP_TEST_NUMERICS_APFLOATORACLE_H

#include "mp/Numerics/Cast.h"

#include <optional>

namespace mpcore::numerics::test {

struct Oracle {
  bool applies; ///< false where APFloat has a known defect or no answer
  bool nan;     ///< any NaN; the pattern is not compared
  uint64_t bits;
};

/// APFloat has no stochastic rounding.
inline std::optional<llvm::APFloat::roundingMode> apfloatRounding(Rounding rounding) {
  switch (rounding) {
  case Rounding::RNE: return llvm::APFloat::rmNearestTiesToEven;
  case Rounding::RNA: return llvm::APFloat::rmNearestTiesToAway;
  case Rounding::RZ: return llvm::APFloat::rmTowardZero;
  case Rounding::RU: return llvm::APFloat::rmTowardPositive;
  case Rounding::RD: return llvm::APFloat::rmTowardNegative;
  case Rounding::SR:
  case Rounding::SRCompare: return std::nullopt;
  }
  return std::nullopt;
}

/// APFloat's answer under Overflow::IEEE.
inline Oracle apfloatConvert(uint64_t bits, const FormatInfo &from, const FormatInfo &to,
                             llvm::APFloat::roundingMode mode) {
  llvm::APFloat value(*from.semantics, llvm::APInt(from.bits, bits));
  // Our rules where APFloat has none: f8E8M0FNU takes |x| and has no zero; f4
  // and f6 have no NaN or infinity (APFloat answers 0).
  if (!to.hasSign && (value.isNegative() || value.isZero()))
    return {false, false, 0};
  if (!to.hasNaN && !value.isFinite())
    return {false, false, 0};
  if (value.isNaN())
    return {true, true, 0};
  bool losesInfo;
  value.convert(*to.semantics, mode, &losesInfo);
  if (value.isNaN())
    return {true, true, 0};
  return {true, false, value.bitcastToAPInt().getZExtValue()};
}

/// Turns the answer under Overflow::IEEE into that under Overflow::Saturate: finite overflow and
/// infinities become the largest value, NaN stays.
inline Oracle saturated(Oracle ieee, uint64_t bits, const FormatInfo &from, const FormatInfo &to) {
  if (!ieee.applies)
    return ieee;
  bool becameInf = to.hasInf && !ieee.nan && (ieee.bits & ~to.signBit) == to.infinity;
  if (!ieee.nan && !becameInf)
    return ieee;
  Unpacked value = unpack(bits, from.format);
  if (value.kind == ValueClass::NaN)
    return {true, true, 0};
  return {true, false, to.largest | (value.negative ? to.signBit : 0)};
}

} // namespace mpcore::numerics::test

#endif // MP_TEST_NUMERICS_APFLOATORACLE_H
