// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-assign-precision: the layers of decision, in order, function by function.

#include "Explanation.h"
#include "Replay.h"
#include "mlir/IR/BuiltinOps.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Assign/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "mp/Transforms/Assign/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
namespace policy = ::mp::policy;

namespace {
/// The layers, strongest first.
constexpr struct {
  StringLiteral name;
  Layer apply;
} kLayers[] = {{"pin", applyPins},
               {"policy", applyPolicy},
               {"range", applyRanges},
               {"class", applyClasses},
               {"cost", chooseStorage}};
} // namespace

/// A rule whose op is spelt out must name one that exists: in the tables of the input dialects, or
/// registered.
static LogicalResult checkOpNames(const policy::Policy &policy, MLIRContext *context) {
  std::vector<StringRef> known;
  for (StringRef dialect : getTabledDialects())
    for (const ClassEntry &entry : getClassTable(dialect))
      known.push_back(entry.op);
  for (const policy::Rule &rule : policy.rules) {
    StringRef op = rule.select.op;
    if (op.empty() || op.find_first_of("*?[{\\") != StringRef::npos || llvm::is_contained(known, op) ||
        RegisteredOperationName::lookup(op, context))
      continue;
    return emitError(UnknownLoc::get(context))
           << "mp-assign-precision: rule '" << rule.name << "' of policy '" << policy.name
           << "' selects op '" << op << "', which is not known; did you mean '"
           << policy::nearestWord(op, known) << "'?";
  }
  return success();
}

namespace {
struct AssignPrecision : mlir::mp::impl::AssignPrecisionBase<AssignPrecision> {
  using AssignPrecisionBase::AssignPrecisionBase;

  void runOnOperation() override {
    auto effective = policy::findPolicy({format, target, policyFile});
    if (!effective)
      return fail(llvm::toString(effective.takeError()));
    const policy::Policy &policy = effective->policy;
    FloatType narrow = getAssignableFormat(policy.format, &getContext());
    if (!narrow)
      return fail("option 'format' is '" + policy.format + "', expected bf16, f16 or tf32");
    auto model = ::mp::target::lookupTarget(policy.target);
    llvm::Error error =
        model ? ::mp::target::checkFormat(*model, policy.format) : model.takeError();
    if (error)
      return fail("option 'target' is '" + policy.target + "': " +
                  llvm::toString(std::move(error)));
    if (failed(checkOpNames(policy, &getContext())))
      return signalPassFailure();

    std::optional<Replay> replay;
    if (effective->report) {
      llvm::Expected<Replay> read = Replay::read(*effective->report, policyFile);
      if (!read)
        return fail(llvm::toString(read.takeError()));
      replay = std::move(*read);
    }
    std::optional<Explanation> explanation;
    if (!explain.empty())
      explanation.emplace(explain);

    policy::Matcher rules(policy);
    AssignSettings settings{policy, *model, rules, narrow, maxUnderflow};
    bool anyDecided = false;
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      if (function.isExternal())
        continue;
      if (auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName)) {
        function.emitRemark() << "is " << phase.getValue() << " already; its precision stays";
        continue;
      }
      FunctionDecisions decisions(function);
      if (failed(decide(decisions, settings, replay, explanation)))
        return signalPassFailure();
      emitRemarks(decisions, settings);
      writeDecisions(decisions);
      function->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "assigned"));
      anyDecided = true;
    }
    for (const policy::Rule *rule : rules.unused())
      if (anyDecided)
        emitWarning(UnknownLoc::get(&getContext()))
            << "rule '" << rule->name << "' of policy '" << policy.name << "' selects no op here";
    if (explanation) {
      llvm::Expected<std::string> story = explanation->finish();
      if (!story)
        return fail(llvm::toString(story.takeError()));
      llvm::errs() << *story;
    }
  }

private:
  LogicalResult decide(FunctionDecisions &decisions, const AssignSettings &settings,
                       const std::optional<Replay> &replay,
                       std::optional<Explanation> &explanation) {
    if (explanation)
      explanation->begin(decisions);
    auto tell = [&](StringRef layer) {
      if (explanation)
        explanation->after(layer, decisions);
    };
    if (replay) {
      if (failed(replay->apply(decisions)))
        return failure();
      tell("replay");
    } else {
      for (const auto &[name, apply] : kLayers) {
        if (failed(apply(decisions, settings)))
          return failure();
        tell(name);
      }
    }
    if (failed(decideSignature(decisions, settings)))
      return failure();
    if (explanation)
      explanation->end(decisions, settings);
    return success();
  }

  void fail(const Twine &what) {
    emitError(UnknownLoc::get(&getContext())) << "mp-assign-precision: " << what;
    signalPassFailure();
  }
};
} // namespace
