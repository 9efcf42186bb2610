// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Powers of two for f16. A contraction that ranges keep in f32 may compute in f16 all the same if its factors are
// scaled: a variant, which the cost layer takes where it is worth its passes (docs/Scaling.md).

#include "../Scale/Contractions.h"
#include "Decisions.h"
#include "mp/Analysis/Moves.h"
#include "mp/Numerics/Scaling/NamedRules.h"

using namespace mlir;
using namespace mlir::mp;

/// A bound so many powers of two beyond the format is too loose to scale by: what is small would lose places.
static constexpr double kLoosest = 256;

/// The magnitude to make a power of two of, where it is known before the program runs, else 0: of a constant's elements,
/// or measured.
static double magnitudeOf(Value value, FunctionDecisions &decisions, const AssignSettings &settings) {
  if (findConstant(value))
    return 0;
  double unscaled = ::mp::numerics::findScaleRule(kScaledName)->rule.largest;
  bool mayAssume = settings.policy.evidence == ::mp::policy::EvidenceKind::Assumed;
  const EvidenceAnalysis &evidence = decisions.getEvidence();
  if (evidence.whyNot(value, settings.narrow, settings.maxUnderflow, mayAssume).empty() ||
      decisions.getProofs().whyNot(value, settings.narrow, settings.maxUnderflow, /*mayAssume=*/false).empty())
    return unscaled;
  double bound = evidence.lookup(value).range.mag();
  return bound <= unscaled * kLoosest ? bound : 0;
}

LogicalResult mlir::mp::offerScaling(FunctionDecisions &decisions, const AssignSettings &settings) {
  StringRef wanted = settings.placement.scaleUnproven;
  if (wanted == "off" || !settings.narrow.isF16())
    return success();
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin != Origin::Range || decision.words || decision.magnitudes ||
        !decisions.canContractIn(op, settings.narrow))
      continue;
    auto view = viewContraction(op);
    if (!view)
      continue;
    decision.magnitudes = {magnitudeOf(view->a->get(), decisions, settings), magnitudeOf(view->b->get(), decisions, settings)};
    if (wanted == "on") {
      decision.scaled = ::mp::numerics::findRecipe(kScaledName);
      decision.reason += ", so scaled";
    }
  }
  return success();
}
