// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of eight elements at once, branch-free, driven by parameters of
// the format. Written with the vector extensions of clang and gcc, so that the
// portable and the AVX2 version are the same text compiled twice.

#ifndef MP_LIB_NUMERICS_CASTLANES_H
#define MP_LIB_NUMERICS_CASTLANES_H

#include "mp/Numerics/Cast.h"

#include "llvm/ADT/bit.h"

#define MP_INLINE static inline __attribute__((always_inline))

// Vectors are passed between always-inlined functions only, so there is no ABI
// to warn about.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace mpcore::numerics::detail {

constexpr size_t lanes = 8;
typedef uint32_t U32x8 __attribute__((vector_size(32)));
typedef int32_t I32x8 __attribute__((vector_size(32)));
typedef float F32x8 __attribute__((vector_size(32)));

constexpr uint32_t f32Magnitude = 0x7FFFFFFF, f32Infinity = 0x7F800000, f32Fraction = 0x007FFFFF,
                   f32QuietBit = 0x00400000;

/// Constants that convert f32 patterns to patterns of a narrower format, and back.
struct Recipe {
  uint32_t shift;                            ///< fraction bits lost: 23 - fractionBits
  uint32_t underHalf;                        ///< half a last place, less one
  uint32_t belowLastPlace;                   ///< mask of the bits lost
  uint32_t addedToPositive, addedToNegative; ///< see Bias::BySign
  uint32_t rebias;                           ///< (127 - bias) in the target's exponent field
  uint32_t f32Rebias;                        ///< the same in f32's exponent field
  uint32_t minNormal;                        ///< as an f32 pattern
  int32_t subnormalShift; ///< bits lost by a subnormal result, plus f32's exponent field
  float aligner;          ///< adding it rounds a subnormal to its last place
  float subnormalUnit;    ///< value of the smallest subnormal
  uint32_t hidden;        ///< 1 << fractionBits: patterns below are subnormal
  uint32_t overflowed;    ///< what infinity becomes
  uint32_t tooLargePositive, tooLargeNegative; ///< what finite values become
  uint32_t quietNaN;
  uint32_t payloadMask;                 ///< f32Fraction if NaN payloads are kept, else 0
  uint32_t signMask;                    ///< the target's sign bit
  uint32_t signShift;                   ///< from f32's sign bit to the target's
  uint32_t zeroKeepsSign, nanKeepsSign; ///< all ones or zero
  uint32_t infinity;                    ///< when widening, which only IEEE formats do here
};

inline Recipe makeRecipe(Format format, Rounding rounding, Overflow overflow) {
  const FormatInfo &f = info(format);
  Recipe r = {};
  r.shift = 23 - f.fractionBits;
  r.underHalf = (1u << (r.shift - 1)) - 1;
  r.belowLastPlace = (1u << r.shift) - 1;
  if (rounding == Rounding::RNA)
    r.addedToPositive = r.addedToNegative = r.underHalf + 1;
  else if (rounding == Rounding::RU)
    r.addedToPositive = r.belowLastPlace;
  else if (rounding == Rounding::RD)
    r.addedToNegative = r.belowLastPlace;
  r.rebias = uint32_t(127 - f.bias) << f.fractionBits;
  r.f32Rebias = uint32_t(127 - f.bias) << 23;
  r.minNormal = llvm::bit_cast<uint32_t>(float(f.minNormal));
  r.subnormalShift = f.minExponent - int(f.fractionBits) + 150;
  // An f32 of exponent e has its last place at e - 23: put that where the
  // target's smallest subnormal is.
  r.aligner = float(f.minSubnormal * 0x1p23);
  r.subnormalUnit = float(f.minSubnormal);
  r.hidden = 1u << f.fractionBits;
  r.overflowed = overflow == Overflow::Saturate ? uint32_t(f.largest)
                 : f.hasInf                     ? uint32_t(f.infinity)
                 : f.hasNaN                     ? uint32_t(f.quietNaN)
                                                : uint32_t(f.largest);
  bool cutsPositive = rounding == Rounding::RZ || rounding == Rounding::RD;
  bool cutsNegative = rounding == Rounding::RZ || rounding == Rounding::RU;
  r.tooLargePositive = cutsPositive ? uint32_t(f.largest) : r.overflowed;
  r.tooLargeNegative = cutsNegative ? uint32_t(f.largest) : r.overflowed;
  r.quietNaN = uint32_t(f.hasNaN ? f.quietNaN : f.largest);
  r.payloadMask = f.hasNaNPayload ? f32Fraction : 0;
  r.signMask = uint32_t(f.signBit);
  r.signShift = 32 - f.bits;
  r.zeroKeepsSign = f.hasNegativeZero ? ~0u : 0;
  r.nanKeepsSign = f.hasNaN ? ~0u : 0;
  r.infinity = uint32_t(f.infinity);
  return r;
}

MP_INLINE U32x8 select(I32x8 mask, U32x8 yes, U32x8 no) { return mask ? yes : no; }

// Magnitudes are below 2^31, and AVX2 compares only signed lanes.
MP_INLINE I32x8 below(U32x8 x, uint32_t bound) { return (I32x8)x < int32_t(bound); }

/// The common properties of a kernel's formats, known when compiling.
template <bool ownSubnormals, bool plainSign> struct Traits {
  /// False where subnormals lie as in f32, so that they need no own path.
  static constexpr bool hasOwnSubnormals = ownSubnormals;
  /// True with -0 and signed NaN: the sign is simply kept.
  static constexpr bool hasPlainSign = plainSign;
};

using LikeF32 = Traits<false, true>;
using OwnSubnormals = Traits<true, true>;

/// The number added to a magnitude before the bits below its new last place are cut.
enum class Bias {
  ToEven, ///< just under half a last place, plus the kept last bit
  BySign, ///< a constant per sign: all other roundings but the stochastic
  Random, ///< the random bits below the last place
};

/// Rounds magnitudes that become subnormal, as integers: `narrow` without the
/// adder's help, which rounds to even only.
template <Bias bias>
MP_INLINE U32x8 narrowSubnormal(U32x8 bits, U32x8 magnitude, U32x8 random, const Recipe &r) {
  I32x8 exponent = (I32x8)(magnitude >> 23);
  U32x8 significand = (magnitude & f32Fraction) | ((U32x8)(exponent != 0) & (f32Fraction + 1));
  I32x8 lost = r.subnormalShift - (exponent - (exponent == 0));
  // Past 31 bits, of the 24 significant ones nothing is left to keep; what is
  // not subnormal takes no part.
  I32x8 shift = lost > 31 ? I32x8{} + 31 : lost;
  shift = shift < 1 ? I32x8{} + 1 : shift;
  U32x8 lastPlace = (U32x8{} + 1) << (U32x8)shift;
  if (bias == Bias::Random) {
    U32x8 draw = lost > 31 ? random : random & (lastPlace - 1);
    U32x8 sum = significand + draw;
    // 32 random bits reach the last place 2^32 by a carry, and no higher one.
    U32x8 carried = (U32x8)((lost == 32) & (I32x8)(sum < draw)) & 1;
    return lost > 31 ? carried : sum >> (U32x8)shift;
  }
  U32x8 added = select((I32x8)bits < 0, U32x8{} + r.addedToNegative, U32x8{} + r.addedToPositive);
  // The constants are of normal results: none, half a last place, or all below.
  U32x8 half = lastPlace >> 1;
  added = select((I32x8)(added == r.underHalf + 1), half,
                 select((I32x8)(added == 0), U32x8{}, lastPlace - 1));
  return (significand + added) >> (U32x8)shift;
}

template <typename T, Bias bias> MP_INLINE U32x8 narrow(U32x8 bits, U32x8 random, const Recipe &r) {
  U32x8 magnitude = bits & f32Magnitude;
  U32x8 added;
  if (bias == Bias::ToEven)
    added = r.underHalf + ((magnitude >> r.shift) & 1);
  else if (bias == Bias::BySign)
    added = select((I32x8)bits < 0, U32x8{} + r.addedToNegative, U32x8{} + r.addedToPositive);
  else
    added = random & r.belowLastPlace;
  U32x8 result = ((magnitude + added) >> r.shift) - r.rebias;
  if (T::hasOwnSubnormals) {
    U32x8 subnormal;
    if (bias == Bias::ToEven) {
      // The f32 adder rounds them at the right place.
      F32x8 aligned = (F32x8)magnitude + r.aligner;
      subnormal = (U32x8)aligned - llvm::bit_cast<uint32_t>(r.aligner);
    } else {
      subnormal = narrowSubnormal<bias>(bits, magnitude, random, r);
    }
    result = select(below(magnitude, r.minNormal), subnormal, result);
  }
  // The result of an overflow follows the largest finite pattern, or is that.
  U32x8 limit = U32x8{} + r.overflowed;
  if (bias == Bias::BySign)
    limit =
        select((I32x8)(magnitude == f32Infinity), limit,
               select((I32x8)bits < 0, U32x8{} + r.tooLargeNegative, U32x8{} + r.tooLargePositive));
  result = select((I32x8)result < (I32x8)limit, result, limit);
  I32x8 isNumber = below(magnitude, f32Infinity + 1);
  U32x8 nan = r.quietNaN | ((magnitude & r.payloadMask) >> r.shift);
  result = select(isNumber, result, nan);
  U32x8 sign = (bits >> r.signShift) & r.signMask;
  if (!T::hasPlainSign) {
    sign &= (U32x8)(result != 0) | r.zeroKeepsSign;
    sign &= (U32x8)isNumber | r.nanKeepsSign;
  }
  return result | sign;
}

template <typename T> MP_INLINE U32x8 widen(U32x8 bits, const Recipe &r) {
  U32x8 magnitude = bits & (r.signMask - 1);
  U32x8 sign = (bits & r.signMask) << r.signShift;
  U32x8 result = (magnitude << r.shift) + r.f32Rebias;
  if (T::hasOwnSubnormals) {
    F32x8 subnormal = __builtin_convertvector((I32x8)magnitude, F32x8) * r.subnormalUnit;
    result = select(below(magnitude, r.hidden), (U32x8)subnormal, result);
  }
  U32x8 nonFinite = (magnitude << r.shift) | f32Infinity;
  U32x8 quiet = (U32x8)((I32x8)magnitude > int32_t(r.infinity)) & f32QuietBit;
  result = select(below(magnitude, r.infinity), result, nonFinite | quiet);
  return result | sign;
}

} // namespace mpcore::numerics::detail

#endif // MP_LIB_NUMERICS_CASTLANES_H
