// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One branch-free kernel per direction, driven by parameters of the format and
// written with the vector extensions of clang and gcc, so that the portable
// and the AVX2 version are the same text compiled twice.

#include "mp/Numerics/ArrayCast.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace mp::numerics;

#define MP_INLINE static inline __attribute__((always_inline))

// Vectors are passed between always-inlined functions only, so there is no ABI
// to warn about.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace {

constexpr size_t lanes = 8;
typedef uint32_t U32x8 __attribute__((vector_size(32)));
typedef int32_t I32x8 __attribute__((vector_size(32)));
typedef float F32x8 __attribute__((vector_size(32)));

constexpr uint32_t f32Magnitude = 0x7FFFFFFF, f32Infinity = 0x7F800000,
                   f32Fraction = 0x007FFFFF, f32QuietBit = 0x00400000;

/// How f32 patterns become patterns of a narrower format, and back.
struct Recipe {
  uint32_t shift;        ///< fraction bits lost: 23 - fractionBits
  uint32_t underHalf;    ///< half a last place, less one
  uint32_t rebias;       ///< (127 - bias) in the target's exponent field
  uint32_t f32Rebias;    ///< the same in f32's exponent field
  uint32_t minNormal;    ///< as an f32 pattern
  float aligner;         ///< adding it rounds a subnormal to its last place
  float subnormalUnit;   ///< value of the smallest subnormal
  uint32_t hidden;       ///< 1 << fractionBits: patterns below are subnormal
  uint32_t overflowed;   ///< what is too large becomes
  uint32_t quietNaN;
  uint32_t payloadMask;  ///< f32Fraction if NaN payloads are kept, else 0
  uint32_t signMask;     ///< the target's sign bit
  uint32_t signShift;    ///< from f32's sign bit to the target's
  uint32_t zeroKeepsSign, nanKeepsSign; ///< all ones or zero
  uint32_t infinity;     ///< when widening, which only IEEE formats do here
};

Recipe makeRecipe(Format format, Overflow overflow) {
  const FormatInfo &f = info(format);
  Recipe r = {};
  r.shift = 23 - f.fractionBits;
  r.underHalf = (1u << (r.shift - 1)) - 1;
  r.rebias = uint32_t(127 - f.bias) << f.fractionBits;
  r.f32Rebias = uint32_t(127 - f.bias) << 23;
  r.minNormal = llvm::bit_cast<uint32_t>(float(f.minNormal));
  // An f32 of exponent e has its last place at e - 23: put that where the
  // target's smallest subnormal is.
  r.aligner = float(f.minSubnormal * 0x1p23);
  r.subnormalUnit = float(f.minSubnormal);
  r.hidden = 1u << f.fractionBits;
  r.overflowed = overflow == Overflow::Saturate ? uint32_t(f.largest)
                 : f.hasInf                     ? uint32_t(f.infinity)
                 : f.hasNaN                     ? uint32_t(f.quietNaN)
                                                : uint32_t(f.largest);
  r.quietNaN = uint32_t(f.hasNaN ? f.quietNaN : f.largest);
  r.payloadMask = f.hasNaNPayload ? f32Fraction : 0;
  r.signMask = uint32_t(f.signBit);
  r.signShift = 32 - f.bits;
  r.zeroKeepsSign = f.hasNegativeZero ? ~0u : 0;
  r.nanKeepsSign = f.hasNaN ? ~0u : 0;
  r.infinity = uint32_t(f.infinity);
  return r;
}

MP_INLINE U32x8 select(I32x8 mask, U32x8 yes, U32x8 no) {
  return mask ? yes : no;
}

// Magnitudes are below 2^31, and AVX2 compares only signed lanes.
MP_INLINE I32x8 below(U32x8 x, uint32_t bound) {
  return (I32x8)x < int32_t(bound);
}

/// What the formats of a kernel have in common, known when compiling.
template <bool ownSubnormals, bool plainSign>
struct Traits {
  /// False where subnormals lie as in f32, so that they need no own path.
  static constexpr bool hasOwnSubnormals = ownSubnormals;
  /// True with -0 and signed NaN: the sign is simply kept.
  static constexpr bool hasPlainSign = plainSign;
};

using LikeF32 = Traits<false, true>;
using OwnSubnormals = Traits<true, true>;

template <typename T>
MP_INLINE U32x8 narrow(U32x8 bits, const Recipe &r) {
  U32x8 magnitude = bits & f32Magnitude;
  // Ties to even: add just under half a last place, plus the kept last bit.
  U32x8 odd = (magnitude >> r.shift) & 1;
  U32x8 rounded = magnitude + r.underHalf + odd;
  U32x8 result = (rounded >> r.shift) - r.rebias;
  if (T::hasOwnSubnormals) {
    // The f32 adder rounds them at the right place.
    F32x8 aligned = (F32x8)magnitude + r.aligner;
    U32x8 subnormal = (U32x8)aligned - llvm::bit_cast<uint32_t>(r.aligner);
    result = select(below(magnitude, r.minNormal), subnormal, result);
  }
  // What overflow gives follows the largest finite pattern, or is that.
  result = select(below(result, r.overflowed), result, U32x8{} + r.overflowed);
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

template <typename T>
MP_INLINE U32x8 widen(U32x8 bits, const Recipe &r) {
  U32x8 magnitude = bits & (r.signMask - 1);
  U32x8 sign = (bits & r.signMask) << r.signShift;
  U32x8 result = (magnitude << r.shift) + r.f32Rebias;
  if (T::hasOwnSubnormals) {
    F32x8 subnormal =
        __builtin_convertvector((I32x8)magnitude, F32x8) * r.subnormalUnit;
    result = select(below(magnitude, r.hidden), (U32x8)subnormal, result);
  }
  U32x8 nonFinite = (magnitude << r.shift) | f32Infinity;
  U32x8 quiet = (U32x8)((I32x8)magnitude > int32_t(r.infinity)) & f32QuietBit;
  result = select(below(magnitude, r.infinity), result, nonFinite | quiet);
  return result | sign;
}

/// Loads and stores one vector of elements stored as `Element`.
template <typename Element>
MP_INLINE U32x8 load(const void *from) {
  typedef Element Stored __attribute__((vector_size(lanes * sizeof(Element))));
  Stored stored;
  std::memcpy(&stored, from, sizeof(stored));
  return __builtin_convertvector(stored, U32x8);
}

template <typename Element>
MP_INLINE void store(U32x8 value, void *to) {
  typedef Element Stored __attribute__((vector_size(lanes * sizeof(Element))));
  Stored stored = __builtin_convertvector(value, Stored);
  std::memcpy(to, &stored, sizeof(stored));
}

template <typename From, typename To, bool narrowing, typename T>
MP_INLINE void loop(const From *source, To *result, size_t count,
                    const Recipe &recipe) {
  Recipe r = recipe; // a copy no store can alias
  auto step = [&](const From *in, To *out) __attribute__((always_inline)) {
    U32x8 bits = load<From>(in);
    store<To>(narrowing ? narrow<T>(bits, r) : widen<T>(bits, r), out);
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    step(source + i, result + i);
  if (i == count)
    return;
  From in[lanes] = {};
  To out[lanes];
  std::memcpy(in, source + i, (count - i) * sizeof(From));
  step(in, out);
  std::memcpy(result + i, out, (count - i) * sizeof(To));
}

template <typename From, typename To, bool narrowing, typename T>
void loopPortable(const From *source, To *result, size_t count,
                  const Recipe &recipe) {
  loop<From, To, narrowing, T>(source, result, count, recipe);
}

template <typename From, typename To, bool narrowing, typename T>
MP_TARGET_AVX2 void loopAVX2(const From *source, To *result, size_t count,
                             const Recipe &recipe) {
  loop<From, To, narrowing, T>(source, result, count, recipe);
}

template <typename From, typename To, bool narrowing, typename T>
void run(Simd simd, const void *source, void *result, size_t count,
         const Recipe &recipe) {
  auto *in = static_cast<const From *>(source);
  auto *out = static_cast<To *>(result);
  if (simd == Simd::AVX2)
    loopAVX2<From, To, narrowing, T>(in, out, count, recipe);
  else
    loopPortable<From, To, narrowing, T>(in, out, count, recipe);
}

uint64_t loadElement(const void *array, size_t index, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char *>(array) + index * bytes, bytes);
  return bits;
}

void storeElement(void *array, size_t index, unsigned bytes, uint64_t bits) {
  std::memcpy(static_cast<char *>(array) + index * bytes, &bits, bytes);
}

/// f32 values of the 256 bytes of an 8-bit or narrower format.
using WideningTable = std::array<uint32_t, 256>;

WideningTable makeTable(Format from) {
  WideningTable table;
  for (unsigned bits = 0; bits < 256; ++bits)
    table[bits] = uint32_t(convert(bits, from, Format::F32));
  return table;
}

const WideningTable &wideningTable(Format from) {
  static const auto tables = [] {
    std::array<WideningTable, size_t(Format::F4E2M1FN) + 1> result = {};
    for (Format format : allFormats())
      if (info(format).bits <= 8)
        result[size_t(format)] = makeTable(format);
    return result;
  }();
  return tables[size_t(from)];
}

void convertScalar(const void *source, Format from, void *result, Format to,
                   size_t count, Rounding rounding, Overflow overflow,
                   const uint32_t *randomBits) {
  unsigned fromBytes = storageBytes(from), toBytes = storageBytes(to);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = loadElement(source, i, fromBytes);
    bits = convert(bits, from, to, rounding, overflow,
                   randomBits ? randomBits[i] : 0);
    storeElement(result, i, toBytes, bits);
  }
}

} // namespace

unsigned mp::numerics::storageBytes(Format format) {
  unsigned bits = info(format).bits;
  return bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
}

void mp::numerics::convertArray(const void *source, Format from, void *result,
                                Format to, size_t count, Rounding rounding,
                                Overflow overflow, const uint32_t *randomBits,
                                Simd simd) {
  if (from == to) {
    std::memmove(result, source, count * storageBytes(from));
    return;
  }
  if (to == Format::F32 && info(from).bits <= 8) {
    const WideningTable &table = wideningTable(from);
    auto *bytes = static_cast<const uint8_t *>(source);
    auto *values = static_cast<char *>(result);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(values + 4 * i, &table[bytes[i]], 4);
    return;
  }
  if (to == Format::F32 && from != Format::F64) {
    Recipe recipe = makeRecipe(from, overflow);
    if (from == Format::F16)
      return run<uint16_t, uint32_t, false, OwnSubnormals>(
          simd, source, result, count, recipe);
    if (from == Format::BF16)
      return run<uint16_t, uint32_t, false, LikeF32>(simd, source, result,
                                                     count, recipe);
    return run<uint32_t, uint32_t, false, LikeF32>(simd, source, result, count,
                                                   recipe);
  }
  bool narrows = from == Format::F32 && to != Format::F64 &&
                 to != Format::F8E8M0FNU && rounding == Rounding::RNE;
  if (!narrows)
    return convertScalar(source, from, result, to, count, rounding, overflow,
                         randomBits);
  Recipe recipe = makeRecipe(to, overflow);
  const FormatInfo &target = info(to);
  bool plainSign = target.hasNegativeZero && target.hasNaN;
  if (storageBytes(to) == 1 && plainSign)
    return run<uint32_t, uint8_t, true, OwnSubnormals>(simd, source, result,
                                                       count, recipe);
  if (storageBytes(to) == 1)
    return run<uint32_t, uint8_t, true, Traits<true, false>>(
        simd, source, result, count, recipe);
  if (to == Format::F16)
    return run<uint32_t, uint16_t, true, OwnSubnormals>(simd, source, result,
                                                        count, recipe);
  if (to == Format::BF16)
    return run<uint32_t, uint16_t, true, LikeF32>(simd, source, result, count,
                                                  recipe);
  return run<uint32_t, uint32_t, true, LikeF32>(simd, source, result, count,
                                                recipe);
}

void mp::numerics::roundArray(const float *source, float *result, size_t count,
                              Format format, Rounding rounding,
                              Overflow overflow, Simd simd) {
  // Through a block that stays in the first-level cache.
  constexpr size_t block = 1024;
  uint64_t narrowed[block];
  for (size_t i = 0; i < count; i += block) {
    size_t n = std::min(block, count - i);
    convertArray(source + i, Format::F32, narrowed, format, n, rounding,
                 overflow, nullptr, simd);
    convertArray(narrowed, format, result + i, Format::F32, n, Rounding::RNE,
                 Overflow::IEEE, nullptr, simd);
  }
}
