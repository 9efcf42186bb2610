// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suggests what a contraction that ranges keep in f32 could be instead. If its factors are scaled
// by powers of two it may compute in f16 all the same: a variant, which the cost layer takes where
// it is worth its passes (docs/concepts/Scaling.md). Other rewrites, which are passes of their own,
// are named only.

#include "../Decisions.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Ranges/MaskConstants.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Numerics/Format.h"
#include "mp/Numerics/Scaling/NamedRules.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

/// A bound so many powers of two beyond the format is too loose to scale by: what is small would
/// lose places.
static constexpr double kLoosest = 256;

/// The magnitude to make a power of two of, where it is known before the program runs, else 0: of a
/// constant's elements, or measured.
static double magnitudeOf(Value value, FunctionDecisions &decisions,
                          const AssignSettings &settings) {
  if (findConstant(value))
    return 0;
  double unscaled = numerics::findScaleRule(kScaledName)->rule.largest;
  Evidence evidence = decisions.getRanges().findEvidence(value, settings.narrow);
  if (evidence <= settings.weakestEvidence())
    return unscaled;
  double bound = decisions.getRanges().lookup(value).assumption.range.mag();
  return bound <= unscaled * kLoosest ? bound : 0;
}

/// Returns the exponent of the power of two that scales `bound` to the rule's largest magnitude.
static int64_t exponentFor(double bound) {
  return std::ilogb(numerics::findScaleRule(kScaledName)->rule.largest / bound);
}

/// Suggests clamps and powers of two for a contraction that lacks evidence.
static SmallVector<Suggestion, 0> findSuggestions(Operation *op, FunctionDecisions &decisions,
                                                  const AssignSettings &settings) {
  double limit = numerics::info(numerics::Format::F16).maxFinite;
  SmallVector<Suggestion, 0> suggestions;
  auto add = [&](OpOperand &factor, StringRef rewrite, StringRef option, int64_t exponent = 0) {
    double found = decisions.getRanges().lookup(factor.get()).assumption.range.mag();
    suggestions.push_back({rewrite.str(), option.str(),
                           "operand " + std::to_string(factor.getOperandNumber()), found, limit,
                           "f16", exponent});
  };
  SmallVector<OpOperand *> unproven = findUnproven(op, decisions, settings);
  bool isMeant =
      llvm::any_of(unproven, [](OpOperand *factor) { return findMaskConstant(factor->get()); });
  for (OpOperand *factor : unproven) {
    if (!isMeant)
      add(*factor, "clamp", "clamp-unproven=true");
    if (!isMeant && viewContraction(op) && settings.placement.scaleUnproven == ScaleUnproven::Off) {
      double bound = magnitudeOf(factor->get(), decisions, settings);
      add(*factor, "powers of two", "scale-unproven=on", bound > 0 ? exponentFor(bound) : 0);
    }
  }
  return suggestions;
}

std::vector<NormOverflow> mlir::mp::findOverflowingNorms(FunctionDecisions &decisions,
                                                         FloatType narrow, bool computedNarrow) {
  auto magnitude = [&](Value value) {
    return decisions.getRanges().lookup(value).assumption.range.mag();
  };
  auto read = [&](OpOperand &operand) {
    return isFactor(operand) && decisions.canContractIn(operand.getOwner(), narrow) ? narrow
                                                                                    : FloatType();
  };
  return findNormOverflows(decisions.getFunction(), magnitude, read, computedNarrow);
}

/// And what powers of two would do for norms.
static void suggestPrescaling(FunctionDecisions &decisions, const AssignSettings &settings) {
  for (const NormOverflow &norm :
       findOverflowingNorms(decisions, settings.narrow, !settings.promotes))
    if (Decision *decision = decisions.find(norm.square); decision && norm.refusal.empty())
      decision->suggestions.push_back({"pre-scaled norm", "prescale-norms=true", "its squares",
                                       norm.found, norm.limit, getFormatName(norm.format),
                                       norm.exponent});
}

LogicalResult mlir::mp::suggestRewrites(FunctionDecisions &decisions,
                                        const AssignSettings &settings) {
  ScaleUnproven wanted = settings.placement.scaleUnproven;
  if (!settings.narrow.isF16())
    return success();
  suggestPrescaling(decisions, settings);
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin != Origin::Range || decision.split || decision.magnitudes ||
        !decisions.canContractIn(op, settings.narrow))
      continue;
    llvm::append_range(decision.suggestions, findSuggestions(op, decisions, settings));
    auto view = wanted == ScaleUnproven::Off ? std::nullopt : viewContraction(op);
    if (!view)
      continue;
    decision.magnitudes = {magnitudeOf(view->a->get(), decisions, settings),
                           magnitudeOf(view->b->get(), decisions, settings)};
    if (wanted == ScaleUnproven::On) {
      decision.scaled = numerics::findRecipe(kScaledName);
      decision.reason += ", so scaled";
    }
  }
  return success();
}
