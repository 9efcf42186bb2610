// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion between any two float formats. This is the definition of mp.cast:
// folding, the CPU path, the emulator and the lowering to arith agree with it.

#ifndef MP_NUMERICS_CAST_H
#define MP_NUMERICS_CAST_H

#include "mp/Numerics/Format.h"

namespace mpcore::numerics {

enum class Rounding : uint8_t {
  RNE, ///< to nearest, ties to even
  RNA, ///< to nearest, ties away from zero
  RZ,  ///< toward zero
  RU,  ///< toward +inf
  RD,  ///< toward -inf
  /// Stochastic, by adding: of the d significand bits the result discards, the
  /// low d bits of the random operand are added to them and the sum is cut.
  /// Rounds the magnitude up when random >= 2^d - discarded (PTX cvt.rs adds).
  SR,
  /// Stochastic, by comparing: rounds the magnitude up when the low d random
  /// bits are less than the discarded ones (torchao's form). Same probability
  /// as SR, another result for the same random bits.
  SRCompare,
};

enum class Overflow : uint8_t {
  /// A result beyond the largest finite value is what IEEE 754 says for the
  /// rounding: infinity, or NaN where the format has none, or the largest
  /// value when rounding toward zero from there. Source infinities likewise.
  IEEE,
  /// Finite overflow and infinities become the largest finite value of their
  /// sign (PTX .satfinite).
  Saturate,
};

llvm::StringRef toString(Rounding rounding); ///< "rne", "rna", ..., "sr_compare"
llvm::StringRef toString(Overflow overflow); ///< "ieee", "saturate"
std::optional<Rounding> parseRounding(llvm::StringRef spelling);

/// Converts the pattern `bits` of `from` to a pattern of `to`.
///
/// - Subnormals are exact on both sides; nothing is flushed.
/// - The sign of zero is kept where `to` has a negative zero, else +0.
/// - NaN stays NaN under both overflow rules, and becomes +max where `to` has
///   no NaN (f4, f6). Between IEEE-style formats the sign and the leading
///   payload bits are kept and the result is quiet (as APFloat and x86 do);
///   otherwise the result is the canonical quiet NaN, with the sign where both
///   formats have a signed NaN. Other paths of the compiler agree on what is
///   NaN, not on its bits: PTX cvt, for one, always gives the same NaN.
/// - Without infinity and NaN (f4, f6) overflow gives the largest value under
///   both rules.
/// - f8E8M0FNU has neither sign nor zero: |x| is converted, and what is below
///   2^-127 becomes 2^-127 (as the PTX ue8m0 conversions).
/// - from == to returns the bits unchanged, signalling NaNs included.
/// `randomBits` is read by the stochastic roundings only; results that discard
/// 64 bits or more are cut.
uint64_t convert(uint64_t bits, Format from, Format to, Rounding rounding = Rounding::RNE,
                 Overflow overflow = Overflow::IEEE, uint64_t randomBits = 0);

/// The value of a pattern; exact for every format.
double decode(uint64_t bits, Format format);

/// The pattern of `value` in `format`.
uint64_t encode(double value, Format format, Rounding rounding = Rounding::RNE,
                Overflow overflow = Overflow::IEEE, uint64_t randomBits = 0);

/// `value` rounded to a value of `format`; the format must be no wider than f32.
float roundTo(float value, Format format, Rounding rounding = Rounding::RNE,
              Overflow overflow = Overflow::IEEE, uint64_t randomBits = 0);

/// True if every value of `narrow` (signed zeros, infinities and NaN included,
/// NaN payloads not) converts to `wide` and back without change. Answered by
/// enumeration for formats of up to 19 bits, cached; APFloat's
/// isRepresentableBy is wrong for f8E5M2 into f8E5M2FNUZ and others.
bool holdsEveryValueOf(Format wide, Format narrow);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_CAST_H
