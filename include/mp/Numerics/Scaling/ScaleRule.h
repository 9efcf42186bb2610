// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the largest magnitude of some values to the scale they are stored with.
// Real value = stored value * decode scale; stored value = real value * encode
// scale, rounded. The order of operations here is the definition: ops of the
// dialect, their folds and their lowering give the same bits.

#ifndef MP_NUMERICS_SCALING_SCALERULE_H
#define MP_NUMERICS_SCALING_SCALERULE_H

#include "mp/Numerics/Cast.h"

namespace mpcore::numerics {

/// The storage format of scaled values: a float format, or signed integers of 4 or 8 bits, of which
/// -max to max are used, so that negation stays exact.
class CodeFormat {
public:
  CodeFormat(Format format) : format(format) {}
  static CodeFormat integer(unsigned bits);

  bool isInteger() const { return integerBits != 0; }
  unsigned bits() const { return isInteger() ? integerBits : info(format).bits; }
  /// The largest finite value: 448, 6, 127, ...
  double largest() const;
  /// The float format; not for integers.
  Format floatFormat() const { return format; }

  /// The pattern of `value`, in the low bits. Integers round to nearest even,
  /// hold what is beyond at -max or max, and take NaN as 0, whatever is asked.
  uint32_t encode(float value, Rounding rounding = Rounding::RNE,
                  Overflow overflow = Overflow::Saturate, uint32_t randomBits = 0) const;
  /// The value of a pattern; exact.
  float decode(uint32_t code) const;

private:
  Format format;
  unsigned integerBits = 0;
};

/// Selects which of the two scales is computed, and how; the other is its reciprocal.
enum class ScaleForm : uint8_t {
  Encode,     ///< encode = largest / amax
  Decode,     ///< decode = amax / largest
  Reciprocal, ///< decode = amax * (1 / largest)
};

/// Rounding of the computed scale to a power of two.
enum class PowerOfTwo : uint8_t {
  None,
  Down,
  Up,
  /// Down, after the significand is rounded to that of the stored format, ties up.
  Even,
};

enum class OnZero : uint8_t { Formula, One, Keep };
enum class OnNonFinite : uint8_t {
  Propagate, ///< what the formula, or the scale's own format, gives
  Saturate,  ///< the largest scale of a format narrower than f32
  One,
  Keep,
};

/// Computed in f32, or where `wide` in f64 and rounded once.
struct ScaleRule {
  ScaleForm form = ScaleForm::Encode;
  PowerOfTwo pow2 = PowerOfTwo::None;
  OnZero onZero = OnZero::One;
  OnNonFinite onNonFinite = OnNonFinite::One;
  bool wide = false;
  /// The value amax is mapped to; 0: the largest of the stored format.
  double largest = 0;
  /// A smaller amax counts as this.
  double floor = 0;
  /// Powers of two by which `largest` is lowered.
  int margin = 0;
  /// An encode scale beyond f32 becomes the largest value of this format, else
  /// infinity.
  std::optional<Format> limit = std::nullopt;
};

struct Scale {
  float encode;
  float decode;
};

/// The scales for values of magnitude up to `amax` stored as `code`, the decode
/// scale being stored as `scaleFormat`:
///
///   a = max(amax, floor), NaN stays
///   Encode:     e = largest * 2^-margin / a; on zero, on non-finite, limit, pow2
///               decode = 1 / e
///   Decode:     d = a / (largest * 2^-margin)
///   Reciprocal: d = a * (parent * (1 / (largest * 2^-margin)))
///               on zero, on non-finite, pow2, then stored as scaleFormat:
///               as the rounding of pow2 says, else to nearest even
///               encode = 1 / (d * (1 / parent)), limit
///
/// `old` is the encode scale that Keep keeps. `parent` is the encode scale of
/// the whole tensor in a scheme of two levels, whose block scales are relative
/// to it.
Scale computeScale(const ScaleRule &rule, CodeFormat code, Format scaleFormat, float amax,
                   float old = 1, float parent = 1);

/// f32(x) * encode, rounded to a pattern of `code`.
inline uint32_t quantize(float x, float encode, CodeFormat code, Rounding rounding = Rounding::RNE,
                         Overflow overflow = Overflow::Saturate, uint32_t randomBits = 0) {
  return code.encode(x * encode, rounding, overflow, randomBits);
}

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_SCALERULE_H
