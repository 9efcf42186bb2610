// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges. Formats with f32's range need no evidence beyond their constants. For a smaller range
// every factor of a contraction needs some, and its bias and result where they have the factors'
// format, as TOSA's convolutions: a checked constant, a proved, stated or measured range,
// an overflow check behind it, or the class assumption (Analysis/Ranges). A contraction without
// keeps its formats, and the reason; one with remembers the weakest evidence among its factors.
// A finite constant that is infinite in the format is evidence against it, whatever the format, and
// so are known weights that make a factor vanish in it.

#include "../Decisions.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Locations.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

static bool hasSmallerRange(FloatType format) {
  return APFloat::semanticsMaxExponent(format.getFloatSemantics()) <
         APFloat::semanticsMaxExponent(APFloat::IEEEsingle());
}

static std::string explainOverflow(OpOperand &operand, Operation *constant, FloatType narrow) {
  return "operand " + std::to_string(operand.getOperandNumber()) + " may be the finite constant " +
         describeLocation(constant->getLoc()) + ", which is infinite in " + getFormatName(narrow) +
         ", and zero times that NaN";
}

/// Returns whether an op in `narrow` has what is added to its products, and its result, in that
/// format, too.
static bool roundsAll(const Decision &decision, FloatType narrow) {
  return decision.rule == TypeRule::Uniform && !narrow.isTF32();
}

/// Returns what lets `value` be stored in a narrow format of smaller range.
static FactorEvidence findEvidence(Value value, StringRef what,
                                   llvm::function_ref<const FunctionRanges &()> ranges,
                                   const AssignSettings &settings) {
  Evidence evidence = ranges().findEvidence(value, settings.narrow);
  bool counts = evidence <= settings.weakestEvidence();
  return {evidence, counts ? "" : ranges().explainMissing(value, settings.narrow, what)};
}

/// Returns what lets `operand` be read in the narrow format; nothing is missing where it is not
/// rounded.
static FactorEvidence findEvidence(OpOperand &operand, const Decision &decision,
                                   llvm::function_ref<const FunctionRanges &()> ranges,
                                   FunctionDecisions &decisions, const AssignSettings &settings) {
  FloatType narrow = settings.narrow, own = getFloatFormat(operand.get().getType());
  PrecisionOpInterface interface = decision.interface;
  bool isFactor = interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Factor;
  if (!own || !own.isF32() || (!isFactor && !roundsAll(decision, narrow)))
    return {};
  // Constants are checked for every format: bf16 has a largest and a smallest value, too. What is
  // added to products may lose what is small beside them.
  if (Attribute constant = findConstant(operand.get())) {
    auto rounding = isFactor ? std::nullopt : inspectRounding(constant, narrow);
    bool fits = rounding && rounding->overflowed == 0;
    return {Evidence::Proved, fits ? ""
                                   : whyNotRounded(constant, narrow, settings.maxUnderflow,
                                                   isFactor ? settings.maxSaturated : 0)};
  }
  if (!hasSmallerRange(narrow)) {
    Operation *constant = decisions.getOverflowing(narrow).find(operand.get());
    return {Evidence::Proved, constant ? explainOverflow(operand, constant, narrow) : ""};
  }
  return findEvidence(operand.get(), "an operand", ranges, settings);
}

FactorEvidence mlir::mp::findEvidence(Operation *op,
                                      llvm::function_ref<const FunctionRanges &()> ranges,
                                      FunctionDecisions &decisions,
                                      const AssignSettings &settings) {
  const Decision &decision = *decisions.find(op);
  FactorEvidence weakest;
  auto takes = [&](FactorEvidence found) {
    weakest.evidence = std::max(weakest.evidence, found.evidence);
    weakest.missing = std::move(found.missing);
    return weakest.missing.empty();
  };
  for (OpOperand &operand : op->getOpOperands())
    if (!takes(::findEvidence(operand, decision, ranges, decisions, settings)))
      return weakest;
  if (hasSmallerRange(settings.narrow) && roundsAll(decision, settings.narrow))
    for (Value result : op->getResults())
      if (!takes(::findEvidence(result, "its result", ranges, settings)))
        return weakest;
  return weakest;
}

SmallVector<OpOperand *> mlir::mp::findUnproven(Operation *op, FunctionDecisions &decisions,
                                                const AssignSettings &settings) {
  auto ranges = [&]() -> const FunctionRanges & { return decisions.getRanges(); };
  const Decision &decision = *decisions.find(op);
  SmallVector<OpOperand *> unproven;
  for (OpOperand &operand : op->getOpOperands()) {
    if (::findEvidence(operand, decision, ranges, decisions, settings).missing.empty())
      continue;
    if (findConstant(operand.get()))
      return {};
    unproven.push_back(&operand);
  }
  return unproven;
}

/// Returns why `op` must stay wide where proofs are asked for: its rounded result may be infinite
/// behind.
static std::string explainPole(Operation *op, FunctionDecisions &decisions) {
  Pole pole = decisions.getPoles().findBehind(op);
  if (!pole)
    return "";
  std::string name =
      "'" + pole.op->getName().getStringRef().str() + "' " + describeLocation(pole.op->getLoc());
  switch (pole.kind) {
  case Pole::Kind::Function:
    return "its rounded result may reach the pole of " + name + ", which no range keeps away";
  case Pole::Kind::Limit:
    return "its rounded result may exceed the format of " + name + ", and no range keeps it within";
  case Pole::Kind::Choice:
    return "its rounded result may change what " + name +
           " chooses, and no range bounds these numbers (mp.range states one)";
  case Pole::Kind::Jump:
    return "its rounded result may make a factor of " + name +
           " jump, and no range bounds the product (mp.range states one)";
  }
  llvm_unreachable("kinds are listed");
}

/// Returns the size below which elements lose three bits more by underflow than those of normal
/// size by rounding: f16 loses what bf16 keeps.
static double getVanishingSize(const AssignSettings &settings) {
  constexpr double threeBits = 64;
  const double limit = threeBits * getContractionNoise(settings.narrow, 1, settings.policy.target);
  // Noise of underflow is inverse to the square of sizes.
  return std::sqrt(getUnderflowNoise(1, settings.narrow) / limit);
}

/// Returns why `op` must stay wide where known weights make what it rounds vanish.
static std::string explainUnderflow(Operation *op, FunctionDecisions &decisions,
                                    const AssignSettings &settings) {
  const double least = getVanishingSize(settings);
  auto vanishes = [&](Value value) {
    std::optional<double> size = decisions.getErrorModel().getKnownSize(value);
    return size && *size > 0 && *size < least;
  };
  auto explain = [&](const Twine &what) {
    return llvm::formatv("{0} is modelled to be below {1:e1}, where {2} would lose three bits more "
                         "to underflow than to rounding: scale it, or take bf16",
                         what.str(), least, getFormatName(settings.narrow))
        .str();
  };
  const Decision &decision = *decisions.find(op);
  for (OpOperand *factor : getFactors(op))
    if (vanishes(factor->get()))
      return explain("operand " + Twine(factor->getOperandNumber()));
  if (roundsAll(decision, settings.narrow) && llvm::any_of(op->getResults(), vanishes))
    return explain("its result");
  return "";
}

/// True if a contraction multiplies with a constant: without, sizes are assumptions.
static bool hasKnownWeights(FunctionDecisions &decisions) {
  return llvm::any_of(decisions.getOps(), [](auto &entry) {
    return entry.second.opClass == OpClass::TensorCore &&
           llvm::any_of(entry.first->getOperands().take_front(2),
                        [](Value factor) { return bool(findConstant(factor)); });
  });
}

LogicalResult mlir::mp::applyRanges(FunctionDecisions &decisions, const AssignSettings &settings) {
  auto ranges = [&]() -> const FunctionRanges & { return decisions.getRanges(); };
  // Recipes scale what they store.
  const bool mayUnderflow =
      hasSmallerRange(settings.narrow) && !settings.placement.recipe && hasKnownWeights(decisions);
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin || decision.opClass != OpClass::TensorCore)
      continue;
    FactorEvidence found = findEvidence(op, ranges, decisions, settings);
    if (found.missing.empty() && settings.policy.evidence == policy::RequiredEvidence::Proved &&
        decisions.canContractIn(op, settings.narrow))
      found.missing = explainPole(op, decisions);
    if (found.missing.empty() && mayUnderflow && found.evidence != Evidence::Guarded &&
        decisions.canContractIn(op, settings.narrow))
      found.missing = explainUnderflow(op, decisions, settings);
    if (!found.missing.empty())
      decision.decide(decision.compute, Origin::Range, found.missing);
    else if (hasSmallerRange(settings.narrow))
      decision.evidence = found.evidence;
  }
  return success();
}
