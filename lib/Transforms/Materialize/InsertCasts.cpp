// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-insert-casts: every function whose ops carry mp.precision is built again in
// the decided formats and swapped in.

#include "FunctionRebuilder.h"
#include "ParameterConversion.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Materialize/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_INSERTCASTS
#include "mp/Transforms/Materialize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool isAssigned(FunctionOpInterface function) {
  return function
      ->walk([](Operation *op) {
        return op->hasAttr(kPrecisionAttrName) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct InsertCasts : mlir::mp::impl::InsertCastsBase<InsertCasts> {
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<FunctionOpInterface>())) {
      if (function.isExternal() || !isAssigned(function))
        continue;
      FunctionOpInterface rebuilt = FunctionRebuilder::rebuild(function);
      if (!rebuilt)
        return signalPassFailure();
      rebuilt->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "materialized"));
      if (failed(addParameterConversion(function, rebuilt)))
        return signalPassFailure();
      function.erase();
    }
  }
};
} // namespace
