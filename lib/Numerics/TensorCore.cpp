// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Numerics/TensorCore.h"

#include "mp/Numerics/Cast.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mp::numerics;

//===----------------------------------------------------------------------===//
// The scalar definition, and the oracle of the vectorised product
//===----------------------------------------------------------------------===//

namespace {

constexpr int noExponent = std::numeric_limits<int>::min();

/// significand * 2^lastPlace, seen by the aligner at `exponent`.
struct Term {
  bool negative = false;
  uint64_t significand = 0;
  int lastPlace = 0;
  int exponent = noExponent;
};

/// `value` of a format whose smallest exponent is `minExponent`.
Term termOf(float value, int minExponent) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  Unpacked u = unpack(bits, Format::F32);
  if (u.kind != ValueClass::Finite)
    return {};
  int exponent = 63 - llvm::countl_zero(u.significand) + u.exponent;
  return {u.negative, u.significand, u.exponent,
          std::max(exponent, minExponent)};
}

Term productOf(const Term &a, const Term &b) {
  if (a.significand == 0 || b.significand == 0)
    return {};
  return {a.negative != b.negative, a.significand * b.significand,
          a.lastPlace + b.lastPlace, a.exponent + b.exponent};
}

/// trunc(term * 2^-unit). Terms are below 4 * 2^exponent, so the shift to the
/// left stays within 64 bits for every F used.
int64_t align(const Term &term, int unit) {
  int shift = term.lastPlace - unit;
  uint64_t magnitude = shift >= 0    ? term.significand << shift
                       : shift > -64 ? term.significand >> -shift
                                     : 0;
  return term.negative ? -int64_t(magnitude) : int64_t(magnitude);
}

float makeFloat(uint32_t bits) { return llvm::bit_cast<float>(bits); }

/// The canonical NaN, as the f32 that stands for the result register.
float canonicalNaN(StepResult result) {
  if (result == StepResult::F16)
    return makeFloat(uint32_t(convert(0x7FFF, Format::F16, Format::F32)));
  return makeFloat(0x7FFFFFFF);
}

/// sum * 2^unit in the form of the step's result.
float pack(int64_t sum, int unit, StepResult result) {
  if (sum == 0)
    return 0;
  bool negative = sum < 0;
  uint64_t magnitude = negative ? uint64_t(-sum) : uint64_t(sum);
  int length = 64 - llvm::countl_zero(magnitude);
  int precision = result == StepResult::F32     ? 24
                  : result == StepResult::E8M13 ? 14
                                                : 11;
  int minExponent = result == StepResult::F16 ? -14 : -126;
  int lastPlace = std::max(length - 1 + unit, minExponent) - (precision - 1);
  int drop = lastPlace - unit;
  if (drop > 0) {
    uint64_t mask = drop > 63 ? ~uint64_t(0) : (uint64_t(1) << drop) - 1;
    uint64_t dropped = magnitude & mask;
    magnitude = drop > 63 ? 0 : magnitude >> drop;
    uint64_t half = drop > 63 ? 0 : uint64_t(1) << (drop - 1);
    if (result == StepResult::F16 && half &&
        (dropped > half || (dropped == half && (magnitude & 1))))
      ++magnitude;
    unit = lastPlace;
  }
  // Exact now, except that what is too large becomes infinity.
  double value = std::ldexp(double(magnitude), unit);
  double limit = result == StepResult::F16 ? 0x1p16 : 0x1p128;
  float rounded = value >= limit ? std::numeric_limits<float>::infinity()
                                 : float(value);
  return negative ? -rounded : rounded;
}

/// The answer when NaN or infinity takes part; nullopt if neither does.
std::optional<float> specialStep(const float *a, const float *b, unsigned count,
                                 float c, StepResult result) {
  bool nan = std::isnan(c), plus = c == HUGE_VALF, minus = c == -HUGE_VALF;
  for (unsigned i = 0; i < count; ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i]))
      continue;
    double product = double(a[i]) * double(b[i]);
    nan |= std::isnan(product);
    plus |= product == HUGE_VAL;
    minus |= product == -HUGE_VAL;
  }
  if (nan || (plus && minus))
    return canonicalNaN(result);
  if (plus || minus)
    return plus ? HUGE_VALF : -HUGE_VALF;
  return std::nullopt;
}

/// Smallest exponent the aligner sees for an operand. Unpacking fp8 to f16
/// normalises its subnormals.
int minExponentOf(Format operand, const TensorCoreModel &model) {
  return info(model.emulatedThroughF16 ? Format::F16 : operand).minExponent;
}

/// k%4 in {0,1} first, then {2,3}: how ptxas splits an emulated k32.
unsigned emulatedOrder(unsigned position) {
  unsigned half = position / 16, within = position % 16;
  return within / 2 * 4 + within % 2 + 2 * half;
}

/// c + product, rounded once to the result format.
float addRounded(float sum, float c, const TensorCoreModel &model) {
  float result;
  if (model.result == Format::F32)
    result = sum + c;
  else // both are f16 values, so the f32 sum is exact or far from a tie
    result = roundTo(sum + c, Format::F16);
  return std::isnan(result) ? canonicalNaN(model.stepResult) : result;
}

float emulatedBlock(const TensorCoreModel &model, const float *a,
                    const float *b, unsigned count, float c) {
  float reorderedA[32], reorderedB[32];
  for (unsigned i = 0; i < 32; ++i) {
    unsigned k = emulatedOrder(i);
    reorderedA[i] = k < count ? a[k] : 0;
    reorderedB[i] = k < count ? b[k] : 0;
  }
  float sum = fusedStep(model, reorderedA, reorderedB, 16, 0);
  sum = fusedStep(model, reorderedA + 16, reorderedB + 16, 16, sum);
  return addRounded(sum, c, model);
}

float chain(const TensorCoreModel &model, const float *a, const float *b,
            size_t k, float c) {
  size_t step = model.emulatedThroughF16 ? 32 : model.groupSize;
  for (size_t i = 0; i < k; i += step) {
    unsigned count = unsigned(std::min(step, k - i));
    c = model.emulatedThroughF16 ? emulatedBlock(model, a + i, b + i, count, c)
                                 : fusedStep(model, a + i, b + i, count, c);
  }
  return c;
}

} // namespace

float mp::numerics::fusedStep(const TensorCoreModel &model, const float *a,
                              const float *b, unsigned count, float c) {
  if (std::optional<float> special =
          specialStep(a, b, count, c, model.stepResult))
    return *special;
  constexpr unsigned maxTerms = 33;
  Term terms[maxTerms];
  int minA = minExponentOf(model.operandA, model);
  int minB = minExponentOf(model.operandB, model);
  terms[0] = termOf(c, info(model.result).minExponent);
  int largest = terms[0].exponent;
  for (unsigned i = 0; i < count; ++i) {
    terms[i + 1] = productOf(termOf(a[i], minA), termOf(b[i], minB));
    largest = std::max(largest, terms[i + 1].exponent);
  }
  if (largest == noExponent)
    return 0;
  int unit = largest - model.alignmentBits;
  int64_t sum = 0;
  for (unsigned i = 0; i <= count; ++i)
    if (terms[i].significand)
      sum += align(terms[i], unit);
  return pack(sum, unit, model.stepResult);
}

float mp::numerics::modelDot(const TensorCoreModel &model, const float *a,
                             const float *b, size_t k, float c) {
  bool toF16 = model.result == Format::F16;
  if (model.promoteEvery == 0)
    return chain(model, a, b, k, toF16 ? roundTo(c, Format::F16) : c);
  for (size_t i = 0; i < k; i += model.promoteEvery) {
    size_t count = std::min<size_t>(model.promoteEvery, k - i);
    c += chain(model, a + i, b + i, count, 0);
  }
  if (std::isnan(c))
    return canonicalNaN(model.stepResult);
  return toF16 ? roundTo(c, Format::F16) : c;
}

int32_t mp::numerics::modelDotS8(const int8_t *a, const int8_t *b, size_t k,
                                 int32_t c) {
  uint32_t sum = uint32_t(c);
  for (size_t i = 0; i < k; ++i)
    sum += uint32_t(int32_t(a[i]) * int32_t(b[i]));
  return int32_t(sum);
}
