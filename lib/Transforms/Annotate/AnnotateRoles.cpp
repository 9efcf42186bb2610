// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-annotate-roles: write what the values of a train step are: seed, gradients, state
// (exact).

#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Transforms/Annotate/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_ANNOTATEROLES
#include "mp/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct AnnotateRoles : mlir::mp::impl::AnnotateRolesBase<AnnotateRoles> {
  using AnnotateRolesBase::AnnotateRolesBase;

  void runOnOperation() override {
    FailureOr<TrainStep> found = annotateTrainStep(getOperation(), function, "mp-annotate-roles");
    if (failed(found))
      return signalPassFailure();
    auto &[step, roles] = *found;
    auto say = [&](Operation *op, StringRef role) {
      op->setAttr(kRoleAttrName, StringAttr::get(&getContext(), role));
    };
    unsigned gradients = 0;
    for (const Gradient &gradient : roles.gradients)
      if (!roles.isSeed(gradient.value)) {
        say(gradient.value.getDefiningOp(), kRoleGradient);
        ++gradients;
      }
    for (Value seed : roles.seeds)
      say(seed.getDefiningOp(), kRoleSeed);
    auto count = [&](StringRef role) {
      return llvm::count_if(roles.state, [&](auto &s) { return s.role == role; });
    };
    step.emitRemark() << "is a train step: the seed scales " << roles.scaledContractions << " of "
                      << roles.contractions << " contractions; " << gradients << " gradients, "
                      << count(kRoleParameter) << " parameters, " << count(kRoleOptimizer)
                      << " of optimizer state, " << count(kRoleStatistic)
                      << " statistics and counters";
  }
};
} // namespace
