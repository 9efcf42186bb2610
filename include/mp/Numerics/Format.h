// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The float formats mp converts between: one enumerator per builtin MLIR float
// of at most 64 bits, with every fact derived from llvm::fltSemantics.

#ifndef MP_NUMERICS_FORMAT_H
#define MP_NUMERICS_FORMAT_H

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mpcore::numerics {

enum class Format : uint8_t {
  F64,
  F32,
  TF32,
  BF16,
  F16,
  F8E5M2,
  F8E4M3,
  F8E4M3FN,
  F8E5M2FNUZ,
  F8E4M3FNUZ,
  F8E4M3B11FNUZ,
  F8E3M4,
  F8E8M0FNU,
  F6E3M2FN,
  F6E2M3FN,
  F4E2M1FN,
};

/// Facts about one format. A bit pattern lives in the low `bits` bits of an
/// integer, as APFloat::bitcastToAPInt() gives it: sign, exponent field,
/// fraction. tf32 is therefore 19 bits wide; its 32-bit register form is the
/// pattern shifted left by 13 (an f32 whose low 13 bits are zero).
struct FormatInfo {
  Format format;
  llvm::StringRef name; ///< MLIR's spelling, e.g. "f8E4M3FN"
  const llvm::fltSemantics *semantics;

  unsigned bits;         ///< width of the bit pattern
  unsigned precision;    ///< p: significand bits, the hidden one included
  unsigned fractionBits; ///< stored significand bits, p - 1
  unsigned exponentBits;
  int minExponent; ///< exponent of the smallest normal number
  int maxExponent; ///< exponent of the largest finite number
  int bias;        ///< exponent field of a normal number minus its exponent

  bool hasSign;         ///< false for f8E8M0FNU only
  bool hasZero;         ///< false for f8E8M0FNU only
  bool hasNegativeZero; ///< false for FNUZ formats: that pattern is their NaN
  bool hasInf;
  bool hasNaN;
  bool hasNaNPayload; ///< IEEE style: several NaN patterns, quiet and signalling

  uint64_t signBit;     ///< mask; 0 without sign
  uint64_t largest;     ///< pattern of the largest finite number
  uint64_t infinity;    ///< pattern of +inf; only with hasInf
  uint64_t quietNaN;    ///< canonical quiet NaN; only with hasNaN
  double maxFinite;     ///< value of `largest`
  double minNormal;     ///< 2^minExponent
  double minSubnormal;  ///< smallest positive value
  double unitRoundoff;  ///< u = 2^-p, relative error of rounding to nearest
  double underflowUnit; ///< eta = minSubnormal / 2, absolute error on underflow
};

/// Facts of `format`; computed once, valid forever.
const FormatInfo &info(Format format);

/// All formats, in enumeration order (never wider than the one before, except
/// among equal widths).
llvm::ArrayRef<Format> allFormats();

/// The format with these semantics, or nullopt for f80, f128 and PPC formats.
std::optional<Format> formatOf(const llvm::fltSemantics &semantics);

/// The format MLIR spells so ("bf16", "f8E5M2"), or nullopt.
std::optional<Format> parseFormat(llvm::StringRef spelling);

inline llvm::StringRef toString(Format format) { return info(format).name; }

/// The class of value that a bit pattern stands for.
enum class ValueClass : uint8_t { Zero, Finite, Infinity, NaN };

/// A decoded pattern. For Finite: value = (negative ? -1 : 1) * significand *
/// 2^exponent, where exponent is that of the pattern's last place (not
/// normalised) and significand < 2^precision.
struct Unpacked {
  ValueClass kind;
  bool negative;
  uint64_t significand;
  int exponent;
};

/// Decodes the low info(format).bits bits of `bits`; higher bits are ignored.
Unpacked unpack(uint64_t bits, Format format);

inline bool isNaN(uint64_t bits, Format format) {
  return unpack(bits, format).kind == ValueClass::NaN;
}

} // namespace mpcore::numerics

#endif // MP_NUMERICS_FORMAT_H
