// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-annotate-ranges: the range analysis, written on the ops.

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Annotate/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_ANNOTATERANGES
#include "mp/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static void annotate(Region &region, const FunctionRanges &ranges) {
  for (Operation &op : region.getOps()) {
    SmallVector<Attribute> texts;
    for (Value result : op.getResults()) {
      std::string text;
      if (getFloatFormat(result.getType()))
        llvm::raw_string_ostream(text) << ranges.lookup(result).facts;
      texts.push_back(StringAttr::get(op.getContext(), text));
    }
    if (llvm::any_of(op.getResultTypes(), getFloatFormat))
      op.setAttr(kFactsAttrName, ArrayAttr::get(op.getContext(), texts));
    // Bodies of structured ops are part of their op.
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    if (interface && interface.getTypeRule() == TypeRule::Container)
      for (Region &inner : op.getRegions())
        annotate(inner, ranges);
  }
}

namespace {
struct AnnotateRanges : mlir::mp::impl::AnnotateRangesBase<AnnotateRanges> {
  void runOnOperation() override {
    ModuleRanges ranges(getOperation());
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!function.isExternal())
        annotate(function.getFunctionBody(), ranges.get(function));
  }
};
} // namespace
