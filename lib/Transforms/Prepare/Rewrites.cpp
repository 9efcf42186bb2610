// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the settings and the evidence of mp-assign-precision, and visits each function that is not
// decided yet.

#include "Rewrites.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Target/Targets.h"

using namespace mlir;
using namespace mlir::mp;

bool mlir::mp::isPinned(Operation *op) {
  return op->hasAttr(kPinAttrName) || op->hasAttr(kSplitAttrName) || op->hasAttr(kScaledAttrName);
}

LogicalResult mlir::mp::visitUndecided(
    Operation *root, StringRef pass, const RewriteRequest &request,
    llvm::function_ref<LogicalResult(FunctionDecisions &, const AssignSettings &)> visit,
    llvm::function_ref<void()> done) {
  auto fail = [&](llvm::Error error) {
    return emitError(UnknownLoc::get(root->getContext()))
               << pass << ": " << llvm::toString(std::move(error)),
           failure();
  };
  auto split = findSplitScheme(request.format);
  auto effective = policy::findPolicy(
      {split ? getFormatName(getPartType(root->getContext(), *split)) : request.format,
       request.target, request.policy});
  if (!effective)
    return fail(effective.takeError());
  FloatType narrow = getAssignableFormat(effective->policy.format, root->getContext());
  if (!narrow)
    return fail(llvm::createStringError("option 'format' is '" + effective->policy.format +
                                        "', expected bf16, f16 or tf32"));
  auto model = target::lookupTarget(effective->policy.target);
  if (!model)
    return fail(model.takeError());
  auto costs = mpcore::performance::CostModel::create(*model);
  if (!costs)
    return fail(costs.takeError());
  policy::Matcher rules(effective->policy);
  AssignSettings settings{.policy = effective->policy,
                          .target = *model,
                          .rules = rules,
                          .narrow = narrow,
                          .maxUnderflow = request.maxUnderflow,
                          .promotes = false,
                          .costs = *costs};
  WalkResult walked = walkOutsideFunctionBodies<ModuleOp>(root, [&](ModuleOp module) {
    TiedStorage ties(module);
    CarriedStorage carried(ties);
    ModuleRanges ranges(module, {.narrow = narrow});
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
