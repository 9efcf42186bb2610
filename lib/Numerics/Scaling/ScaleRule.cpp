// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes scales from magnitudes in the rule's form and rounding.

#include "mp/Numerics/Scaling/ScaleRule.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mpcore::numerics;

CodeFormat CodeFormat::integer(unsigned bits) {
  CodeFormat result(Format::F32);
  result.integerBits = bits;
  return result;
}

double CodeFormat::largest() const {
  return isInteger() ? double((1u << (integerBits - 1)) - 1) : info(format).maxFinite;
}

uint32_t CodeFormat::encode(float value, Rounding rounding, Overflow overflow,
                            uint32_t randomBits) const {
  if (!isInteger())
    return uint32_t(convert(llvm::bit_cast<uint32_t>(value), Format::F32, format, rounding,
                            overflow, randomBits));
  if (std::isnan(value))
    return 0;
  float bound = float(largest());
  // Rounding first: what is beyond stays beyond.
  float nearest = std::nearbyint(value);
  float held = nearest > bound ? bound : nearest < -bound ? -bound : nearest;
  return uint32_t(int32_t(held)) & ((1u << integerBits) - 1);
}

float CodeFormat::decode(uint32_t code) const {
  if (!isInteger())
    return llvm::bit_cast<float>(uint32_t(convert(code, format, Format::F32)));
  unsigned unused = 32 - integerBits;
  return float(int32_t(code << unused) >> unused);
}

static constexpr uint32_t exponentField = 0x7F800000, signAndExponent = 0xFF800000;
static constexpr uint32_t fractionField = 0x007FFFFF;

/// Half of the last place that a significand of `fractionBits` keeps.
static uint32_t halfPlace(unsigned fractionBits) {
  return 1u << (info(Format::F32).fractionBits - fractionBits - 1);
}

/// `scale`, not negative, to a power of two; infinity and NaN stay.
static float toPowerOfTwo(float scale, PowerOfTwo pow2, CodeFormat code) {
  uint32_t bits = llvm::bit_cast<uint32_t>(scale);
  if (pow2 == PowerOfTwo::None || (bits & exponentField) == exponentField)
    return scale;
  if (pow2 == PowerOfTwo::Up)
    bits += fractionField;
  else if (pow2 == PowerOfTwo::Even)
    bits += halfPlace(code.isInteger() ? code.bits() - 1 : info(code.floatFormat()).fractionBits);
  return llvm::bit_cast<float>(bits & signAndExponent);
}

/// `scale` as a value of its own format.
static float store(float scale, const ScaleRule &rule, Format format) {
  if (format == Format::F32)
    return scale;
  Overflow overflow =
      rule.onNonFinite == OnNonFinite::Propagate ? Overflow::IEEE : Overflow::Saturate;
  // Already a power of two unless it was below f32's normal range.
  Rounding rounding = rule.pow2 == PowerOfTwo::None ? Rounding::RNE
                      : rule.pow2 == PowerOfTwo::Up ? Rounding::RU
                                                    : Rounding::RZ;
  return roundTo(scale, format, rounding, overflow);
}

Scale mpcore::numerics::computeScale(const ScaleRule &rule, CodeFormat code, Format scaleFormat,
                                     float amax, float old, float parent) {
  double top = std::ldexp(rule.largest ? rule.largest : code.largest(), -rule.margin);
  double floored = amax < rule.floor ? rule.floor : double(amax);
  float a = float(floored);
  bool zero = a == 0, finite = std::isfinite(a);
  auto limited = [&](float encode) {
    return std::isinf(encode) && rule.limit ? float(info(*rule.limit).maxFinite) : encode;
  };
  auto excepted = [&](float formula, float kept) {
    if (zero && rule.onZero != OnZero::Formula)
      return rule.onZero == OnZero::One ? 1.0f : kept;
    if (!finite && rule.onNonFinite == OnNonFinite::One)
      return 1.0f;
    if (!finite && rule.onNonFinite == OnNonFinite::Keep)
      return kept;
    return formula;
  };
  if (rule.form == ScaleForm::Encode) {
    float encode = rule.wide ? float(top / floored) : float(top) / a;
    encode = toPowerOfTwo(excepted(limited(encode), old), rule.pow2, code);
    return {encode, 1 / encode};
  }
  float decode = rule.form == ScaleForm::Reciprocal ? a * (parent * (1 / float(top)))
                 : rule.wide                        ? float(floored / top)
                                                    : a / float(top);
  decode = excepted(decode, 1 / old);
  // A narrower format rounds in the same direction, below f32's normal range too.
  if (scaleFormat == Format::F32 || rule.pow2 == PowerOfTwo::Even)
    decode = toPowerOfTwo(decode, rule.pow2, code);
  decode = store(decode, rule, scaleFormat);
  return {limited(1 / (decode * (1 / parent))), decode};
}
