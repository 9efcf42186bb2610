// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the layers over the functions of a module, and writes what they decided.

#include "ModuleDecider.h"
#include "../Common/ConvertedFormat.h"
#include "SpecializeFunctions.h"
#include "mp/Analysis/Cost/ExecutionFrequency.h"
#include <algorithm>

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

LogicalResult ModuleDecider::copyFunctions(ModuleOp module) {
  size_t given = module.getBody()->getOperations().size();
  if (!replay)
    copyForCallers(module, settings);
  else if (failed(replay->makeCopies(module)))
    return failure();
  copied |= module.getBody()->getOperations().size() != given;
  return success();
}

/// Lists the functions that are still to be decided.
LogicalResult ModuleDecider::collect(ModuleOp module, const CarriedStorage &carried,
                                     ModuleRanges &ranges,
                                     std::deque<FunctionDecisions> &functions) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isExternal())
      continue;
    auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName);
    if (!phase) {
      functions.emplace_back(function, carried, ranges);
      continue;
    }
    if (namesFormat && !settings.split && failed(checkConverted(function, settings.narrow)))
      return failure();
    function.emitRemark() << "is " << phase.getValue() << " already; its precision stays";
  }
  return success();
}

LogicalResult ModuleDecider::decideFunction(FunctionDecisions &decisions) {
  if (explanation)
    explanation->begin(decisions);
  if (!replay)
    return decideComputing(decisions, settings, [&](StringRef layer) { tell(layer, decisions); });
  if (failed(replay->apply(decisions)))
    return failure();
  tell("replay", decisions);
  return success();
}

LogicalResult ModuleDecider::decideStorage(FunctionDecisions &decisions) {
  if (!replay) {
    if (failed(decideSignature(decisions, settings)) || failed(chooseStorage(decisions, settings)))
      return failure();
    tell("cost", decisions);
  }
  return checkConstantData(decisions);
}

/// Tells the listener of the placement, with the suggestions for each op.
void ModuleDecider::announce(FunctionDecisions &decisions, double calls) {
  if (!listener || !decisions.placement)
    return;
  decisions.placement->calls = int64_t(std::clamp(calls, 1.0, 1e6));
  for (auto [ordinal, entry] : llvm::enumerate(decisions.getOps()))
    for (const Suggestion &suggestion : entry.second.suggestions) {
      decisions.placement->suggestions.push_back(suggestion);
      decisions.placement->suggestions.back().ordinal = ordinal;
    }
  listener(*decisions.placement);
}

LogicalResult ModuleDecider::decide(ModuleOp module) {
  if (failed(copyFunctions(module)))
    return failure();
  TiedStorage ties(module);
  CarriedStorage carried(ties);
  ModuleRanges ranges(module, {.narrow = settings.narrow});
  ExecutionFrequency frequency(module);
  std::deque<FunctionDecisions> functions;
  if (failed(collect(module, carried, ranges, functions)))
    return failure();
  SmallVector<FunctionDecisions *> all;
  for (FunctionDecisions &decisions : functions) {
    all.push_back(&decisions);
    if (failed(decideFunction(decisions)))
      return failure();
  }
  // Values carried narrow bind their readers: not so if those are free to stay in f32.
  if (!settings.placement.freesContractions())
    chooseCarried(all, carried);
  for (FunctionDecisions &decisions : functions)
    if (replay ? failed(replay->chooseResults(decisions, carried))
               : failed(chooseResults(decisions, settings, carried)))
      return failure();
  for (FunctionDecisions &decisions : functions) {
    if (failed(decideStorage(decisions)))
      return failure();
    if (explanation)
      explanation->end(decisions, settings);
    emitRemarks(decisions, settings);
    announce(decisions, frequency.getCalls(decisions.getFunction()));
  }
  for (FunctionDecisions &decisions : functions) {
    writeDecisions(decisions);
    decisions.getFunction()->setAttr(kPhaseAttrName,
                                     StringAttr::get(module.getContext(), "assigned"));
    decided = true;
  }
  return success();
}
