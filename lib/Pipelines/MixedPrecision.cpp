// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-mixed-precision: phases 0 to 4 of one graph.

#include "ReportPasses.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Numerics/Scaling/Recipes.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Transforms/Assign/Passes.h"
#include "mp/Transforms/Materialize/Passes.h"
#include "mp/Transforms/Optimize/Passes.h"
#include "mp/Transforms/Prepare/Passes.h"
#include "mp/Transforms/Verify/Passes.h"

using namespace mlir;
using namespace mlir::mp;

/// Options as words, "format=bf16".
static std::vector<std::string> wordsOf(const MixedPrecisionOptions &options) {
  std::string text;
  llvm::raw_string_ostream os(text);
  options.print(os);
  SmallVector<StringRef> words;
  StringRef(text).trim().trim("{}").split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return {words.begin(), words.end()};
}

/// The options that are not as they are anyway, but those that name where something is read or
/// written besides: what a report says depends on nothing else.
static std::string describeCommand(const MixedPrecisionOptions &options) {
  std::vector<std::string> defaults = wordsOf(MixedPrecisionOptions()), kept;
  for (const std::string &word : wordsOf(options))
    if (!llvm::is_contained(defaults, word) &&
        !llvm::is_contained({"report", "html", "dot", "viewer", "errors", "against", "dump-problem",
                             "dump-costs", "explain", "table", "verify", "costs", "scales"},
                            StringRef(word).split('=').first))
      kept.push_back(word);
  return "mp-mixed-precision=\"" + llvm::join(kept, " ") + "\"";
}

static AssignPrecisionOptions assignOptions(const MixedPrecisionOptions &options,
                                            OptionalFormat format) {
  AssignPrecisionOptions assign;
  assign.format = format;
  assign.target = options.target;
  assign.policyFile = options.policy;
  assign.explain = options.explain;
  assign.maxUnderflow = options.maxUnderflow;
  assign.saturateConstants = options.saturateConstants;
  assign.promote = options.promote;
  assign.objective = options.objective;
  assign.maxRelError = options.maxRelError;
  assign.minSqnr = options.minSqnr;
  assign.sensitivityFile = options.sensitivity;
  assign.maxTime = options.maxTime;
  assign.multiWord = options.multiWord;
  assign.scaleUnproven = options.scaleUnproven;
  assign.neverSlower = options.neverSlower;
  assign.assumeDim = options.assumeDim;
  assign.dumpProblem = options.dumpProblem;
  assign.costsFile = options.costs;
  assign.dumpCosts = options.dumpCosts;
  return assign;
}

/// Adds the rewrites of ranges that are asked for.
static void addRewrites(OpPassManager &manager, const MixedPrecisionOptions &options,
                        OptionalFormat format, const SharedRequest &asked) {
  if (options.prescaleNorms) {
    PrescaleNormsOptions norms;
    norms.format = format;
    norms.target = options.target;
    norms.policyFile = options.policy;
    norms.promote = options.promote;
    manager.addPass(createPrescaleNorms(norms, asked));
  }
  if (options.clampUnproven) {
    InsertClampsOptions clamps;
    clamps.format = format;
    clamps.target = options.target;
    clamps.policyFile = options.policy;
    clamps.maxUnderflow = options.maxUnderflow;
    manager.addPass(createInsertClamps(clamps, asked));
  }
}

void mlir::mp::buildMixedPrecisionPipeline(OpPassManager &manager,
                                           const MixedPrecisionOptions &options,
                                           std::shared_ptr<Report> report) {
  ReportOutputs outputs{options.report, options.html,    options.dot,  options.viewer,
                        options.errors, options.against, options.table};
  outputs.page = report || !outputs.html.empty();
  outputs.kept = bool(report);
  ExplanationListener explained;
  if (report)
    explained = [report](StringRef text) { report->explanation = text.str(); };
  bool reports = report || outputs.table || !outputs.json.empty() || !outputs.html.empty() ||
                 !outputs.dot.empty() || !outputs.viewer.empty() || !outputs.against.empty();
  if (!report)
    report = std::make_shared<Report>();
  // Formats that need scales are for contractions alone; the rest is decided as for bf16.
  OptionalScaledFormat fp8 = scaledFormatOf(options.format);
  OptionalFormat format = fp8 ? ContractionFormat::BF16 : options.format.getValue();
  RecipeName recipe = options.recipe.empty() && fp8 ? "current" : options.recipe.getValue();
  auto asked = std::make_shared<RequestReader>(format, options.target, options.policy);
  // An error here comes up again, with a place to stand, when the deciding pass runs.
  if (auto effective = asked->getPolicy()) {
    report->format = effective->policy.format;
    report->target = effective->policy.target;
  } else {
    llvm::consumeError(effective.takeError());
  }
  AssignPrecisionOptions assign = assignOptions(options, format);
  report->assumedDim = options.assumeDim;
  report->command = describeCommand(options);
  if (outputs.page)
    manager.addPass(createCollectSourcePass(report));
  if (options.verify)
    manager.addPass(createVerifyInput());
  // If contractions choose how to compute, being scaled is a choice among others.
  const numerics::Recipe *known = numerics::findRecipe(recipe);
  bool chooses =
      options.maxRelError > 0 || options.minSqnr > 0 || options.maxTime > 0 || options.neverSlower;
  if (chooses && known && known->isSelfContained() && options.scales.empty() &&
      fp8 != ScaledFormat::E5M2) {
    assign.recipe = recipe;
  } else if (!recipe.empty()) {
    InsertScalingOptions scaling;
    scaling.recipe = recipe;
    scaling.format = fp8;
    scaling.scalesFile = options.scales;
    scaling.target = options.target;
    scaling.policyFile = options.policy;
    manager.addPass(createInsertScaling(scaling, asked));
  }
  addRewrites(manager, options, format, asked);
  manager.addPass(createAssignPrecision(
      assign, asked,
      reports ? [report](const Placement &placement) { report->addPlacement(placement); }
              : PlacementListener(),
      std::move(explained)));
  if (options.verify)
    manager.addPass(createVerifyAssigned());
  // Nothing that rewrites may run in between: upstream rewrites drop mp.precision.
  if (reports)
    manager.addPass(createCollectDecisionsPass(report));
  InsertCastsOptions casts;
  casts.saturateConstants = options.saturateConstants != "off";
  manager.addPass(createInsertCasts(casts));
  manager.addPass(createSplitContractions());
  manager.addPass(createScaleContractions());
  if (options.verify)
    manager.addPass(createVerifyMaterialized());
  // Before constants are rounded for good.
  if (reports && options.certify > 0)
    manager.addPass(createCollectCertificatesPass(report, options.certify));
  manager.addPass(createOptimizeCasts()); // functions of nested modules, too
  if (reports)
    manager.addPass(createFinishReportPass(report, outputs));
}

void mlir::mp::registerMixedPrecisionPipeline() {
  PassPipelineRegistration<MixedPrecisionOptions>(
      "mp-mixed-precision", "Turn an f32 graph into a mixed-precision one (changes rounding)",
      [](OpPassManager &manager, const MixedPrecisionOptions &options) {
        buildMixedPrecisionPipeline(manager, options);
      });
}
