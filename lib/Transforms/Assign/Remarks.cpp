// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remarks, from a module-level pass in program order: upstream's engine is not safe in threads.

#include "mp/Dialect/MP/Remarks.h"
#include "Explanation.h"

using namespace mlir;
using namespace mlir::mp;

std::string mlir::mp::suggestChange(const Decision &decision, FloatType narrow) {
  if (decision.opClass != OpClass::TensorCore || !decision.compute.isF32())
    return "";
  switch (*decision.origin) {
  case Origin::Pin: return "remove mp.pin";
  case Origin::Policy: return "change the policy (docs/reference/Policies.md)";
  case Origin::Range:
    return "state the range of what feeds it (mp.range), take a format of f32's range such as "
           "bf16, "
           "or pin it (mp.pin = " +
           getFormatName(narrow) + ")";
  case Origin::Class:
    return "pin it (mp.pin = " + getFormatName(narrow) + ") if its values bear that";
  case Origin::Cost:
    return "pin it (mp.pin = " + getFormatName(narrow) + ") if it should be narrow at that price";
  }
  llvm_unreachable("unknown origin");
}

void mlir::mp::emitRemarks(FunctionDecisions &decisions, const AssignSettings &settings) {
  FunctionOpInterface function = decisions.getFunction();
  if (!function->getContext()->getRemarkEngine())
    return;
  for (auto &[op, decision] : decisions.getOps()) {
    for (const Suggestion &suggestion : decision.suggestions)
      remark::analysis(op->getLoc(), remarks::kSuggestion.in(function))
          << remark::add("{0}", describeSuggestion(suggestion));
    auto rule = [&decision = decision] { return decision.describeReason(); };
    if (decisions.isNarrowContraction(op, decision) || decision.split || decision.scaled) {
      const remarks::Kind &kind = decision.split    ? remarks::kSplit
                                  : decision.scaled ? remarks::kScaled
                                                    : remarks::kNarrowed;
      if (auto passed = remark::passed(op->getLoc(), kind.in(function)))
        passed << remark::add("{0} computes in {1}", op->getName().getStringRef().str(),
                              decision.getComputeName())
               << remark::reason("{0}", rule());
      continue;
    }
    if (decision.opClass == OpClass::TensorCore) {
      remark::missed(op->getLoc(), remarks::kKeptWide.in(function))
          << remark::add("{0} stays in {1}", op->getName().getStringRef().str(),
                         getFormatName(decision.compute))
          << remark::reason("{0}", rule())
          << remark::suggest("{0}", suggestChange(decision, settings.narrow));
      continue;
    }
    for (OpResult result : op->getResults()) {
      FloatType own = getFloatFormat(result.getType());
      if (own && decisions.getStorage(result) != own)
        remark::analysis(op->getLoc(), remarks::kStoredNarrow.in(function))
            << remark::add("result {0} of {1} is stored in {2}", result.getResultNumber(),
                           op->getName().getStringRef().str(),
                           getFormatName(decisions.getStorage(result)))
            << remark::reason("{0}", rule());
    }
  }
}
