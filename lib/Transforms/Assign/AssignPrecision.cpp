// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-assign-precision: reads what the options ask for, and has it decided module by module.

#include "ModuleDecider.h"
#include "mlir/IR/BuiltinOps.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Support/Words.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Assign/Passes.h"
#include <cmath>

namespace mlir::mp {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "mp/Transforms/Assign/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// A rule whose op is spelt out must name one that exists: in the tables of the input dialects, or
/// registered.
static LogicalResult checkOpNames(const policy::Policy &policy, MLIRContext *context) {
  std::vector<StringRef> known;
  for (StringRef dialect : getTabledDialects())
    for (const ClassEntry &entry : getClassTable(dialect))
      known.push_back(entry.op);
  for (const policy::Rule &rule : policy.rules) {
    StringRef op = rule.select.op;
    if (op.empty() || op.find_first_of("*?[{\\") != StringRef::npos ||
        llvm::is_contained(known, op) || RegisteredOperationName::lookup(op, context))
      continue;
    return emitError(UnknownLoc::get(context))
           << "mp-assign-precision: rule '" << rule.name << "' of policy '" << policy.name
           << "' selects op '" << op << "', which is not known" << support::didYouMean(op, known);
  }
  return success();
}

namespace {
struct AssignPrecision : mlir::mp::impl::AssignPrecisionBase<AssignPrecision> {
  using AssignPrecisionBase::AssignPrecisionBase;
  AssignPrecision(const AssignPrecisionOptions &options, SharedRequest asked,
                  PlacementListener listener, ExplanationListener explained)
      : AssignPrecisionBase(options), asked(std::move(asked)), listener(std::move(listener)),
        explained(std::move(explained)) {}

  /// Reads what the placement is to optimise; an error names option, value and valid values.
  llvm::Expected<PlacementOptions> readPlacementOptions() {
    PlacementOptions options;
    auto bad = [](StringRef option, const Twine &value, const Twine &expected) {
      return llvm::createStringError("option '" + option + "' is '" + value + "', expected " +
                                     expected);
    };
    options.objective = objective;
    if (!(maxUnderflow >= 0 && maxUnderflow <= 1))
      return bad("max-underflow", Twine(std::to_string(maxUnderflow)), "a fraction from 0 to 1");
    if (!(maxRelError >= 0) || std::isinf(maxRelError))
      return bad("max-rel-error", Twine(std::to_string(maxRelError)), "a positive number");
    if (!(minSqnr >= 0) || std::isinf(minSqnr))
      return bad("min-sqnr", Twine(std::to_string(minSqnr)), "a positive number of decibels");
    if (maxRelError > 0 && minSqnr > 0)
      return llvm::createStringError(
          "options 'max-rel-error' and 'min-sqnr' say the same; give one");
    if (!(maxTime >= 0) || std::isinf(maxTime))
      return bad("max-time", Twine(std::to_string(maxTime)), "a positive number of microseconds");
    options.maxRelError = minSqnr > 0 ? std::pow(10, -minSqnr / 20) : maxRelError;
    options.maxTime = int64_t(std::min(maxTime * 1e6, 1e15));
    if ((objective == Objective::Error) != (maxTime > 0))
      return llvm::createStringError(
          "option 'max-time' limits modelled time for objective=error, and is needed there");
    if (options.maxTime > 0 && options.maxRelError > 0)
      return llvm::createStringError(
          "options 'max-time' and 'max-rel-error' exclude each other: one is "
          "limited, the other least");
    options.allowsSplit = multiWord == Switch::On;
    options.scaleUnproven = scaleUnproven;
    options.neverSlower = neverSlower;
    if (llvm::Error error = readRecipe(options))
      return std::move(error);
    options.summarizes = bool(listener);
    options.assumedDim = assumeDim;
    if (assumeDim < 1)
      return bad("assume-dim", Twine(assumeDim), "a size of at least 1");
    options.dumpProblem = dumpProblem;
    options.problemFile = &problemFile;
    options.namesDumps = llvm::count_if(getOperation().getOps<FunctionOpInterface>(),
                                        [](auto function) { return !function.isExternal(); }) > 1;
    return options;
  }

  llvm::Error readRecipe(PlacementOptions &options) const {
    if (recipe.empty())
      return llvm::Error::success();
    options.recipe = numerics::findRecipe(recipe);
    if (!options.recipe || !options.recipe->isSelfContained()) {
      SmallVector<StringRef> names;
      for (const auto &known : numerics::scalingRecipes())
        if (known.isSelfContained())
          names.push_back(known.name);
      return llvm::createStringError("option 'recipe' is '" + recipe +
                                     "', expected one that stores both factors as floats and keeps "
                                     "no state, where contractions choose: " +
                                     llvm::join(names, ", ") + support::didYouMean(recipe, names));
    }
    if (!options.freesContractions())
      return llvm::createStringError(
          "option 'recipe' offers scaled values to contractions that choose: expected "
          "max-rel-error, "
          "min-sqnr, max-time or never-slower; without, mp-insert-scaling scales all of them");
    return llvm::Error::success();
  }

  llvm::Error readCosts(mpcore::performance::CostModel &costs) {
    if (costsFile.empty())
      return llvm::Error::success();
    auto text = support::readFile(costsFile, "costs=" + costsFile);
    if (!text)
      return text.takeError();
    return llvm::handleErrors(
        costs.readMeasured((*text)->getBuffer()), [&](const llvm::ErrorInfoBase &error) {
          return llvm::createStringError("'" + costsFile + "': " + error.message());
        });
  }

  /// Reads measured errors; those of another function than the one here are refused.
  llvm::Error readSensitivity(PlacementOptions &options) {
    if (sensitivityFile.empty())
      return llvm::Error::success();
    auto refuse = [&](const Twine &what) {
      return llvm::createStringError("option 'sensitivity': '" + sensitivityFile + "': " + what);
    };
    if (!options.modelsError())
      return refuse("errors are asked for where they are limited: expected max-rel-error, min-sqnr "
                    "or max-time");
    auto text = support::readFile(sensitivityFile, "sensitivity=" + sensitivityFile);
    if (!text)
      return text.takeError();
    auto parsed = assignment::MeasuredErrors::parse((*text)->getBuffer());
    if (!parsed)
      return refuse(llvm::toString(parsed.takeError()));
    measuredErrors = std::move(*parsed);
    bool isOfAny = measuredErrors.functions.empty();
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      const auto *measured = measuredErrors.find(function.getName());
      if (!measured)
        continue;
      isOfAny = true;
      std::string hash = hashFunction(function);
      if (measured->hash != hash)
        return refuse("was measured in another function '" + function.getName() +
                      "': its hash is " + measured->hash + ", this one's " + hash);
    }
    if (!isOfAny)
      return refuse("has no function of this module; run mp-run --sensitivity on it");
    options.measured = &measuredErrors;
    return llvm::Error::success();
  }

  /// Opens what is written, before any pass runs.
  LogicalResult initialize(MLIRContext *context) override {
    for (auto [output, path, option] :
         {std::tuple(&problemFile, StringRef(dumpProblem), "dump-problem="),
          std::tuple(&costsOutput, StringRef(dumpCosts), "dump-costs=")})
      if (llvm::Error error = output->open(path, (option + path).str()))
        return emitError(UnknownLoc::get(context)) << llvm::toString(std::move(error));
    return success();
  }

  /// Holds what deciding reads besides the request, checked before anything is decided.
  struct Inputs {
    std::optional<Replay> replay;
    PlacementOptions placement;
    std::optional<mpcore::performance::CostModel> costs;
  };

  /// Reads how to decide: a report to replay, what is widened, clamped, limited, and its costs.
  llvm::Error readInputs(const PrecisionRequest &request, Inputs &inputs) {
    if (request.effective.report) {
      llvm::Expected<Replay> read = Replay::read(*request.effective.report, policyFile);
      if (!read)
        return read.takeError();
      inputs.replay = std::move(*read);
    }
    llvm::Expected<PlacementOptions> placement = readPlacementOptions();
    if (!placement)
      return placement.takeError();
    inputs.placement = std::move(*placement);
    if (llvm::Error error = readSensitivity(inputs.placement))
      return error;
    if (llvm::Error error = readCosts(inputs.costs.emplace(request.costs)))
      return llvm::createStringError("option 'costs': " + llvm::toString(std::move(error)));
    return llvm::Error::success();
  }

  /// Warns where the target cannot multiply what the recipe stores.
  void checkRecipe(const PrecisionRequest &request, const Inputs &inputs) {
    if (!inputs.placement.recipe)
      return;
    std::string stored = getFormatName(
        floatTypeOf(&getContext(), inputs.placement.recipe->activation->code.floatFormat()));
    if (!inputs.costs->hasProducts(stored))
      emitWarning(UnknownLoc::get(&getContext()))
          << "recipe '" << recipe
          << "' is offered to no contraction: " << request.effective.policy.target
          << " has no products of " << stored;
  }

  /// Warns of rules that select nothing, and of measured times that nothing takes.
  void warnOfUnused(const policy::Policy &policy, const policy::Matcher &rules,
                    const mpcore::performance::CostModel &costs,
                    const std::map<std::string, int64_t> &asked) {
    for (const policy::Rule *rule : rules.unused())
      emitWarning(UnknownLoc::get(&getContext()))
          << "rule '" << rule->name << "' of policy '" << policy.name << "' selects no "
          << policy::toString(rule->select.place) << " here";
    for (const auto &entry : costs.getMeasured())
      if (!asked.count(entry.getKey().str()))
        emitWarning(UnknownLoc::get(&getContext()))
            << "nothing here takes the time of '" << entry.getKey() << "' in '" << costsFile << "'";
  }

  llvm::Error tellStory(const Explanation &explanation) {
    llvm::Expected<std::string> story = explanation.finish();
    if (!story)
      return story.takeError();
    if (explained)
      explained(*story);
    else
      llvm::errs() << *story;
    return llvm::Error::success();
  }

  void runOnOperation() override {
    if (failed(checkPrecisionModels(getOperation())))
      return signalPassFailure();
    if (!asked)
      asked = std::make_shared<RequestReader>(format, target, policyFile);
    if (scaledFormatOf(format))
      return fail("option 'format' is '" + format.spell() +
                  "', which needs scales: mp-mixed-precision takes it");
    auto request = asked->get(&getContext());
    if (!request)
      return fail(llvm::toString(request.takeError()));
    const policy::Policy &policy = request->effective.policy;
    if (llvm::Error error = target::checkFormat(request->target, policy.format))
      return fail("option 'target' is '" + policy.target +
                  "': " + llvm::toString(std::move(error)));
    if (failed(checkOpNames(policy, &getContext())))
      return signalPassFailure();
    Inputs inputs;
    if (llvm::Error error = readInputs(*request, inputs))
      return fail(llvm::toString(std::move(error)));
    checkRecipe(*request, inputs);

    policy::Matcher rules(policy);
    const mpcore::performance::CostModel &costs = *inputs.costs;
    std::map<std::string, int64_t> times = {{"launch", costs.launch()}};
    AssignSettings settings = settingsOf(*request, rules, costs);
    settings.maxUnderflow = maxUnderflow;
    settings.promotes = promote == Switch::On;
    settings.placement = inputs.placement;
    settings.split = request->split;
    settings.askedTimes = dumpCosts.empty() && costsFile.empty() ? nullptr : &times;
    settings.maxSaturated = SaturatedShareSet::read(saturateConstants).value_or(0);
    std::optional<Explanation> explanation;
    if (!explain.empty())
      explanation.emplace(explain);
    ModuleDecider decider(settings, inputs.replay ? &*inputs.replay : nullptr,
                          explanation ? &*explanation : nullptr, listener, format.has_value());
    WalkResult decided = walkOutsideFunctionBodies<ModuleOp>(
        getOperation(), [&](ModuleOp module) { return WalkResult(decider.decide(module)); });
    if (decided.wasInterrupted())
      return signalPassFailure();
    if (decider.hasDecided())
      warnOfUnused(policy, rules, costs, times);
    if (llvm::Error error =
            costsOutput.write([&](raw_ostream &os) { costs.writeTimes(times, os); }))
      return fail(llvm::toString(std::move(error)));
    if (explanation)
      if (llvm::Error error = tellStory(*explanation))
        return fail(llvm::toString(std::move(error)));
    if (!decider.hasCopied())
      markAllAnalysesPreserved(); // only attributes are new, and mp-verify-assigned looks at those
  }

private:
  void fail(const Twine &what) {
    emitError(UnknownLoc::get(&getContext()))
        << "mp-assign-precision: "
        << llvm::toString(support::error(support::ErrorCode::BadOption, what));
    signalPassFailure();
  }

  SharedRequest asked;
  PlacementListener listener;
  ExplanationListener explained;
  assignment::MeasuredErrors measuredErrors;
  support::LateOutput problemFile, costsOutput;
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createAssignPrecision(const AssignPrecisionOptions &options,
                                                      SharedRequest asked,
                                                      PlacementListener listener,
                                                      ExplanationListener explained) {
  return std::make_unique<AssignPrecision>(options, std::move(asked), std::move(listener),
                                           std::move(explained));
}
