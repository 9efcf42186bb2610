// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ranges say. Formats with f32's range need no evidence beyond their
// constants. For a smaller range every factor of a contraction needs some: a
// checked constant, a proved range, or the class assumption (FloatRanges.h).
// A contraction without keeps its formats, and the reason.

#include "Decisions.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/Moves.h"

using namespace mlir;
using namespace mlir::mp;

/// Constants are checked for every format: also bf16 has a largest and a smallest value.
static std::string whyConstantNot(Value value, FloatType format, double maxUnderflow) {
  if (Attribute constant = findConstant(value))
    return whyNotRounded(constant, format, maxUnderflow);
  return "";
}

LogicalResult mlir::mp::applyRanges(FunctionDecisions &decisions, const AssignSettings &settings) {
  FloatType narrow = settings.narrow;
  bool needsEvidence = APFloat::semanticsMaxExponent(narrow.getFloatSemantics()) <
                       APFloat::semanticsMaxExponent(APFloat::IEEEsingle());
  bool mayAssume = settings.policy.evidence == ::mp::policy::EvidenceKind::Assumed;
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin || decision.opClass != OpClass::TensorCore)
      continue;
    auto interface = cast<PrecisionOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (interface.getOperandRole(operand.getOperandNumber()) != OperandRole::Factor ||
          !getFloatFormat(operand.get().getType()).isF32())
        continue;
      std::string why = needsEvidence
                            ? decisions.getEvidence().whyNot(operand.get(), narrow,
                                                             settings.maxUnderflow, mayAssume)
                            : whyConstantNot(operand.get(), narrow, settings.maxUnderflow);
      if (why.empty())
        continue;
      decision.decide(decision.compute, Origin::Range, why);
      break;
    }
  }
  return success();
}
