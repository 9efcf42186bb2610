// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-pipeline: stages of a step, each a rank, through which micro-batches go.

#include "Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Transforms/Distribute/Passes.h"

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

  void report(func::FuncOp step, const PipelineWriter &writer, int64_t microBatches) {
    std::string held;
    for (int64_t stage = 0; stage < stages; ++stage)
      held += (stage ? ", " : "") + std::to_string(writer.mostHeld(stage));
    remark::analysis(step.getLoc(), remarks::kPartitioned)
        << remark::add("@{0} is {1} stages for {2} micro-batches, of which they hold at most {3}; "
                       "{4} messages, {5} "
                       "bytes in a call",
                       step.getName().str(), stages.getValue(), microBatches, held,
                       writer.sent().size(), bytesOf(writer.sent()));
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> found = findTrainStep(getOperation(), function, "mp-pipeline");
    if (failed(found) || failed(check(*found)))
      return signalPassFailure();
    int64_t microBatches = (*found)->getAttrOfType<IntegerAttr>(comm::kRanksAttrName).getInt();
    StagePlan plan(*found, stages);
    if (failed(plan.find()))
      return signalPassFailure();
    PipelineWriter writer(plan, *found, stages, microBatches, allForward);
    if (failed(writer.write()))
      return signalPassFailure();
    report(*found, writer, microBatches);
  }
};

} // namespace
