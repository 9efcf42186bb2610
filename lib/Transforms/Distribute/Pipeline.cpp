// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-pipeline: stages of a step, each a rank, through which micro-batches go.

#include "Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Cost/Placement.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Distribute/Passes.h"
#include "llvm/Support/Format.h"

#include <numeric>

namespace mlir::mp {
#define GEN_PASS_DEF_PIPELINE
#include "mp/Transforms/Distribute/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::distribute;

namespace {

struct Pipeline : mlir::mp::impl::PipelineBase<Pipeline> {
  using PipelineBase::PipelineBase;

  LogicalResult check(func::FuncOp step) {
    if (stages < 1)
      return step.emitError("mp-pipeline: option 'stages' is ")
             << stages.getValue() << ", expected a positive number";
    if (!step->hasAttr(comm::kRanksAttrName))
      return step.emitError("mp-pipeline: expected a step for many ranks, each of which is a "
                            "micro-batch here, found none (comm.ranks); run mp-partition with "
                            "batch=true first");
    for (auto [i, type] : llvm::enumerate(step.getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape() ||
          step.getResultAttr(unsigned(i), comm::kShardAttrName))
        return step.emitError("mp-pipeline: result #")
               << i << " is " << type
               << ", expected a tensor of a known size that ranks hold whole";
    }
    return success();
  }

  /// Times of stages, and how much longer than their mean the longest is.
  static std::string textOf(ArrayRef<int64_t> times, StringRef part) {
    std::string text;
    for (int64_t time : times)
      text += (text.empty() ? "" : ", ") + formatTime(time);
    const double mean =
        double(std::accumulate(times.begin(), times.end(), int64_t(0))) / double(times.size());
    const double longest = double(*llvm::max_element(times));
    llvm::raw_string_ostream(text)
        << " on " << part << ", modelled, the longest "
        << llvm::format("%.0f", mean > 0 ? 100 * (longest / mean - 1) : 0.0) << " % above the mean";
    return text;
  }

  void report(func::FuncOp step, const PipelineWriter &writer, int64_t microBatches,
              StringRef times) {
    std::string held;
    for (int64_t stage = 0; stage < stages; ++stage)
      held += (stage ? ", " : "") + std::to_string(writer.mostHeld(stage));
    remark::analysis(step.getLoc(), remarks::kPartitioned)
        << remark::add("@{0} is {1} stages for {2} micro-batches, of which they hold at most {3}; "
                       "{4} messages, {5} "
                       "bytes in a call; stages compute {6}",
                       step.getName().str(), stages.getValue(), microBatches, held,
                       writer.sent().size(), bytesOf(writer.sent()), times);
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> found = findTrainStep(getOperation(), function, "mp-pipeline");
    if (failed(found) || failed(check(*found)))
      return signalPassFailure();
    int64_t microBatches = (*found)->getAttrOfType<IntegerAttr>(comm::kRanksAttrName).getInt();
    auto model = target::lookupTarget(chip);
    auto costs = model ? mpcore::performance::CostModel::create(*model)
                       : llvm::Expected<mpcore::performance::CostModel>(model.takeError());
    if (!costs) {
      found->emitError("mp-pipeline: ") << llvm::toString(costs.takeError());
      return signalPassFailure();
    }
    StagePlan plan(*found, stages, microBatches, *costs);
    if (failed(plan.find()))
      return signalPassFailure();
    const std::string times = textOf(plan.times(), costs->part().name);
    PipelineWriter writer(plan, *found, stages, microBatches, allForward);
    if (failed(writer.write()))
      return signalPassFailure();
    report(*found, writer, microBatches, times);
  }
};

} // namespace
