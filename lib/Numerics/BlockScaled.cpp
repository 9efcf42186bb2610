// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums block-scaled products group by group as the simulators do.

#include "mp/Numerics/BlockScaled.h"

#include "AlignedSum.h"

#include <vector>

using namespace mpcore::numerics;

std::optional<BlockScaledModel>
mpcore::numerics::blockScaledModel(llvm::StringRef kind, Format operandA, Format operandB) {
  auto isOperand = [](Format format) {
    switch (format) {
    case Format::F8E4M3FN:
    case Format::F8E5M2:
    case Format::F6E3M2FN:
    case Format::F6E2M3FN:
    case Format::F4E2M1FN: return true;
    default: return false;
    }
  };
  if (kind == "mxf8f6f4" && isOperand(operandA) && isOperand(operandB))
    return BlockScaledModel{operandA, operandB, Format::F8E8M0FNU, 32, 32, 25};
  if (operandA != Format::F4E2M1FN || operandB != Format::F4E2M1FN)
    return std::nullopt;
  if (kind == "mxf4")
    return BlockScaledModel{operandA, operandB, Format::F8E8M0FNU, 32, 64, 35};
  if (kind == "mxf4nvf4")
    return BlockScaledModel{operandA, operandB, Format::F8E4M3FN, 16, 64, 35};
  return std::nullopt;
}

namespace {

/// Products of one step that are summed exactly before they are aligned.
constexpr unsigned kExactGroup = 16;

struct Step {
  const BlockScaledModel &model;
  const float *a, *b; ///< of this step
  unsigned count;
  const float *scaleA, *scaleB; ///< of its first block

  /// The product of one block's scales, in few bits, so that more factors fit.
  Term scaleOf(unsigned position) const {
    int minExponent = info(model.scale).minExponent;
    unsigned block = position / model.blockSize;
    Term term = productOf(termOf(std::fabs(scaleA[block]), minExponent),
                          termOf(std::fabs(scaleB[block]), minExponent));
    int zeros = term.significand ? llvm::countr_zero(term.significand) : 0;
    term.significand >>= zeros;
    term.lastPlace += zeros;
    return term;
  }

  /// a[i] * b[i], scaled.
  Term product(unsigned i) const {
    Term term = productOf(termOf(a[i], info(model.operandA).minExponent),
                          termOf(b[i], info(model.operandB).minExponent));
    return productOf(term, scaleOf(i));
  }

  /// The sum of a group, scaled. Products of f4 are multiples of 1/4.
  Term group(unsigned first) const {
    int64_t quarters = 0;
    for (unsigned i = first; i < std::min(count, first + kExactGroup); ++i)
      quarters += int64_t(4 * a[i] * b[i]);
    Term scale = scaleOf(first);
    return {quarters < 0, uint64_t(std::abs(quarters)) * scale.significand, scale.lastPlace - 2,
            scale.exponent};
  }

  bool isNaN() const {
    bool nan = false;
    for (unsigned i = 0; i < count; ++i)
      nan |= std::isnan(scaleA[i / model.blockSize]) || std::isnan(scaleB[i / model.blockSize]);
    return nan;
  }

  float run(float c) const {
    std::vector<Term> terms = {termOf(c, info(Format::F32).minExponent)};
    for (unsigned i = 0; i < count; i += model.step == 64 ? kExactGroup : 1)
      terms.push_back(model.step == 64 ? group(i) : product(i));
    int largest = noExponent;
    for (const Term &term : terms)
      largest = std::max(largest, term.exponent);
    if (largest == noExponent)
      return 0;
    int unit = largest - model.alignmentBits;
    int64_t sum = 0;
    for (const Term &term : terms)
      if (term.significand)
        sum += align(term, unit);
    return pack(sum, unit, StepResult::F32);
  }
};

} // namespace

float mpcore::numerics::blockScaledDot(const BlockScaledModel &model, const float *a,
                                       const float *b, const float *scaleA, const float *scaleB,
                                       size_t k, float c) {
  for (size_t first = 0; first < k; first += model.step) {
    unsigned count = unsigned(std::min<size_t>(model.step, k - first));
    size_t block = first / model.blockSize;
    Step step{model, a + first, b + first, count, scaleA + block, scaleB + block};
    if (step.isNaN())
      return canonicalNaN(StepResult::F32);
    // Infinities and NaN of operands and c do not see the scales, which are finite and not
    // negative.
    if (std::optional<float> special = specialStep(step.a, step.b, count, c, StepResult::F32))
      c = *special;
    else
      c = step.run(c);
  }
  return c;
}
