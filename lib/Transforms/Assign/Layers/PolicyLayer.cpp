// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies the policy: the first rule that selects an op, then the limits on contractions.

#include "../Decisions.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/Locations.h"
#include "mp/Analysis/ReductionLength.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::mp;

/// An attribute as a policy writes it: strings without quotes.
static std::string attributeText(Attribute attribute) {
  if (auto string = dyn_cast<StringAttr>(attribute))
    return string.str();
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

static const policy::Rule *findRule(Operation *op, const Decision &decision, StringRef function,
                                    policy::Matcher &rules) {
  auto attribute = [&](StringRef name) -> std::optional<std::string> {
    Attribute found = op->getAttr(name);
    return found ? std::optional(attributeText(found)) : std::nullopt;
  };
  return rules.find({op->getName().getStringRef(), function,
                     stringifyOpClass(decision.opClass).front(),
                     [&] { return describeLocation(op->getLoc()); },
                     [&] { return namesIn(op->getLoc()); }, attribute});
}

static void follow(const policy::Rule &rule, FunctionDecisions &decisions, Operation *op,
                   Decision &decision, FloatType narrow) {
  std::string reason = rule.reason.empty() ? rule.name : rule.name + ": " + rule.reason;
  switch (rule.wish) {
  case policy::Wish::Inherit: return;
  case policy::Wish::Wide:
    decision.keepsStorage = true;
    return decision.decide(decision.compute, Origin::Policy, reason);
  case policy::Wish::Narrow: break;
  }
  FloatType format =
      rule.format.empty() ? narrow : getAssignableFormat(rule.format, op->getContext());
  if (decision.opClass == OpClass::TensorCore) {
    // If it cannot, the class layer says why.
    if (decisions.canContractIn(op, format))
      decision.decide(format, Origin::Policy, reason);
    return;
  }
  if (format.isTF32() || decision.rule == TypeRule::Container ||
      llvm::none_of(op->getResults(), [&](Value v) { return decisions.mayStoreNarrow(v); }))
    return;
  decision.resultStorage = format;
  decision.decide(decision.compute, Origin::Policy, reason);
}

/// Says why a limit keeps a contraction wide, or returns an empty string.
static std::string whyLimited(FunctionDecisions &decisions, Operation *op,
                              const policy::RewriteLimits &limits, FloatType narrow) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (limits.longestReduction) {
    std::optional<int64_t> length = getReductionLength(op);
    if (!length || *length > *limits.longestReduction) {
      os << "sums ";
      length ? os << *length : os << "an unknown number of";
      os << " products, the policy's limit is " << *limits.longestReduction;
      return text;
    }
  }
  if (!limits.largestConstant && !limits.largestActivation)
    return text;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults())) {
    if (!getFloatFormat(value.getType()))
      continue;
    Attribute constant;
    bool isConstant = matchPattern(value, m_Constant(&constant));
    std::optional<double> limit = isConstant ? limits.largestConstant : limits.largestActivation;
    if (!limit)
      continue;
    double reached = 0;
    if (isConstant) {
      auto rounding = inspectRounding(constant, narrow);
      reached = rounding ? rounding->largest : 0;
    } else {
      // Only what is proved: without a bound the range layer asks for evidence, where it needs any.
      const domains::Interval &range = decisions.getRanges().lookup(value).facts.range;
      reached = range.isBounded() ? range.mag() : 0;
    }
    if (reached > *limit) {
      os << (isConstant ? "a constant reaches " : "a value may reach ")
         << llvm::format("%.4g", reached) << ", the policy's limit is "
         << llvm::format("%.6g", *limit);
      return text;
    }
  }
  return text;
}

LogicalResult mlir::mp::applyPolicy(FunctionDecisions &decisions, const AssignSettings &settings) {
  StringRef function = decisions.getFunction().getName();
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin)
      continue;
    if (const policy::Rule *rule = findRule(op, decision, function, settings.rules))
      follow(*rule, decisions, op, decision, settings.narrow);
    if (decision.origin || decision.opClass != OpClass::TensorCore)
      continue;
    std::string why = whyLimited(decisions, op, settings.policy.limits, settings.narrow);
    if (!why.empty())
      decision.decide(decision.compute, Origin::Policy, why);
  }
  return success();
}
