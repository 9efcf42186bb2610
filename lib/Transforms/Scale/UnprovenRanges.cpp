// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "UnprovenRanges.h"
#include "../Assign/Storage/StorageCosts.h"
#include "Contractions.h"
#include "mp/Analysis/Moves.h"

using namespace mlir;
using namespace mlir::mp;

/// A bound so many powers of two beyond the format is too loose to scale by: what is small would lose places.
static constexpr double kLoosest = 256;

/// The magnitude to make a scale from, where it is known before the program runs; 0 for a constant, whose elements are.
static std::optional<double> magnitudeOf(Value value, const EvidenceAnalysis &evidence, const AssignSettings &settings,
                                         double unscaled) {
  if (findConstant(value))
    return 0;
  bool mayAssume = settings.policy.evidence == ::mp::policy::EvidenceKind::Assumed;
  if (evidence.whyNot(value, settings.narrow, settings.maxUnderflow, mayAssume).empty())
    return unscaled;
  double bound = evidence.lookup(value).range.mag();
  return bound <= unscaled * kLoosest ? std::optional(bound) : std::nullopt;
}

SmallVector<UnprovenContraction> mlir::mp::findUnproven(FunctionDecisions &decisions, const AssignSettings &settings,
                                                        double unscaled) {
  SmallVector<UnprovenContraction> found;
  std::optional<StorageCosts> costs;
  for (auto &[op, decision] : decisions.getOps()) {
    auto view = viewContraction(op);
    if (decision.origin != Origin::Range || !view || !decisions.canContractIn(op, settings.narrow))
      continue;
    if (!costs)
      costs.emplace(decisions, settings);
    FloatType f32 = Float32Type::get(op->getContext());
    UnprovenContraction contraction{op, decision.reason, {}, costs->ofContraction(op, f32, f32),
                                    costs->ofContraction(op, settings.narrow, settings.narrow)};
    for (OpOperand *operand : {view->a, view->b}) {
      Value value = operand->get();
      std::optional<double> magnitude = magnitudeOf(value, decisions.getEvidence(), settings, unscaled);
      if (magnitude && *magnitude == 0)
        continue;
      if (magnitude)
        contraction.magnitudes.push_back({operand, *magnitude});
      else // its largest magnitude is a pass of its own
        contraction.scaled += costs->ofBytes(value, f32) + costs->ofLaunch();
      contraction.scaled += costs->ofCast(value, f32, settings.narrow);
    }
    found.push_back(std::move(contraction));
  }
  return found;
}
