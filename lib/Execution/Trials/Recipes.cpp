// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trains pair after pair, and asks after each whether that is enough.

#include "Recipes.h"
#include "../Watch/LastTenth.h"
#include "../Watch/StepCosts.h"
#include "mp/Watch/Numbers.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static RecipeRun summarize(const TrialRun &run) {
  RecipeRun summary{meanOfLastTenth(run.losses.front()), {}, run.seconds, run.peakBytes};
  for (const auto &[name, series] : run.metrics)
    summary.metrics[name] = meanOfLastTenth(series.front());
  return summary;
}

static std::vector<double> numbersOf(ArrayRef<RecipeRun> runs,
                                     llvm::function_ref<double(const RecipeRun &)> number) {
  std::vector<double> numbers;
  for (const RecipeRun &run : runs)
    numbers.push_back(number(run));
  return numbers;
}

llvm::Expected<RecipeReport> mlir::mp::compareRecipes(ModuleOp source, StringRef entry,
                                                      StringRef assign, StringRef a, StringRef b,
                                                      const TrialData &data,
                                                      const watch::PairedOptions &options) {
  RecipeReport report{{a.str(), 0, {}}, {b.str(), 0, {}}, {}, {}, {}};
  Recipe *sides[] = {&report.a, &report.b};
  std::vector<Trials> trials;
  std::vector<OwningOpRef<ModuleOp>> programs;
  for (Recipe *side : sides) {
    auto created = Trials::create(source, entry, (assign + " policy=" + side->policy).str(), data);
    if (!created)
      return created.takeError();
    auto program = created->convertWith({});
    if (!program)
      return program.takeError();
    auto costs = countStepCosts(**program, created->target().empty() ? "sm_80" : created->target());
    if (!costs)
      return costs.takeError();
    side->modelled = costs->time();
    report.part = costs->part;
    trials.push_back(std::move(*created));
    programs.push_back(std::move(*program));
  }
  for (int64_t pair = 0; pair < data.draws; ++pair) {
    for (auto [i, side] : llvm::enumerate(sides)) {
      auto run = trials[i].run(*programs[i], pair, 1);
      if (!run)
        return run.takeError();
      if (run->losses.front().empty())
        return createStringError(
            "--ab: the step returns no scalar float beside its state, expected "
            "its loss");
      side->runs.push_back(summarize(*run));
    }
    auto compare = [&](llvm::function_ref<double(const RecipeRun &)> number) {
      return watch::comparePairs(numbersOf(report.a.runs, number), numbersOf(report.b.runs, number),
                                 options);
    };
    report.result = compare([](const RecipeRun &run) { return run.loss; });
    for (const auto &[name, value] : report.a.runs.front().metrics)
      report.metrics[name] = compare([&](const RecipeRun &run) { return run.metrics.at(name); });
    // Equal bits so far may still part; two pairs are a beginning.
    if (pair > 0 && report.result.verdict != watch::Verdict::Undecided &&
        report.result.verdict != watch::Verdict::Identical)
      break;
  }
  return report;
}

std::pair<const Recipe *, std::string> RecipeReport::recommend() const {
  const bool isFirst = a.modelled <= b.modelled;
  const std::string times =
      llvm::formatv("{0:F1} us a step are modelled, not {1:F1}", std::min(a.modelled, b.modelled),
                    std::max(a.modelled, b.modelled));
  const std::string odds = llvm::formatv("odds {0} to 1", llvm::format("%.3g", result.evidence));
  switch (result.verdict) {
  case watch::Verdict::ABetter: return {&a, "its loss is less, " + odds};
  case watch::Verdict::BBetter: return {&b, "its loss is less, " + odds};
  case watch::Verdict::Identical:
  case watch::Verdict::Equivalent:
    return {isFirst ? &a : &b,
            a.modelled == b.modelled
                ? "both are as fast"
                : std::string("the losses do not tell them apart, and ") + times};
  case watch::Verdict::Undecided: break;
  }
  return {nullptr, odds + " for a difference"};
}

static double meanOf(ArrayRef<RecipeRun> runs,
                     llvm::function_ref<double(const RecipeRun &)> number) {
  double sum = 0;
  for (const RecipeRun &run : runs)
    sum += number(run) / double(runs.size());
  return sum;
}

/// Prints what was found about the losses, or another number of the runs.
static void printResult(llvm::raw_ostream &os, const watch::PairedResult &result,
                        const watch::PairedOptions &options) {
  os << "difference " << llvm::format("%.4g", result.mean) << ", "
     << watch::describeInterval(result, options) << ", odds "
     << llvm::format("%.3g", result.evidence) << " (by signs "
     << llvm::format("%.3g", result.signEvidence) << "), correlation "
     << llvm::format("%.2f", result.correlation);
  if (result.dropped)
    os << "; " << result.dropped << " pairs with a run that ended without a number";
}

void mlir::mp::printRecipes(llvm::raw_ostream &os, const RecipeReport &report,
                            const watch::PairedOptions &options) {
  const watch::PairedResult &result = report.result;
  for (const Recipe *recipe : {&report.a, &report.b}) {
    os << recipe->policy << ": loss "
       << llvm::format("%.6g", meanOf(recipe->runs, [](auto &run) { return run.loss; }));
    for (const auto &[name, value] : recipe->runs.front().metrics)
      os << ", " << name << " "
         << llvm::format("%.6g",
                         meanOf(recipe->runs, [&](auto &run) { return run.metrics.at(name); }));
    os << ", " << llvm::format("%.3g", meanOf(recipe->runs, [](auto &run) { return run.seconds; }))
       << " seconds a run, peak " << recipe->runs.front().peakBytes << " bytes, "
       << llvm::format("%.1f", recipe->modelled) << " us a step (modelled, " << report.part
       << ")\n";
  }
  os << "after " << result.pairs << " pairs: " << watch::toString(result.verdict);
  if (result.verdict == watch::Verdict::Identical) {
    os << ", the losses of every pair are equal";
  } else {
    os << "; ";
    printResult(os, result, options);
  }
  if (result.pairsNeeded)
    os << "; about " << result.pairsNeeded << " pairs would decide";
  os << "\n";
  for (const auto &[name, paired] : report.metrics) {
    os << name << ": ";
    printResult(os, paired, options);
    os << "\n";
  }
  auto [recipe, why] = report.recommend();
  os << "recommended: " << (recipe ? recipe->policy : "neither so far") << ": " << why << "\n";
}

llvm::json::Object mlir::mp::recipesToJSON(const RecipeReport &report,
                                           const watch::PairedOptions &options) {
  auto described = [](const Recipe &recipe) {
    llvm::json::Array list;
    for (const RecipeRun &run : recipe.runs) {
      llvm::json::Object metrics;
      for (const auto &[name, value] : run.metrics)
        metrics[name] = watch::numberOrNull(value);
      list.push_back(llvm::json::Object{{"loss", watch::numberOrNull(run.loss)},
                                        {"metrics", std::move(metrics)},
                                        {"seconds", run.seconds},
                                        {"peak_bytes", run.peakBytes}});
    }
    return llvm::json::Object{{"policy", recipe.policy},
                              {"modelled_microseconds", recipe.modelled},
                              {"runs", std::move(list)}};
  };
  llvm::json::Object object = report.result.toJSON(), metrics;
  for (const auto &[name, paired] : report.metrics)
    metrics[name] = paired.toJSON();
  auto [recipe, why] = report.recommend();
  object["tool"] = "mp-run --ab";
  object["version"] = 1;
  object["a"] = described(report.a);
  object["b"] = described(report.b);
  object["metrics"] = std::move(metrics);
  object["recommended"] = recipe ? llvm::json::Value(recipe->policy) : llvm::json::Value(nullptr);
  object["reason"] = why;
  object["modelled_for"] = report.part;
  object["alpha"] = options.alpha;
  object["margin"] = options.margin;
  return object;
}
