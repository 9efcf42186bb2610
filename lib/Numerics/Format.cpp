// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the list of formats and derives their facts from llvm::fltSemantics.

#include "mp/Numerics/Format.h"

#include "llvm/ADT/APInt.h"

#include <array>
#include <cmath>

using namespace mpcore::numerics;
using llvm::APFloat;
using llvm::APFloatBase;
using llvm::APInt;

namespace {
struct Entry {
  Format format;
  const char *name;
  const llvm::fltSemantics &(*semantics)();
};
} // namespace

// The only list of formats: enumerator, MLIR spelling, semantics.
static constexpr Entry entries[] = {
    {Format::F64, "f64", APFloatBase::IEEEdouble},
    {Format::F32, "f32", APFloatBase::IEEEsingle},
    {Format::TF32, "tf32", APFloatBase::FloatTF32},
    {Format::BF16, "bf16", APFloatBase::BFloat},
    {Format::F16, "f16", APFloatBase::IEEEhalf},
    {Format::F8E5M2, "f8E5M2", APFloatBase::Float8E5M2},
    {Format::F8E4M3, "f8E4M3", APFloatBase::Float8E4M3},
    {Format::F8E4M3FN, "f8E4M3FN", APFloatBase::Float8E4M3FN},
    {Format::F8E5M2FNUZ, "f8E5M2FNUZ", APFloatBase::Float8E5M2FNUZ},
    {Format::F8E4M3FNUZ, "f8E4M3FNUZ", APFloatBase::Float8E4M3FNUZ},
    {Format::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", APFloatBase::Float8E4M3B11FNUZ},
    {Format::F8E3M4, "f8E3M4", APFloatBase::Float8E3M4},
    {Format::F8E8M0FNU, "f8E8M0FNU", APFloatBase::Float8E8M0FNU},
    {Format::F6E3M2FN, "f6E3M2FN", APFloatBase::Float6E3M2FN},
    {Format::F6E2M3FN, "f6E2M3FN", APFloatBase::Float6E2M3FN},
    {Format::F4E2M1FN, "f4E2M1FN", APFloatBase::Float4E2M1FN},
};
static constexpr size_t numFormats = std::size(entries);

static uint64_t patternOf(const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }

static FormatInfo derive(const Entry &entry) {
  const llvm::fltSemantics &sem = entry.semantics();
  FormatInfo info = {};
  info.format = entry.format;
  info.name = entry.name;
  info.semantics = &sem;
  info.bits = APFloatBase::semanticsSizeInBits(sem);
  info.precision = APFloatBase::semanticsPrecision(sem);
  info.fractionBits = info.precision - 1;
  info.minExponent = APFloatBase::semanticsMinExponent(sem);
  info.maxExponent = APFloatBase::semanticsMaxExponent(sem);
  info.hasSign = APFloatBase::semanticsHasSignedRepr(sem);
  info.hasZero = APFloatBase::semanticsHasZero(sem);
  info.hasInf = APFloatBase::semanticsHasInf(sem);
  info.hasNaN = APFloatBase::semanticsHasNaN(sem);
  // Formats with an infinity give all of its exponent field's other patterns to
  // NaN. (APFloat::isIEEELikeFP knows only the formats of IEEE 754 by name.)
  info.hasNaNPayload = info.hasInf;
  info.exponentBits = info.bits - info.fractionBits - info.hasSign;
  // Exponent field 0 holds zero and subnormals, so normals start at field 1;
  // without a zero they start at field 0.
  info.bias = (info.hasZero ? 1 : 0) - info.minExponent;
  info.signBit = info.hasSign ? uint64_t(1) << (info.bits - 1) : 0;
  info.hasNegativeZero = info.hasZero && patternOf(APFloat::getZero(sem, true)) != 0;
  info.largest = patternOf(APFloat::getLargest(sem));
  if (info.hasInf)
    info.infinity = patternOf(APFloat::getInf(sem));
  if (info.hasNaN)
    info.quietNaN = patternOf(APFloat::getNaN(sem));

  uint64_t significand = info.largest & ((uint64_t(1) << info.fractionBits) - 1);
  significand |= uint64_t(1) << info.fractionBits;
  info.maxFinite = std::ldexp(double(significand), info.maxExponent - int(info.fractionBits));
  info.minNormal = std::ldexp(1.0, info.minExponent);
  info.minSubnormal = std::ldexp(1.0, info.minExponent - int(info.fractionBits));
  info.unitRoundoff = std::ldexp(1.0, -int(info.precision));
  info.underflowUnit = info.minSubnormal / 2;
  return info;
}

static const std::array<FormatInfo, numFormats> &table() {
  static const std::array<FormatInfo, numFormats> infos = [] {
    std::array<FormatInfo, numFormats> result;
    for (size_t i = 0; i < numFormats; ++i)
      result[i] = derive(entries[i]);
    return result;
  }();
  return infos;
}

const FormatInfo &mpcore::numerics::info(Format format) { return table()[size_t(format)]; }

llvm::ArrayRef<Format> mpcore::numerics::allFormats() {
  static const std::array<Format, numFormats> formats = [] {
    std::array<Format, numFormats> result;
    for (size_t i = 0; i < numFormats; ++i)
      result[i] = entries[i].format;
    return result;
  }();
  return formats;
}

std::optional<Format> mpcore::numerics::formatOf(const llvm::fltSemantics &semantics) {
  for (const FormatInfo &candidate : table())
    if (candidate.semantics == &semantics)
      return candidate.format;
  return std::nullopt;
}

std::optional<Format> mpcore::numerics::parseFormat(llvm::StringRef spelling) {
  for (const FormatInfo &candidate : table())
    if (candidate.name == spelling)
      return candidate.format;
  return std::nullopt;
}

Unpacked mpcore::numerics::unpack(uint64_t bits, Format format) {
  const FormatInfo &f = info(format);
  uint64_t mask = f.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << f.bits) - 1;
  bits &= mask;
  bool negative = (bits & f.signBit) != 0;
  uint64_t magnitude = bits & ~f.signBit;

  if (f.hasInf && magnitude == f.infinity)
    return {ValueClass::Infinity, negative, 0, 0};
  if (f.hasNaNPayload ? magnitude > f.infinity
                      : f.hasNaN && (f.hasSign && !f.hasNegativeZero ? bits == f.quietNaN
                                                                     : magnitude == f.quietNaN))
    return {ValueClass::NaN, negative, magnitude, 0};
  if (f.hasZero && magnitude == 0)
    return {ValueClass::Zero, negative, 0, 0};

  uint64_t field = magnitude >> f.fractionBits;
  uint64_t fraction = magnitude & ((uint64_t(1) << f.fractionBits) - 1);
  int lastPlace = -int(f.fractionBits);
  if (f.hasZero && field == 0)
    return {ValueClass::Finite, negative, fraction, f.minExponent + lastPlace};
  return {ValueClass::Finite, negative, fraction | (uint64_t(1) << f.fractionBits),
          int(field) - f.bias + lastPlace};
}
