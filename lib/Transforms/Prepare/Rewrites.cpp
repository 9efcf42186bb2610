// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the evidence of mp-assign-precision, and visits each function that is not
// decided yet.

#include "Rewrites.h"
#include "mp/Analysis/FunctionWalk.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::isPinned(Operation *op) {
  return op->hasAttr(kPinAttrName) || op->hasAttr(kSplitAttrName) || op->hasAttr(kScaledAttrName);
}

LogicalResult mlir::mp::visitUndecided(
    Operation *root, StringRef pass, RequestReader &asked, double maxUnderflow,
    llvm::function_ref<LogicalResult(FunctionDecisions &, const AssignSettings &)> visit,
    llvm::function_ref<void()> done) {
  if (!(maxUnderflow >= 0 && maxUnderflow <= 1))
    return emitError(UnknownLoc::get(root->getContext()))
           << pass << ": option 'max-underflow' is " << maxUnderflow
           << ", expected a fraction from 0 to 1";
  auto request = asked.get(root->getContext());
  if (!request)
    return emitError(UnknownLoc::get(root->getContext()))
           << pass << ": " << llvm::toString(request.takeError());
  policy::Matcher rules(request->effective.policy);
  AssignSettings settings = settingsOf(*request, rules, request->costs);
  settings.maxUnderflow = maxUnderflow;
  WalkResult walked = walkOutsideFunctionBodies<ModuleOp>(root, [&](ModuleOp module) {
    TiedStorage ties(module);
    CarriedStorage carried(ties);
    ModuleRanges ranges(module, {.narrow = settings.narrow});
    for (auto function : module.getOps<FunctionOpInterface>()) {
      if (function.isExternal() || function->hasAttr(kPhaseAttrName))
        continue;
      FunctionDecisions decisions(function, carried, ranges);
      if (failed(visit(decisions, settings)))
        return WalkResult::interrupt();
    }
    done();
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}
