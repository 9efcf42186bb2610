// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eight outputs per vector. A product of two operands is exact in f32; scaled
// by the power of two that aligns it, conversion to an integer is the
// hardware's truncation, and integer lanes add without error. Lanes in which
// f32 or int32 would not hold a term exactly (rare exponents, NaN, infinity, a
// carry out of 31 bits) are recomputed by the scalar definition.

#include "Tile.h"

#include "mp/Numerics/Simd.h"

using namespace mpcore::numerics;
using namespace mpcore::numerics::detail;

#if MP_NUMERICS_X86

#include <immintrin.h>

#define MP_TILE __attribute__((always_inline, target("avx2,fma,f16c"))) static inline

namespace {

/// Largest exponents M between which every scaled value is a normal f32, and
/// every unscaled one that is not truncates to zero.
constexpr int lowestExponent = -90, highestExponent = 120;

struct Settings {
  unsigned group;
  int alignmentBits;
  int accumulatorMinExponent;
  StepResult result;
  /// Terms of up to 4 * 2^F can carry beyond 31 bits; checked when they can.
  bool mayOverflow;
};

constexpr Settings settingsOf(const TensorCoreModel &model) {
  bool mayOverflow =
      (uint64_t(4 * model.groupSize + 2) << model.alignmentBits) > uint64_t(INT32_MAX);
  return {model.groupSize, model.alignmentBits, model.result == Format::F16 ? -14 : -126,
          model.stepResult, mayOverflow};
}

MP_TILE __m256i broadcast(int32_t value) { return _mm256_set1_epi32(value); }

MP_TILE __m256 powerOfTwo(__m256i exponent) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(exponent, broadcast(127)), 23));
}

MP_TILE __m256i exponentOf(__m256 value, int minExponent) {
  __m256i bits = _mm256_castps_si256(value);
  __m256i field = _mm256_and_si256(_mm256_srli_epi32(bits, 23), broadcast(0xFF));
  __m256i exponent =
      _mm256_max_epi32(_mm256_sub_epi32(field, broadcast(127)), broadcast(minExponent));
  __m256i isZero = _mm256_cmpeq_epi32(_mm256_slli_epi32(bits, 1), _mm256_setzero_si256());
  return _mm256_blendv_epi8(exponent, broadcast(zeroExponent), isZero);
}

/// Lanes whose largest exponent the f32 arithmetic below cannot serve. Nothing
/// but zeros (an exponent near zeroExponent) is fine: the sum is zero.
MP_TILE __m256i outOfRange(__m256i largest) {
  __m256i high = _mm256_cmpgt_epi32(largest, broadcast(highestExponent));
  __m256i low = _mm256_cmpgt_epi32(broadcast(lowestExponent), largest);
  __m256i notZero = _mm256_cmpgt_epi32(largest, broadcast(zeroExponent / 2));
  return _mm256_or_si256(high, _mm256_and_si256(low, notZero));
}

MP_TILE __m256i addCarrying(__m256i x, __m256i y, __m256i &carried) {
  __m256i sum = _mm256_add_epi32(x, y);
  carried = _mm256_or_si256(carried,
                            _mm256_and_si256(_mm256_xor_si256(x, sum), _mm256_xor_si256(y, sum)));
  return sum;
}

/// sum * 2^(M - F) in the form of the step's result.
MP_TILE __m256 pack(__m256i sum, __m256 unit, StepResult result) {
  __m256i sign = _mm256_and_si256(sum, broadcast(INT32_MIN));
  __m256i magnitude = _mm256_abs_epi32(sum);
  // Clearing, of the bits below the top 24, at least the first makes the
  // conversion's rounding a truncation.
  __m256i cut = _mm256_andnot_si256(_mm256_srli_epi32(magnitude, 24), magnitude);
  __m256 value = _mm256_cvtepi32_ps(cut);
  if (result == StepResult::F16) {
    // A last bit that remembers what was cut lets the next rounding be right.
    __m256i exact = _mm256_cmpeq_epi32(_mm256_cvtps_epi32(value), magnitude);
    __m256i sticky = _mm256_andnot_si256(exact, broadcast(1));
    value = _mm256_or_ps(value, _mm256_castsi256_ps(sticky));
  }
  value = _mm256_mul_ps(value, unit);
  if (result == StepResult::E8M13)
    value = _mm256_and_ps(value, _mm256_castsi256_ps(broadcast(~0x3FF)));
  value = _mm256_or_ps(value, _mm256_castsi256_ps(sign));
  if (result == StepResult::F16)
    value = _mm256_cvtph_ps(_mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  return value;
}

/// The scalar definition for the lanes set in `lanes`.
__attribute__((noinline)) void redoLanes(const TensorCoreModel &model, const float *a,
                                         const float *b, unsigned row, unsigned lanes,
                                         const float *before, float *after) {
  float aGroup[32], bGroup[32];
  for (unsigned lane = 0; lane < tileColumns; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    for (unsigned i = 0; i < model.groupSize; ++i) {
      aGroup[i] = a[i * tileRows + row];
      bGroup[i] = b[i * tileColumns + lane];
    }
    after[lane] = fusedStep(model, aGroup, bGroup, model.groupSize, before[lane]);
  }
}

/// One fused step of all outputs; `k` is where its group starts.
MP_TILE void step(const TensorCoreModel &model, const Settings &s, Panel a, Panel b, size_t k,
                  __m256 c[tileRows]) {
  const float *av = a.values + k * tileRows, *bv = b.values + k * tileColumns;
  const int32_t *ae = a.exponents + k * tileRows;
  const int32_t *be = b.exponents + k * tileColumns;

  __m256i largest[tileRows];
  for (unsigned r = 0; r < tileRows; ++r)
    largest[r] = exponentOf(c[r], s.accumulatorMinExponent);
  for (unsigned i = 0; i < s.group; ++i) {
    __m256i column = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(be + i * tileColumns));
    for (unsigned r = 0; r < tileRows; ++r)
      largest[r] =
          _mm256_max_epi32(largest[r], _mm256_add_epi32(column, broadcast(ae[i * tileRows + r])));
  }

  __m256i redo[tileRows], sum[tileRows];
  __m256 scale[tileRows], unit[tileRows];
  __m256i anyRedo = _mm256_setzero_si256();
  for (unsigned r = 0; r < tileRows; ++r) {
    redo[r] = outOfRange(largest[r]);
    __m256i exponent = _mm256_min_epi32(_mm256_max_epi32(largest[r], broadcast(lowestExponent)),
                                        broadcast(highestExponent));
    __m256i shift = _mm256_sub_epi32(broadcast(s.alignmentBits), exponent);
    scale[r] = powerOfTwo(shift);
    unit[r] = powerOfTwo(_mm256_sub_epi32(_mm256_setzero_si256(), shift));
    sum[r] = _mm256_setzero_si256();
  }
  // Sixteen products cannot carry by themselves: 16 * (2 - 2^-10)^2 < 2^6.
  for (unsigned start = 0; start < s.group; start += 16) {
    __m256i part[tileRows] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                              _mm256_setzero_si256(), _mm256_setzero_si256()};
    for (unsigned i = start; i < s.group && i < start + 16; ++i) {
      __m256 column = _mm256_loadu_ps(bv + i * tileColumns);
      for (unsigned r = 0; r < tileRows; ++r) {
        __m256 product = _mm256_mul_ps(column, _mm256_set1_ps(av[i * tileRows + r]));
        part[r] = _mm256_add_epi32(part[r], _mm256_cvttps_epi32(_mm256_mul_ps(product, scale[r])));
      }
    }
    for (unsigned r = 0; r < tileRows; ++r)
      if (s.mayOverflow)
        sum[r] = addCarrying(sum[r], part[r], redo[r]);
      else
        sum[r] = _mm256_add_epi32(sum[r], part[r]);
  }

  __m256 before[tileRows];
  for (unsigned r = 0; r < tileRows; ++r) {
    before[r] = c[r];
    __m256i term = _mm256_cvttps_epi32(_mm256_mul_ps(c[r], scale[r]));
    if (s.mayOverflow)
      sum[r] = addCarrying(sum[r], term, redo[r]);
    else
      sum[r] = _mm256_add_epi32(sum[r], term);
    c[r] = pack(sum[r], unit[r], s.result);
    anyRedo = _mm256_or_si256(anyRedo, redo[r]);
  }
  if (__builtin_expect(_mm256_movemask_ps(_mm256_castsi256_ps(anyRedo)) == 0, 1))
    return;
  for (unsigned r = 0; r < tileRows; ++r) {
    unsigned lanes = _mm256_movemask_ps(_mm256_castsi256_ps(redo[r]));
    if (!lanes)
      continue;
    float old[tileColumns], fresh[tileColumns];
    _mm256_storeu_ps(old, before[r]);
    _mm256_storeu_ps(fresh, c[r]);
    redoLanes(model, av, bv, r, lanes, old, fresh);
    c[r] = _mm256_loadu_ps(fresh);
  }
}

/// The products [begin, end) chained onto `c`.
MP_TILE void chain(const TensorCoreModel &model, const Settings &s, Panel a, Panel b, size_t begin,
                   size_t end, __m256 c[tileRows]) {
  if (!model.emulatedThroughF16) {
    for (size_t k = begin; k < end; k += s.group)
      step(model, s, a, b, k, c);
    return;
  }
  for (size_t k = begin; k < end; k += 32) {
    __m256 block[tileRows];
    for (unsigned r = 0; r < tileRows; ++r)
      block[r] = _mm256_setzero_ps();
    step(model, s, a, b, k, block);
    step(model, s, a, b, k + 16, block);
    for (unsigned r = 0; r < tileRows; ++r) {
      c[r] = _mm256_add_ps(block[r], c[r]);
      if (s.result == StepResult::F16)
        c[r] = _mm256_cvtph_ps(_mm256_cvtps_ph(c[r], _MM_FROUND_TO_NEAREST_INT));
    }
  }
}

MP_TILE __m256 canonicalise(__m256 value, StepResult result) {
  // The f32 of f16's 0x7FFF is 0x7FFFE000.
  __m256 nan = _mm256_castsi256_ps(broadcast(result == StepResult::F16 ? 0x7FFFE000 : 0x7FFFFFFF));
  return _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
}

/// `s` is a constant at every call, so that each model gets its own loops.
MP_TILE void tile(const TensorCoreModel &model, const Settings &s, size_t paddedK, Panel a, Panel b,
                  float accumulators[tileRows][tileColumns]) {
  bool toF16 = s.result == StepResult::F16;
  __m256 total[tileRows];
  for (unsigned r = 0; r < tileRows; ++r) {
    total[r] = _mm256_loadu_ps(accumulators[r]);
    if (toF16 && !model.promoteEvery)
      total[r] = _mm256_cvtph_ps(_mm256_cvtps_ph(total[r], _MM_FROUND_TO_NEAREST_INT));
  }
  if (model.promoteEvery == 0) {
    chain(model, s, a, b, 0, paddedK, total);
  } else {
    for (size_t k = 0; k < paddedK; k += model.promoteEvery) {
      size_t end = k + model.promoteEvery;
      __m256 partial[tileRows];
      for (unsigned r = 0; r < tileRows; ++r)
        partial[r] = _mm256_setzero_ps();
      chain(model, s, a, b, k, end < paddedK ? end : paddedK, partial);
      for (unsigned r = 0; r < tileRows; ++r)
        total[r] = _mm256_add_ps(total[r], partial[r]);
    }
  }
  for (unsigned r = 0; r < tileRows; ++r) {
    if (model.promoteEvery && toF16)
      total[r] = _mm256_cvtph_ps(_mm256_cvtps_ph(total[r], _MM_FROUND_TO_NEAREST_INT));
    if (paddedK > 0 && (model.promoteEvery || model.emulatedThroughF16))
      total[r] = canonicalise(total[r], s.result);
    _mm256_storeu_ps(accumulators[r], total[r]);
  }
}

template <unsigned group, int alignmentBits, StepResult result>
__attribute__((target("avx2,fma,f16c"))) void tileFor(const TensorCoreModel &model, size_t paddedK,
                                                      Panel a, Panel b,
                                                      float accumulators[tileRows][tileColumns]) {
  constexpr Settings s = [] {
    TensorCoreModel constant = {};
    constant.groupSize = group;
    constant.alignmentBits = alignmentBits;
    constant.stepResult = result;
    constant.result = result == StepResult::F16 ? Format::F16 : Format::F32;
    return settingsOf(constant);
  }();
  tile(model, s, paddedK, a, b, accumulators);
}

struct TileEntry {
  unsigned group;
  int alignmentBits;
  StepResult result;
  TileFunction function;
};

template <unsigned group, int alignmentBits, StepResult result> constexpr TileEntry entry() {
  return {group, alignmentBits, result, tileFor<group, alignmentBits, result>};
}

using SR = StepResult;
constexpr TileEntry kTileEntries[] = {
    entry<4, 23, SR::F32>(),  entry<4, 23, SR::F16>(),    entry<8, 24, SR::F32>(),
    entry<8, 24, SR::F16>(),  entry<4, 24, SR::F32>(),    entry<16, 25, SR::F32>(),
    entry<16, 25, SR::F16>(), entry<8, 25, SR::F32>(),    entry<16, 13, SR::E8M13>(),
    entry<16, 13, SR::F16>(), entry<32, 13, SR::E8M13>(), entry<32, 13, SR::F16>(),
    entry<32, 25, SR::F32>(), entry<32, 25, SR::F16>(),
};

} // namespace

TileFunction mpcore::numerics::detail::tileAVX2(const TensorCoreModel &model) {
  if (!__builtin_cpu_supports("f16c"))
    return nullptr;
  for (const TileEntry &candidate : kTileEntries)
    if (candidate.group == model.groupSize && candidate.alignmentBits == model.alignmentBits &&
        candidate.result == model.stepResult)
      return candidate.function;
  return nullptr;
}

#else

TileFunction mpcore::numerics::detail::tileAVX2(const TensorCoreModel &) { return nullptr; }

#endif
