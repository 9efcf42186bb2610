// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies what the user pinned, on ops (SignatureLayer.cpp has arguments). A pin of an op's own
// format keeps the op, its operands and its results in it. A pin of a narrower one makes a
// contraction compute in it and other ops store their results in it, whatever the other layers
// think and whichever format the run is for. A pin that cannot be followed is a warning that says
// why.

#include "../../Common/SplitCode.h"
#include "../Decisions.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Target/Targets.h"

using namespace mlir;
using namespace mlir::mp;

/// Says why `op` cannot be in `format`, or returns an empty string.
static std::string whyNoPin(FunctionDecisions &decisions, Operation *op, const Decision &decision,
                            FloatType format, const target::TargetModel &target) {
  std::string name = getFormatName(format);
  if (!decision.compute.isF32())
    return "only f32 is narrowed";
  if (!getAssignableFormat(name, op->getContext()))
    return "only bf16, f16 and tf32 need no scale";
  if (decision.opClass == OpClass::TensorCore) {
    if (llvm::Error error = target::checkFormat(target, name))
      return llvm::toString(std::move(error));
    return decisions.canContractIn(op, format) ? "" : "its factors are not all f32 tensors";
  }
  if (format.isTF32())
    return "nothing is stored in tf32, and only contractions compute in it";
  if (decision.rule == TypeRule::Container)
    return "control flow carries its values as they are";
  return llvm::any_of(op->getResults(), [&](Value v) { return decisions.mayStoreNarrow(v); })
             ? ""
             : "it has no result that is a tensor of f32";
}

/// `mp.split` is a pin, too. Where it cannot be followed it goes, with a warning.
static LogicalResult pinSplit(Operation *op, Decision &decision, const AssignSettings &settings) {
  auto scheme = *getSplitScheme(op);
  std::string name = numerics::toString(scheme).str(), why;
  FloatType part = getPartType(op->getContext(), scheme);
  if (llvm::Error error = target::checkFormat(settings.target, getFormatName(part)))
    why = llvm::toString(std::move(error));
  else if (op->hasAttr(kPinAttrName))
    why = "it is pinned to a format besides";
  if (why.empty() && viewSplit(op, scheme, &why)) {
    decision.split = scheme;
    decision.keepsStorage = true;
    decision.decide(decision.compute, Origin::Pin, (kSplitAttrName + " = " + name).str());
    return success();
  }
  op->emitWarning() << "is to be computed as " << name << ", but stays in " << decision.compute
                    << ": " << why;
  op->removeAttr(kSplitAttrName);
  return failure();
}

/// And `mp.scaled`.
static LogicalResult pinScaling(FunctionDecisions &decisions, Operation *op, Decision &decision) {
  bool isPinned = op->hasAttr(kPinAttrName) || decision.split;
  const auto *recipe = getScaling(op);
  if (!isPinned && decisions.canScale(op)) {
    if (recipe->name == kScaledName)
      decision.magnitudes = getMagnitudes(op).value_or(std::array<double, 2>{0, 0});
    decision.scaled = recipe;
    decision.keepsStorage = true;
    decision.decide(decision.compute, Origin::Pin, kScaledAttrName);
    return success();
  }
  op->emitWarning() << "is to be scaled as recipe '" << recipe->name << "' says, but stays in "
                    << decision.compute << ": "
                    << (isPinned ? "it is pinned to something else besides"
                                 : "it is no contraction of two f32 tensors");
  op->removeAttr(kScaledAttrName);
  return failure();
}

LogicalResult mlir::mp::applyPins(FunctionDecisions &decisions, const AssignSettings &settings) {
  for (auto &[op, decision] : decisions.getOps()) {
    if (op->getRawDictionaryAttrs().empty())
      continue;
    if (getSplitScheme(op) && succeeded(pinSplit(op, decision, settings)))
      continue;
    if (getScaling(op) && succeeded(pinScaling(decisions, op, decision)))
      continue;
    auto pin = op->getAttrOfType<TypeAttr>(kPinAttrName);
    if (!pin)
      continue;
    auto format = cast<FloatType>(pin.getValue());
    std::string reason = (kPinAttrName + " = " + getFormatName(format)).str();
    decision.keepsStorage = true;
    if (format != decision.compute) {
      std::string why = whyNoPin(decisions, op, decision, format, settings.target);
      if (!why.empty()) {
        op->emitWarning() << "is pinned to " << format << ", but stays in " << decision.compute
                          << ": " << why;
      } else if (decision.opClass == OpClass::TensorCore) {
        decision.decide(format, Origin::Pin, reason);
        decision.keepsStorage = false;
        continue;
      } else {
        decision.resultStorage = format;
        decision.keepsStorage = false;
      }
    }
    decision.decide(decision.compute, Origin::Pin, reason);
  }
  return success();
}
