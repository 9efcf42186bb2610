// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides by ranges. Formats with f32's range need no evidence beyond their constants. For a
// smaller range every factor of a contraction needs some: a checked constant, a proved range, or
// the class assumption (Evidence.h). A contraction without keeps its formats, and the reason.

#include "Decisions.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"

using namespace mlir;
using namespace mlir::mp;

/// Says why the op must not read what `operand` is in the narrow format; empty if it may, or if
/// that is no factor of f32.
static std::string whyNotNarrow(OpOperand &operand,
                                llvm::function_ref<const EvidenceAnalysis &()> evidence,
                                const AssignSettings &settings,
                                llvm::function_ref<const FloatRanges &()> proofs) {
  FloatType narrow = settings.narrow;
  auto interface = cast<PrecisionOpInterface>(operand.getOwner());
  if (interface.getOperandRole(operand.getOperandNumber()) != OperandRole::Factor ||
      !getFloatFormat(operand.get().getType()).isF32())
    return "";
  bool needsEvidence = APFloat::semanticsMaxExponent(narrow.getFloatSemantics()) <
                       APFloat::semanticsMaxExponent(APFloat::IEEEsingle());
  bool mayAssume = settings.policy.evidence == policy::RequiredEvidence::Assumed;
  // Constants are checked for every format: also bf16 has a largest and a smallest value.
  Attribute constant = findConstant(operand.get());
  std::string why =
      constant ? whyNotRounded(constant, narrow, settings.maxUnderflow, settings.maxSaturated)
      : needsEvidence ? evidence().whyNot(operand.get(), narrow, settings.maxUnderflow, mayAssume)
                      : "";
  bool isProved =
      !why.empty() && !constant && needsEvidence && proofs &&
      proofs().whyNot(operand.get(), narrow, settings.maxUnderflow, /*mayAssume=*/false).empty();
  return isProved ? "" : why;
}

std::string mlir::mp::whyWide(Operation *op,
                              llvm::function_ref<const EvidenceAnalysis &()> evidence,
                              const AssignSettings &settings,
                              llvm::function_ref<const FloatRanges &()> proofs) {
  for (OpOperand &operand : op->getOpOperands())
    if (std::string why = whyNotNarrow(operand, evidence, settings, proofs); !why.empty())
      return why;
  return "";
}

SmallVector<OpOperand *> mlir::mp::findUnproven(Operation *op, FunctionDecisions &decisions,
                                                const AssignSettings &settings) {
  auto evidence = [&]() -> const EvidenceAnalysis & { return decisions.getEvidence(); };
  auto proofs = [&]() -> const FloatRanges & { return decisions.getProofs(); };
  SmallVector<OpOperand *> unproven;
  for (OpOperand &operand : op->getOpOperands()) {
    if (whyNotNarrow(operand, evidence, settings, proofs).empty())
      continue;
    if (findConstant(operand.get()))
      return {};
    unproven.push_back(&operand);
  }
  return unproven;
}

LogicalResult mlir::mp::applyRanges(FunctionDecisions &decisions, const AssignSettings &settings) {
  auto evidence = [&]() -> const EvidenceAnalysis & { return decisions.getEvidence(); };
  auto proofs = [&]() -> const FloatRanges & { return decisions.getProofs(); };
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin || decision.opClass != OpClass::TensorCore)
      continue;
    std::string why = whyWide(op, evidence, settings, proofs);
    if (!why.empty())
      decision.decide(decision.compute, Origin::Range, why);
  }
  return success();
}
