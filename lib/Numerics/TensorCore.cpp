// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes one fused step, and dots made of such steps: the scalar definition of the models.

#include "mp/Numerics/TensorCore.h"

#include "AlignedSum.h"
#include "mp/Numerics/Cast.h"

#include <algorithm>
#include <cmath>

using namespace mpcore::numerics;

//===----------------------------------------------------------------------===//
// The scalar definition, and the oracle of the vectorised product
//===----------------------------------------------------------------------===//

namespace {

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

float emulatedBlock(const TensorCoreModel &model, const float *a, const float *b, unsigned count,
                    float c) {
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

float chain(const TensorCoreModel &model, const float *a, const float *b, size_t k, float c) {
  size_t step = model.emulatedThroughF16 ? 32 : model.groupSize;
  for (size_t i = 0; i < k; i += step) {
    unsigned count = unsigned(std::min(step, k - i));
    c = model.emulatedThroughF16 ? emulatedBlock(model, a + i, b + i, count, c)
                                 : fusedStep(model, a + i, b + i, count, c);
  }
  return c;
}

} // namespace

float mpcore::numerics::fusedStep(const TensorCoreModel &model, const float *a, const float *b,
                                  unsigned count, float c) {
  if (std::optional<float> special = specialStep(a, b, count, c, model.stepResult))
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

float mpcore::numerics::modelDot(const TensorCoreModel &model, const float *a, const float *b,
                                 size_t k, float c) {
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
