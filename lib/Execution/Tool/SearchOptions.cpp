// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the options of the modes that run a program to learn something of it.

#include "OptionHandlers.h"

#include "mp/Numerics/SplitPrecision.h"
#include "mp/Support/Words.h"
#include "mp/Transforms/Options.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

/// The words that --formats takes: formats of contractions, and int8.
static SmallVector<StringRef> formatWords() {
  SmallVector<StringRef> words;
  for (const auto &word : wordsOf(ContractionFormat()))
    words.push_back(word.text);
  words.push_back("int8");
  return words;
}

/// Options of the modes that run a program to learn something of it.
Handlers mlir::mp::searchOptions(RunOptions &options) {
  return {
      {"break-on",
       [&options](StringRef value) -> llvm::Error {
         auto condition = BreakCondition::parse(value);
         if (!condition)
           return condition.takeError();
         options.breakOn = *condition;
         return llvm::Error::success();
       }},
      {"keep",
       [&options](StringRef value) -> llvm::Error {
         auto keep = KeepCriterion::parse(value);
         if (!keep)
           return keep.takeError();
         options.keep = std::move(*keep);
         return llvm::Error::success();
       }},
      {"budget",
       [&options](StringRef v) -> llvm::Error {
         return v.getAsDouble(options.budget.limit) || !(options.budget.limit > 0)
                    ? badOption("budget", v, "a positive relative error of the results")
                    : llvm::Error::success();
       }},
      {"held-back",
       [&options](StringRef v) -> llvm::Error {
         double &share = options.budget.heldBack;
         return v.getAsDouble(share) || !(share > 0 && share < 1)
                    ? badOption("held-back", v, "a share of the draws between 0 and 1")
                    : llvm::Error::success();
       }},
      {"sensitivity", textOption(options.sensitivity)},
      {"open-above",
       [&options](StringRef v) -> llvm::Error {
         return v.getAsDouble(options.openAbove) || !(options.openAbove >= 0)
                    ? badOption("open-above", v, "a relative error of the results of at least 0")
                    : llvm::Error::success();
       }},
      {"ab",
       [&options](StringRef value) -> llvm::Error {
         auto [a, b] = value.split(',');
         options.recipeA = a.str();
         options.recipeB = b.str();
         return a.empty() || b.empty() || b.contains(',')
                    ? badOption("ab", value, "two policies, as A.json,B.json or inference,training")
                    : llvm::Error::success();
       }},
      {"margin",
       [&options](StringRef v) -> llvm::Error {
         return v.getAsDouble(options.paired.margin) || !(options.paired.margin > 0)
                    ? badOption("margin", v, "a positive difference of losses that does not matter")
                    : llvm::Error::success();
       }},
      {"assign", textOption(options.assign)},
      {"policy-out", textOption(options.policyOut)},
      {"formats",
       [&options](StringRef value) -> llvm::Error {
         options.formats.clear();
         SmallVector<StringRef> names;
         value.split(names, ',', -1, /*KeepEmpty=*/false);
         const SmallVector<StringRef> known = formatWords();
         for (StringRef name : names) {
           if (!llvm::is_contained(known, name))
             return createStringError("--formats=" + value + ": unknown format '" + name + "'" +
                                      support::listWords(name, known, "formats"));
           if (llvm::is_contained(options.formats, name))
             return createStringError("--formats=" + value + ": expected each format once, found " +
                                      name + " twice");
           options.formats.push_back(name.str());
         }
         return names.empty() ? badOption("formats", value, "formats with commas, as bf16,f16,e4m3")
                              : llvm::Error::success();
       }},
      {"draws",
       [&options](StringRef v) { return parseInteger<int64_t>("draws", v, 1, options.draws); }},
      {"max-runs",
       [&options](StringRef v) { return parseInteger<size_t>("max-runs", v, 2, options.maxRuns); }},
  };
}

/// The modes that learn something of a program exclude each other, and comparisons.
llvm::Error mlir::mp::checkSearches(const RunOptions &options) {
  const std::pair<bool, StringRef> modes[] = {{options.breakOn.has_value(), "--break-on"},
                                              {options.bisects, "--bisect"},
                                              {options.budget.limit > 0, "--budget"},
                                              {!options.sensitivity.empty(), "--sensitivity"},
                                              {!options.recipeA.empty(), "--ab"}};
  StringRef mode;
  for (auto [isAsked, name] : modes) {
    if (!isAsked)
      continue;
    if (!mode.empty())
      return createStringError(mode + " and " + name + " exclude each other: give one");
    mode = name;
  }
  if (!mode.empty() && (options.device != "cpu" || !options.compare.empty() ||
                        !options.monitor.empty() || options.calibrates))
    return createStringError(mode + " runs on the CPU and goes without --compare, --monitor and "
                                    "--calibrate");
  const bool budgets = options.budget.limit > 0;
  const bool converts =
      options.bisects || budgets || !options.sensitivity.empty() || !options.recipeA.empty();
  if (converts && options.assign.empty())
    return createStringError(mode + " converts the program: expected --assign=OPTIONS, those of "
                                    "mp-mixed-precision or, with --steps, of mp-train-step");
  if (!converts && !options.assign.empty())
    return createStringError("--assign is of --bisect, --budget, --sensitivity and --ab");
  if (options.scoresWeights && options.sensitivity.empty())
    return createStringError("--weights is of --sensitivity");
  for (StringRef format : options.formats)
    if (options.scoresWeights && numerics::parseSplitScheme(format))
      return createStringError("--weights: " + format +
                               " rounds no weights, but splits them; "
                               "expected --formats without it");
  if (options.byLayer && options.sensitivity.empty())
    return createStringError("--layers is of --sensitivity");
  if (!options.recipeA.empty() && options.steps < 2)
    return createStringError("--ab compares trainings: expected --steps of at least 2");
  if (options.bisects && options.keep.text.empty())
    return createStringError("--bisect needs --keep=finite, error:X or script:COMMAND");
  if (!options.bisects && !options.keep.text.empty())
    return createStringError("--keep is of --bisect");
  if (!options.bisects && !budgets && !options.policyOut.empty())
    return createStringError("--policy-out is of --bisect and --budget");
  if (budgets && options.draws < 2)
    return createStringError("--budget holds draws back: expected --draws of at least 2");
  return llvm::Error::success();
}
