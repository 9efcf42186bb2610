// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives the error bounds of a modelled dot product from the constants of its model.

#include "mp/Numerics/DotErrorBounds.h"

#include <algorithm>
#include <cmath>

using namespace mpcore::numerics;

static size_t divideUp(size_t value, size_t by) { return (value + by - 1) / by; }

/// log of the factor by which `count` steps of relative error `g` may grow A.
static double growth(double g, size_t count) { return double(count) * std::log1p(g); }

static double resultError(StepResult result) {
  switch (result) {
  case StepResult::F32: return 0x1p-23; // cut, so a whole last place
  case StepResult::E8M13: return 0x1p-13;
  case StepResult::F16: return 0x1p-11; // rounded to nearest
  }
  return 0;
}

double mpcore::numerics::stepError(const TensorCoreModel &model) {
  double alignment = std::ldexp(double(model.groupSize + 1), -model.alignmentBits);
  double result = resultError(model.stepResult);
  return alignment + result + alignment * result;
}

double mpcore::numerics::errorConstant(const TensorCoreModel &model) {
  double alignment = std::ldexp(double(model.groupSize + 1), -model.alignmentBits);
  return (alignment + resultError(model.stepResult)) / model.groupSize * 0x1p24;
}

/// Growth over `k` products chained without promotion.
static double chainGrowth(const TensorCoreModel &model, size_t k) {
  double g = stepError(model);
  if (!model.emulatedThroughF16)
    return growth(g, divideUp(k, model.groupSize));
  // Two steps from zero, then one rounded addition to the accumulator.
  double addition = info(model.result).unitRoundoff;
  return growth(g, 2) + growth(addition, divideUp(k, 32));
}

double mpcore::numerics::dotErrorBound(const TensorCoreModel &model, size_t k) {
  double total;
  if (model.promoteEvery == 0) {
    total = chainGrowth(model, k);
  } else {
    total = chainGrowth(model, std::min<size_t>(k, model.promoteEvery)) +
            growth(0x1p-24, divideUp(k, model.promoteEvery));
    if (model.result == Format::F16)
      total += growth(0x1p-11, 1);
  }
  return std::expm1(total);
}
