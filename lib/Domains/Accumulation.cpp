// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the error constants of scalar and Tensor Core sums, from the models in lib/Numerics.

#include "mp/Domains/Accumulation.h"

#include "mp/Domains/Rounding.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

using numerics::Format;

Accumulation Accumulation::sequential(Format format) {
  Accumulation result;
  result.format = format;
  result.step = numerics::info(format).unitRoundoff;
  return result;
}

Accumulation Accumulation::tensorCore(const numerics::TensorCoreModel &model) {
  Accumulation result;
  result.format = model.result;
  result.group = model.groupSize;
  double alignment =
      (static_cast<double>(model.groupSize) + 1) * std::ldexp(1.0, -model.alignmentBits);
  double cut = 0;
  switch (model.stepResult) {
  case numerics::StepResult::F32: cut = 0x1p-23; break;
  case numerics::StepResult::E8M13: cut = 0x1p-13; break;
  case numerics::StepResult::F16:
    cut = 0x1p-11; // to nearest
    break;
  }
  result.step = alignment + cut;
  result.alignment = alignment;
  result.smallestNormal =
      std::max(numerics::info(model.operandA).minNormal, numerics::info(model.operandB).minNormal);
  result.biased = true;
  // Terms are aligned to 2^-F, the sum is cut to fewer digits: half of those in between, over
  // significands uniform on a logarithmic scale.
  if (model.stepResult != numerics::StepResult::F16)
    result.drift = 0.72 / 2 * std::max(0.0, cut - std::ldexp(1.0, -model.alignmentBits));
  if (model.emulatedThroughF16)
    result = result.promotedEvery(32);
  else if (model.promoteEvery)
    result = result.promotedEvery(model.promoteEvery);
  return result;
}

Accumulation Accumulation::promotedEvery(int64_t products) const {
  Accumulation result = *this;
  result.promoteEvery = products;
  result.promotion = products ? numerics::info(Format::F32).unitRoundoff : 0;
  if (products)
    result.format = Format::F32;
  return result;
}

static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Error of `steps` chained steps of relative error `step`.
static double chained(int64_t steps, double step, Order order) {
  double first = static_cast<double>(steps) * step;
  if (order == Order::FirstOrder)
    return first;
  return slackUp(std::expm1(static_cast<double>(steps) * std::log1p(step)), 16);
}

double Accumulation::relativeError(int64_t k, Order order) const {
  if (k <= 0)
    return 0;
  int64_t chunk = promoteEvery && promoteEvery < k ? promoteEvery : k;
  double inner = chained(ceilDivide(chunk, group), step, order);
  if (!promoteEvery)
    return inner;
  double outer = chained(ceilDivide(k, chunk), promotion, order);
  if (order == Order::FirstOrder)
    return inner + outer;
  // Chunk sums are off by `inner`; adding them up is off by `outer` of what they are.
  return addUp(addUp(inner, outer), mulUp(inner, outer));
}

double Accumulation::constant() const {
  return step / static_cast<double>(group) / numerics::info(Format::F32).unitRoundoff;
}

double Accumulation::subnormalError(int64_t k, double largest) const {
  double steps = static_cast<double>(ceilDivide(k, group));
  const numerics::FormatInfo &facts = numerics::info(format);
  // The running sum may be subnormal as well, and each step's result may underflow.
  double scale = addUp(mulUp(smallestNormal, largest), facts.minNormal);
  return mulUp(steps, addUp(mulUp(alignment, scale), 2 * facts.underflowUnit));
}

} // namespace mpcore::domains
