// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-train-step: a whole f32 train step to a mixed-precision one.

#include "mlir/Transforms/Passes.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Transforms/Annotate/Passes.h"
#include "mp/Transforms/Train/Passes.h"
#include "mp/Transforms/Verify/Passes.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::buildTrainStepPipeline(OpPassManager &manager, const TrainStepOptions &options,
                                      std::shared_ptr<Report> report) {
  StringRef rule = options.lossScale;
  if (rule == "auto")
    rule = options.format == ContractionFormat::F16 ? "torch" : "none";
  if (options.verify)
    manager.addPass(createVerifyInput());
  // Forward, backward and optimizer may be functions of their own. Nothing is simplified: a fold of
  // an op would lose what is said of it, as in mp.role = "seed" on a product by 1.
  manager.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  // Steps that repeat the forward pass for each gradient would have a seed each.
  manager.addPass(createCSEPass());
  if (options.clipNorm != 0 || options.clipValue != 0 || options.gradientNorm) {
    ClipGradientsOptions clip;
    clip.function = options.function;
    clip.norm = options.clipNorm;
    clip.value = options.clipValue;
    manager.addPass(createClipGradients(clip));
  }
  if (options.master) {
    InsertMasterWeightsOptions narrow;
    narrow.function = options.function;
    if (options.format)
      narrow.format = options.format;
    narrow.master = *options.master;
    manager.addPass(createInsertMasterWeights(narrow));
  }
  if (options.moments) {
    NarrowMomentsOptions moments;
    moments.function = options.function;
    moments.moments = *options.moments;
    manager.addPass(createNarrowMoments(moments));
  }
  if (rule == "none") {
    AnnotateRolesOptions annotate;
    annotate.function = options.function;
    manager.addPass(createAnnotateRoles(annotate));
  } else {
    InsertLossScaleOptions insert;
    insert.function = options.function;
    insert.preset = rule;
    insert.initial = options.initialScale;
    insert.interval = options.interval;
    insert.nameOverflows = options.nameOverflows;
    manager.addPass(createInsertLossScale(insert));
  }
  // Behind the loss scale, so that sums are unscaled once; clipping, which is behind that, reads
  // the mean.
  if (options.accumulate != 1) {
    AccumulateGradientsOptions accumulate;
    accumulate.function = options.function;
    accumulate.steps = options.accumulate;
    manager.addPass(createAccumulateGradients(accumulate));
  }
  if (options.verify)
    manager.addPass(createVerifyTraining());
  if (options.probeGradients) {
    InsertProbesOptions probes;
    probes.function = options.function;
    probes.select = {"gradients"};
    manager.addPass(createInsertProbes(probes));
  }
  buildMixedPrecisionPipeline(manager, options, std::move(report));
}

void mlir::mp::registerTrainStepPipeline() {
  PassPipelineRegistration<TrainStepOptions>(
      "mp-train-step",
      "Turn an f32 train step into a mixed-precision one with loss scaling and guarded updates "
      "(changes rounding)",
      [](OpPassManager &manager, const TrainStepOptions &options) {
        buildTrainStepPipeline(manager, options);
      });
}
