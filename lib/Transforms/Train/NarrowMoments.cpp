// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../Common/RandomDraws.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Analysis/TrainingRoles.h"
#include "mp/Transforms/Train/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_NARROWMOMENTS
#include "mp/Transforms/Train/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct NarrowMoments : mlir::mp::impl::NarrowMomentsBase<NarrowMoments> {
  using NarrowMomentsBase::NarrowMomentsBase;

  LogicalResult narrow() {
    bool stochastic = moments == "bf16-stochastic";
    if (!stochastic && moments != "bf16")
      return emitError(UnknownLoc::get(&getContext())) << "mp-narrow-moments: option 'moments' is '" << moments
                                                       << "', expected bf16 or bf16-stochastic";
    FailureOr<TrainStep> found = annotateTrainStep(getOperation(), function, "mp-narrow-moments");
    if (failed(found))
      return failure();
    auto &[step, roles] = *found;
    FloatType bf16 = BFloat16Type::get(&getContext());
    Block &block = step.getBody().front();
    OpBuilder atStart = OpBuilder::atBlockBegin(&block), atEnd(block.getTerminator());
    AppendedState appended(step);
    std::optional<RandomDraws> draws;
    bool any = false;
    for (const TrainingState &s : roles.state) {
      BlockArgument argument = step.getArgument(s.argument);
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      // What is a single number saves nothing.
      if (s.role != kRoleOptimizer || !type || !type.getElementType().isF32() || type.getRank() == 0)
        continue;
      if (stochastic && !type.hasStaticShape())
        return step.emitError("argument #") << s.argument << " has the type " << type
                                            << ", expected a static shape to draw random bits for: use moments=bf16";
      if (stochastic && !draws)
        draws.emplace(appended, &getContext(), /*seed=*/2);
      Value updated = block.getTerminator()->getOperand(s.result);
      argument.setType(cast<RankedTensorType>(withFormat(type, bf16)));
      auto wide = arith::ExtFOp::create(atStart, argument.getLoc(), type, argument);
      argument.replaceAllUsesExcept(wide, wide);
      if (updated == argument)
        updated = wide;
      block.getTerminator()->setOperand(
          s.result, roundTo(atEnd, updated, bf16, draws ? draws->drawFor(atEnd, updated) : Value()));
      any = true;
    }
    if (!any)
      return step.emitError("has no moments: no optimizer state of f32, of rank 1 or more; expected moments=keep");
    if (draws)
      appended.finish(draws->next(atEnd));
    else
      updateFunctionType(step);
    sortTopologically(&block);
    return success();
  }

  void runOnOperation() override {
    if (failed(narrow()))
      signalPassFailure();
  }
};
} // namespace
