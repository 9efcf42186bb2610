// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-insert-casts: every function that carries mp.precision is built again in the decided formats
// and swapped in.

#include "../Common/Undecided.h"
#include "FunctionRebuilder.h"
#include "ParameterConversion.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Materialize/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTCASTS
#include "mp/Transforms/Materialize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool isAssigned(FunctionOpInterface function) {
  auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName);
  if (phase && phase.getValue() == "assigned")
    return true; // perhaps its signature alone changes
  return function
      ->walk([](Operation *op) {
        return op->hasAttr(kPrecisionAttrName) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct InsertCasts : mlir::mp::impl::InsertCastsBase<InsertCasts> {
  using Base::Base;

  void runOnOperation() override {
    warnIfUndecided(getOperation(), getArgument());
    WalkResult done = walkOutsideFunctionBodies<ModuleOp>(
        getOperation(), [&](ModuleOp module) { return WalkResult(insertInto(module)); });
    if (done.wasInterrupted())
      signalPassFailure();
  }

  /// The old functions stay until the last is rebuilt: what they say of signatures is read at
  /// calls.
  LogicalResult insertInto(ModuleOp module) {
    TiedStorage ties(module);
    SmallVector<FunctionOpInterface> replaced;
    for (auto function : llvm::make_early_inc_range(module.getOps<FunctionOpInterface>())) {
      if (function.isExternal() || !isAssigned(function))
        continue;
      FunctionOpInterface rebuilt = FunctionRebuilder::rebuild(function, ties, saturateConstants);
      if (!rebuilt)
        return failure();
      rebuilt->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "materialized"));
      if (failed(addParameterConversion(function, rebuilt)))
        return failure();
      replaced.push_back(function);
    }
    for (FunctionOpInterface function : replaced)
      function.erase();
    return success();
  }
};
} // namespace
