// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trains pair after pair, and asks after each whether that is enough.

#include "Recipes.h"
#include "mp/Watch/Numbers.h"

#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

static RecipeRun summarize(const TrialRun &run) {
  RecipeRun summary;
  const std::vector<double> &losses = run.losses.front();
  const size_t tail = std::max<size_t>(1, losses.size() / 10);
  for (size_t i = losses.size() - tail; i < losses.size(); ++i)
    summary.metric += losses[i] / double(tail);
  summary.seconds = run.seconds;
  summary.peakBytes = run.peakBytes;
  return summary;
}

llvm::Expected<RecipeReport> mlir::mp::compareRecipes(ModuleOp source, StringRef entry,
                                                      StringRef assign, StringRef a, StringRef b,
                                                      const TrialData &data,
                                                      const watch::PairedOptions &options) {
  RecipeReport report{a.str(), b.str(), {}, {}, {}};
  std::vector<Trials> trials;
  std::vector<OwningOpRef<ModuleOp>> programs;
  for (StringRef policy : {a, b}) {
    auto created = Trials::create(source, entry, (assign + " policy=" + policy).str(), data);
    if (!created)
      return created.takeError();
    auto program = created->convertWith({});
    if (!program)
      return program.takeError();
    trials.push_back(std::move(*created));
    programs.push_back(std::move(*program));
  }
  std::vector<double> metricsA, metricsB;
  for (int64_t pair = 0; pair < data.draws; ++pair) {
    for (size_t side = 0; side < 2; ++side) {
      auto run = trials[side].run(*programs[side], pair, 1);
      if (!run)
        return run.takeError();
      if (run->losses.front().empty())
        return createStringError(
            "--ab: the step returns no scalar float beside its state, expected "
            "its loss");
      (side ? report.runsB : report.runsA).push_back(summarize(*run));
    }
    metricsA.push_back(report.runsA.back().metric);
    metricsB.push_back(report.runsB.back().metric);
    report.result = watch::comparePairs(metricsA, metricsB, options);
    // Equal bits so far may still part; two pairs are a beginning.
    if (pair > 0 && report.result.verdict != watch::Verdict::Undecided &&
        report.result.verdict != watch::Verdict::Identical)
      break;
  }
  return report;
}

static double meanOf(ArrayRef<RecipeRun> runs, double RecipeRun::*field) {
  double sum = 0;
  for (const RecipeRun &run : runs)
    sum += run.*field / double(runs.size());
  return sum;
}

void mlir::mp::printRecipes(llvm::raw_ostream &os, const RecipeReport &report,
                            const watch::PairedOptions &options) {
  const watch::PairedResult &result = report.result;
  for (auto [name, runs] : {std::pair(&report.a, &report.runsA), {&report.b, &report.runsB}})
    os << *name << ": loss " << llvm::format("%.6g", meanOf(*runs, &RecipeRun::metric)) << ", "
       << llvm::format("%.3g", meanOf(*runs, &RecipeRun::seconds)) << " seconds a run, peak "
       << runs->front().peakBytes << " bytes\n";
  os << "after " << result.pairs << " pairs: " << watch::toString(result.verdict);
  if (result.verdict == watch::Verdict::Identical)
    os << ", the losses of every pair are equal";
  else
    os << "; difference " << llvm::format("%.4g", result.mean) << ", "
       << watch::describeInterval(result, options) << ", odds "
       << llvm::format("%.3g", result.evidence) << " (by signs "
       << llvm::format("%.3g", result.signEvidence) << "), correlation "
       << llvm::format("%.2f", result.correlation);
  if (result.dropped)
    os << "; " << result.dropped << " pairs with a run that ended without a number";
  if (result.pairsNeeded)
    os << "; about " << result.pairsNeeded << " pairs would decide";
  os << "\n";
}

llvm::json::Object mlir::mp::recipesToJSON(const RecipeReport &report,
                                           const watch::PairedOptions &options) {
  auto listed = [](ArrayRef<RecipeRun> runs) {
    llvm::json::Array list;
    for (const RecipeRun &run : runs)
      list.push_back(llvm::json::Object{{"loss", watch::numberOrNull(run.metric)},
                                        {"seconds", run.seconds},
                                        {"peak_bytes", run.peakBytes}});
    return list;
  };
  llvm::json::Object object = report.result.toJSON();
  object["tool"] = "mp-run --ab";
  object["version"] = 1;
  object["a"] = llvm::json::Object{{"policy", report.a}, {"runs", listed(report.runsA)}};
  object["b"] = llvm::json::Object{{"policy", report.b}, {"runs", listed(report.runsB)}};
  object["alpha"] = options.alpha;
  object["margin"] = options.margin;
  return object;
}
