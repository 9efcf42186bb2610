// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts arrays by vectorised recipes per pair of formats, and by the scalar definition where
// none fits.

#include "mp/Numerics/ArrayCast.h"

#include "CastLanes.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace mpcore::numerics;
using namespace mpcore::numerics::detail;

namespace {

/// Loads and stores one vector of elements stored as `Element`.
template <typename Element> MP_INLINE U32x8 load(const void *from) {
  typedef Element Stored __attribute__((vector_size(lanes * sizeof(Element))));
  Stored stored;
  std::memcpy(&stored, from, sizeof(stored));
  return __builtin_convertvector(stored, U32x8);
}

template <typename Element> MP_INLINE void store(U32x8 value, void *to) {
  typedef Element Stored __attribute__((vector_size(lanes * sizeof(Element))));
  Stored stored = __builtin_convertvector(value, Stored);
  std::memcpy(to, &stored, sizeof(stored));
}

/// f32 patterns to patterns stored as `Element`.
template <typename Element, typename T, Bias bias> struct Narrowing {
  using From = uint32_t;
  using To = Element;
  static constexpr bool usesRandom = bias == Bias::Random;
  MP_INLINE U32x8 apply(U32x8 bits, U32x8 random, const Recipe &r) {
    return narrow<T, bias>(bits, random, r);
  }
};

/// Patterns stored as `Element` to f32.
template <typename Element, typename T> struct Widening {
  using From = Element;
  using To = uint32_t;
  static constexpr bool usesRandom = false;
  MP_INLINE U32x8 apply(U32x8 bits, U32x8, const Recipe &r) { return widen<T>(bits, r); }
};

struct Arrays {
  const void *source;
  void *result;
  const uint32_t *random;
  size_t count;
};

template <typename Kernel> MP_INLINE void loop(const Arrays &arrays, const Recipe &recipe) {
  using From = typename Kernel::From;
  using To = typename Kernel::To;
  Recipe r = recipe; // a copy no store can alias
  const From *source = static_cast<const From *>(arrays.source);
  To *result = static_cast<To *>(arrays.result);
  const uint32_t *random = arrays.random;
  size_t i = 0;
  for (; i + lanes <= arrays.count; i += lanes) {
    U32x8 draw = {};
    if (Kernel::usesRandom)
      draw = load<uint32_t>(random + i);
    store<To>(Kernel::apply(load<From>(source + i), draw, r), result + i);
  }
  size_t left = arrays.count - i;
  if (left == 0)
    return;
  From in[lanes] = {};
  uint32_t draws[lanes] = {};
  To out[lanes];
  std::memcpy(in, source + i, left * sizeof(From));
  if (Kernel::usesRandom)
    std::memcpy(draws, random + i, left * sizeof(uint32_t));
  store<To>(Kernel::apply(load<From>(in), load<uint32_t>(draws), r), out);
  std::memcpy(result + i, out, left * sizeof(To));
}

template <typename Kernel> void loopPortable(const Arrays &arrays, const Recipe &recipe) {
  loop<Kernel>(arrays, recipe);
}

template <typename Kernel>
MP_TARGET_AVX2 void loopAVX2(const Arrays &arrays, const Recipe &recipe) {
  loop<Kernel>(arrays, recipe);
}

template <typename Kernel> void run(Simd simd, const Arrays &arrays, const Recipe &recipe) {
  if (simd == Simd::AVX2)
    loopAVX2<Kernel>(arrays, recipe);
  else
    loopPortable<Kernel>(arrays, recipe);
}

template <typename Element, typename T>
void runNarrowing(Simd simd, const Arrays &arrays, const Recipe &recipe, Rounding rounding) {
  if (rounding == Rounding::RNE)
    run<Narrowing<Element, T, Bias::ToEven>>(simd, arrays, recipe);
  else if (rounding == Rounding::SR)
    run<Narrowing<Element, T, Bias::Random>>(simd, arrays, recipe);
  else
    run<Narrowing<Element, T, Bias::BySign>>(simd, arrays, recipe);
}

/// The vectorised conversions; false for all others.
bool convertVectorised(Simd simd, const Arrays &arrays, Format from, Format to, Rounding rounding,
                       Overflow overflow) {
  if (to == Format::F32 && storageBytes(from) != 8) {
    Recipe recipe = makeRecipe(from, rounding, overflow);
    if (from == Format::F16)
      run<Widening<uint16_t, OwnSubnormals>>(simd, arrays, recipe);
    else if (from == Format::BF16)
      run<Widening<uint16_t, LikeF32>>(simd, arrays, recipe);
    else if (from == Format::TF32)
      run<Widening<uint32_t, LikeF32>>(simd, arrays, recipe);
    else
      return false;
    return true;
  }
  if (from != Format::F32 || to == Format::F64 || to == Format::F8E8M0FNU ||
      rounding == Rounding::SRCompare || (rounding == Rounding::SR && !arrays.random))
    return false;
  Recipe recipe = makeRecipe(to, rounding, overflow);
  const FormatInfo &target = info(to);
  if (to == Format::BF16)
    runNarrowing<uint16_t, LikeF32>(simd, arrays, recipe, rounding);
  else if (to == Format::TF32)
    runNarrowing<uint32_t, LikeF32>(simd, arrays, recipe, rounding);
  else if (to == Format::F16)
    runNarrowing<uint16_t, OwnSubnormals>(simd, arrays, recipe, rounding);
  else if (target.hasNegativeZero && target.hasNaN)
    runNarrowing<uint8_t, OwnSubnormals>(simd, arrays, recipe, rounding);
  else
    runNarrowing<uint8_t, Traits<true, false>>(simd, arrays, recipe, rounding);
  return true;
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

void convertScalar(const void *source, Format from, void *result, Format to, size_t count,
                   Rounding rounding, Overflow overflow, const uint32_t *randomBits) {
  unsigned fromBytes = storageBytes(from), toBytes = storageBytes(to);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = loadElement(source, i, fromBytes);
    bits = convert(bits, from, to, rounding, overflow, randomBits ? randomBits[i] : 0);
    storeElement(result, i, toBytes, bits);
  }
}

/// Converts as the processor's own instructions do: nearest even, NaN payloads kept and quiet.
template <typename From, typename To>
void castNatively(const void *source, void *result, size_t count) {
  const From *from = static_cast<const From *>(source);
  To *to = static_cast<To *>(result);
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<To>(from[i]);
}

/// Between two narrow formats: f32 holds every value of the first, so only one
/// rounding happens.
void convertThroughF32(const Arrays &arrays, Format from, Format to, Rounding rounding,
                       Overflow overflow, Simd simd) {
  constexpr size_t block = 1024;
  float values[block];
  const char *in = static_cast<const char *>(arrays.source);
  char *out = static_cast<char *>(arrays.result);
  for (size_t i = 0; i < arrays.count; i += block) {
    size_t n = std::min(block, arrays.count - i);
    convertArray(in + i * storageBytes(from), from, values, Format::F32, n, Rounding::RNE,
                 Overflow::IEEE, nullptr, simd);
    convertArray(values, Format::F32, out + i * storageBytes(to), to, n, rounding, overflow,
                 nullptr, simd);
  }
}

} // namespace

unsigned mpcore::numerics::storageBytes(Format format) {
  unsigned bits = info(format).bits;
  return bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
}

void mpcore::numerics::convertArray(const void *source, Format from, void *result, Format to,
                                    size_t count, Rounding rounding, Overflow overflow,
                                    const uint32_t *randomBits, Simd simd) {
  if (count == 0)
    return; // an empty array may lie at null, which memmove takes for no address
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
  if (from == Format::F32 && to == Format::F64)
    return castNatively<float, double>(source, result, count);
  bool nearestIEEE = rounding == Rounding::RNE && overflow == Overflow::IEEE;
  if (from == Format::F64 && to == Format::F32 && nearestIEEE)
    return castNatively<double, float>(source, result, count);
  Arrays arrays = {source, result, randomBits, count};
  if (convertVectorised(simd, arrays, from, to, rounding, overflow))
    return;
  // The source format decides how many bits a stochastic rounding takes.
  bool stochastic = rounding == Rounding::SR || rounding == Rounding::SRCompare;
  if (info(from).bits <= 19 && to != Format::F64 && !stochastic)
    return convertThroughF32(arrays, from, to, rounding, overflow, simd);
  convertScalar(source, from, result, to, count, rounding, overflow, randomBits);
}
void mpcore::numerics::roundArray(const float *source, float *result, size_t count, Format format,
                                  Rounding rounding, Overflow overflow, Simd simd) {
  // Through a block that stays in the first-level cache.
  constexpr size_t block = 1024;
  uint64_t narrowed[block];
  for (size_t i = 0; i < count; i += block) {
    size_t n = std::min(block, count - i);
    convertArray(source + i, Format::F32, narrowed, format, n, rounding, overflow, nullptr, simd);
    convertArray(narrowed, format, result + i, Format::F32, n, Rounding::RNE, Overflow::IEEE,
                 nullptr, simd);
  }
}
