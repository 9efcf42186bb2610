// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ranges say. Formats with f32's range need no evidence beyond their
// constants. For a smaller range every factor of a contraction needs some: a
// checked constant, a proved range, or the class assumption (FloatRanges.h).
// A contraction without keeps its formats, and the reason.

#include "Decisions.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/ConstantRounding.h"

using namespace mlir;
using namespace mlir::mp;

std::string FunctionDecisions::whyNotNarrow(Value value, FloatType format,
                                            const AssignSettings &settings) {
  bool needsEvidence = APFloat::semanticsMaxExponent(format.getFloatSemantics()) <
                       APFloat::semanticsMaxExponent(APFloat::IEEEsingle());
  if (needsEvidence) {
    bool mayAssume = settings.policy.evidence == ::mp::policy::EvidenceKind::Assumed;
    return getEvidence().whyNot(value, format, settings.maxUnderflow, mayAssume);
  }
  // Constants are checked for every format: also bf16 has a largest and a smallest value.
  Attribute constant;
  return matchPattern(value, m_Constant(&constant))
             ? whyNotRounded(constant, format, settings.maxUnderflow)
             : "";
}

LogicalResult mlir::mp::applyRanges(FunctionDecisions &decisions, const AssignSettings &settings) {
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin || decision.opClass != OpClass::TensorCore)
      continue;
    auto interface = cast<PrecisionOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      if (interface.getOperandRole(operand.getOperandNumber()) != OperandRole::Factor ||
          !getFloatFormat(operand.get().getType()).isF32())
        continue;
      std::string why = decisions.whyNotNarrow(operand.get(), settings.narrow, settings);
      if (why.empty())
        continue;
      decision.decide(decision.compute, Origin::Range, why);
      break;
    }
  }
  return success();
}
