// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-assign-precision: the layers of decision, in order, module by module.

#include "../Common/ConvertedFormat.h"
#include "Explanation.h"
#include "Replay.h"
#include "SpecializeFunctions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mp/Analysis/Cost/ExecutionFrequency.h"
#include "mp/Analysis/FunctionHash.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Support/Words.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Assign/Passes.h"
#include <cmath>
#include <deque>

namespace mlir::mp {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "mp/Transforms/Assign/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Promotion is what classes mean for a graph that is narrow already.
static LogicalResult applyClassRules(FunctionDecisions &decisions, const AssignSettings &settings) {
  return success(succeeded(applyClasses(decisions, settings)) &&
                 succeeded(applyPromotions(decisions, settings)));
}

namespace {
/// The layers that decide what computes how, strongest first.
constexpr struct {
  StringLiteral name;
  Layer apply;
} kLayers[] = {{"pin", applyPins},
               {"policy", applyPolicy},
               {"range", applyRanges},
               {"class", applyClassRules}};
} // namespace

LogicalResult mlir::mp::decideComputing(FunctionDecisions &decisions,
                                        const AssignSettings &settings,
                                        llvm::function_ref<void(StringRef)> decided) {
  for (const auto &[name, apply] : kLayers) {
    if (failed(apply(decisions, settings)))
      return failure();
    decided(name);
  }
  return suggestRewrites(decisions, settings);
}

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
  AssignPrecision(const AssignPrecisionOptions &options, PlacementListener listener,
                  ExplanationListener explained)
      : AssignPrecisionBase(options), listener(std::move(listener)),
        explained(std::move(explained)) {}

  /// Reads what the placement is to optimise; an error names option, value and valid values.
  llvm::Expected<PlacementOptions> readPlacementOptions() {
    PlacementOptions options;
    auto bad = [](StringRef option, const Twine &value, const Twine &expected) {
      return llvm::createStringError("option '" + option + "' is '" + value + "', expected " +
                                     expected);
    };
    auto aim = readWord<Objective>("objective", objective);
    if (!aim)
      return aim.takeError();
    options.objective = *aim;
    if (maxRelError < 0)
      return bad("max-rel-error", Twine(std::to_string(maxRelError)), "a positive number");
    if (minSqnr < 0)
      return bad("min-sqnr", Twine(std::to_string(minSqnr)), "a positive number of decibels");
    if (maxRelError > 0 && minSqnr > 0)
      return llvm::createStringError(
          "options 'max-rel-error' and 'min-sqnr' say the same; give one");
    if (maxTime < 0)
      return bad("max-time", Twine(std::to_string(maxTime)), "a positive number of microseconds");
    options.maxRelError = minSqnr > 0 ? std::pow(10, -minSqnr / 20) : maxRelError;
    options.maxTime = int64_t(std::min(maxTime * 1e6, 1e15));
    if ((*aim == Objective::Error) != (maxTime > 0))
      return llvm::createStringError(
          "option 'max-time' limits modelled time for objective=error, and is needed there");
    if (options.maxTime > 0 && options.maxRelError > 0)
      return llvm::createStringError(
          "options 'max-time' and 'max-rel-error' exclude each other: one is "
          "limited, the other least");
    auto splits = readWord<Switch>("multi-word", multiWord);
    if (!splits)
      return splits.takeError();
    options.allowsSplit = *splits == Switch::On;
    auto scales = readWord<ScaleUnproven>("scale-unproven", scaleUnproven);
    if (!scales)
      return scales.takeError();
    options.scaleUnproven = *scales;
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

  /// Nothing, any share short of all, or a share.
  static llvm::Expected<double> readSaturation(StringRef text) {
    double share = text == "on" ? 1 : 0;
    if (text == "on" || text == "off")
      return share;
    if (text.getAsDouble(share) || !(share >= 0 && share <= 1))
      return llvm::createStringError("option 'saturate-constants' is '" + text +
                                     "', expected off, on or a share of elements from 0 to 1");
    return share;
  }

  llvm::Error readCosts(target::CostModel &costs) {
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

  void runOnOperation() override {
    if (failed(checkPrecisionModels(getOperation())))
      return signalPassFailure();
    hasCopied = false;
    std::optional<numerics::SplitScheme> split = findSplitScheme(format);
    std::string of =
        split ? getFormatName(getPartType(&getContext(), *split)) : std::string(format);
    auto effective = policy::findPolicy({of, target, policyFile});
    if (!effective)
      return fail(llvm::toString(effective.takeError()));
    const policy::Policy &policy = effective->policy;
    FloatType narrow = getAssignableFormat(policy.format, &getContext());
    if (!narrow)
      return fail("option 'format' is '" + policy.format +
                  "', expected bf16, f16, tf32 or split products: bf16x3, bf16x6, bf16x9, tf32x3" +
                  support::didYouMean(policy.format, {"bf16", "f16", "tf32"}) +
                  " mp-mixed-precision takes e4m3 and e5m2, too");
    auto model = target::lookupTarget(policy.target);
    llvm::Error error = model ? target::checkFormat(*model, policy.format) : model.takeError();
    if (error)
      return fail("option 'target' is '" + policy.target +
                  "': " + llvm::toString(std::move(error)));
    if (failed(checkOpNames(policy, &getContext())))
      return signalPassFailure();

    std::optional<Replay> replay;
    if (effective->report) {
      llvm::Expected<Replay> read = Replay::read(*effective->report, policyFile);
      if (!read)
        return fail(llvm::toString(read.takeError()));
      replay = std::move(*read);
    }
    auto promotes = readWord<Switch>("promote", promote);
    if (!promotes)
      return fail(llvm::toString(promotes.takeError()));
    llvm::Expected<double> saturated = readSaturation(saturateConstants);
    if (!saturated)
      return fail(llvm::toString(saturated.takeError()));
    std::optional<Explanation> explanation;
    if (!explain.empty())
      explanation.emplace(explain);

    policy::Matcher rules(policy);
    llvm::Expected<PlacementOptions> placement = readPlacementOptions();
    if (!placement)
      return fail(llvm::toString(placement.takeError()));
    if (llvm::Error error = readSensitivity(*placement))
      return fail(llvm::toString(std::move(error)));
    auto costs = target::CostModel::create(*model);
    if (!costs)
      return fail(llvm::toString(costs.takeError()));
    if (llvm::Error error = readCosts(*costs))
      return fail("option 'costs': " + llvm::toString(std::move(error)));
    if (placement->recipe) {
      std::string stored = getFormatName(
          floatTypeOf(&getContext(), placement->recipe->activation->code.floatFormat()));
      if (!costs->contractionTime(stored, "", 1, 1))
        emitWarning(UnknownLoc::get(&getContext()))
            << "recipe '" << recipe << "' is offered to no contraction: " << policy.target
            << " has no products of " << stored;
    }
    std::map<std::string, int64_t> asked = {{"launch", costs->launch()}};
    bool wantsTimes = !dumpCosts.empty() || !costsFile.empty();
    AssignSettings settings{.policy = policy,
                            .target = *model,
                            .rules = rules,
                            .narrow = narrow,
                            .maxUnderflow = maxUnderflow,
                            .promotes = *promotes == Switch::On,
                            .costs = *costs,
                            .placement = *placement,
                            .split = split,
                            .askedTimes = wantsTimes ? &asked : nullptr,
                            .maxSaturated = *saturated};
    bool anyDecided = false;
    WalkResult decided = walkOutsideFunctionBodies<ModuleOp>(getOperation(), [&](ModuleOp module) {
      return WalkResult(decide(module, settings, replay, explanation, anyDecided));
    });
    if (decided.wasInterrupted())
      return signalPassFailure();
    for (const policy::Rule *rule : rules.unused())
      if (anyDecided)
        emitWarning(UnknownLoc::get(&getContext()))
            << "rule '" << rule->name << "' of policy '" << policy.name << "' selects no op here";
    for (const auto &entry : costs->getMeasured())
      if (anyDecided && !asked.count(entry.getKey().str()))
        emitWarning(UnknownLoc::get(&getContext()))
            << "nothing here takes the time of '" << entry.getKey() << "' in '" << costsFile << "'";
    if (llvm::Error error =
            costsOutput.write([&](raw_ostream &os) { costs->writeTimes(asked, os); }))
      return fail(llvm::toString(std::move(error)));
    if (explanation) {
      llvm::Expected<std::string> story = explanation->finish();
      if (!story)
        return fail(llvm::toString(story.takeError()));
      if (explained)
        explained(*story);
      else
        llvm::errs() << *story;
    }
    if (!hasCopied)
      markAllAnalysesPreserved(); // only attributes are new, and mp-verify-assigned looks at those
  }

private:
  /// Decides the functions of `module`, those of modules in it aside: first what computes how, then
  /// what control flow and private functions carry, then every storage.
  LogicalResult decide(ModuleOp module, const AssignSettings &settings,
                       const std::optional<Replay> &replay, std::optional<Explanation> &explanation,
                       bool &anyDecided) {
    size_t given = module.getBody()->getOperations().size();
    if (!replay)
      copyForCallers(module, settings);
    else if (failed(replay->makeCopies(module)))
      return failure();
    hasCopied |= module.getBody()->getOperations().size() != given;
    TiedStorage ties(module);
    CarriedStorage carried(ties);
    ModuleRanges ranges(module, {.narrow = settings.narrow});
    ExecutionFrequency frequency(module);
    std::deque<FunctionDecisions> functions;
    for (auto function : module.getOps<FunctionOpInterface>()) {
      if (function.isExternal())
        continue;
      if (auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName)) {
        if (!format.empty() && !settings.split && failed(checkConverted(function, settings.narrow)))
          return failure();
        function.emitRemark() << "is " << phase.getValue() << " already; its precision stays";
        continue;
      }
      functions.emplace_back(function, carried, ranges);
    }
    auto tell = [&](StringRef layer, FunctionDecisions &decisions) {
      if (explanation)
        explanation->after(layer, decisions);
    };
    SmallVector<FunctionDecisions *> all;
    for (FunctionDecisions &decisions : functions) {
      all.push_back(&decisions);
      if (explanation)
        explanation->begin(decisions);
      if (replay) {
        if (failed(replay->apply(decisions)))
          return failure();
        tell("replay", decisions);
        continue;
      }
      if (failed(decideComputing(decisions, settings,
                                 [&](StringRef layer) { tell(layer, decisions); })))
        return failure();
    }
    // Values carried narrow bind their readers: not so if those are free to stay in f32.
    if (!settings.placement.freesContractions())
      chooseCarried(all, carried);
    for (FunctionDecisions &decisions : functions) {
      if (!replay) {
        if (failed(decideSignature(decisions, settings)) ||
            failed(chooseStorage(decisions, settings)))
          return failure();
        tell("cost", decisions);
      }
      if (failed(checkConstantData(decisions)))
        return failure();
      if (explanation)
        explanation->end(decisions, settings);
      emitRemarks(decisions, settings);
      if (!listener || !decisions.placement)
        continue;
      decisions.placement->calls =
          int64_t(std::clamp(frequency.getCalls(decisions.getFunction()), 1.0, 1e6));
      for (auto [ordinal, entry] : llvm::enumerate(decisions.getOps()))
        for (const Suggestion &suggestion : entry.second.suggestions) {
          decisions.placement->suggestions.push_back(suggestion);
          decisions.placement->suggestions.back().ordinal = ordinal;
        }
      listener(*decisions.placement);
    }
    for (FunctionDecisions &decisions : functions) {
      writeDecisions(decisions);
      decisions.getFunction()->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "assigned"));
      anyDecided = true;
    }
    return success();
  }

  void fail(const Twine &what) {
    emitError(UnknownLoc::get(&getContext()))
        << "mp-assign-precision: " << what << support::tag(support::ErrorCode::BadOption);
    signalPassFailure();
  }

  PlacementListener listener;
  ExplanationListener explained;
  assignment::MeasuredErrors measuredErrors;
  support::LateOutput problemFile, costsOutput;
  bool hasCopied = false; ///< functions
};
} // namespace

std::unique_ptr<Pass> mlir::mp::createAssignPrecision(const AssignPrecisionOptions &options,
                                                      PlacementListener listener,
                                                      ExplanationListener explained) {
  return std::make_unique<AssignPrecision>(options, std::move(listener), std::move(explained));
}
