// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-assign-precision: the layers of decision, in order, function by function.

#include "Decisions.h"
#include "mp/Target/Targets.h"
#include "mp/Transforms/Assign/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::mp {
#define GEN_PASS_DEF_ASSIGNPRECISION
#include "mp/Transforms/Assign/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static FloatType parseFormat(StringRef name, MLIRContext *context) {
  return llvm::StringSwitch<FloatType>(name)
      .Case("bf16", BFloat16Type::get(context))
      .Case("f16", Float16Type::get(context))
      .Case("tf32", FloatTF32Type::get(context))
      .Default({});
}

/// An error unless `target` is known and multiplies numbers of `format`.
static llvm::Error checkTarget(StringRef target, StringRef format) {
  llvm::Expected<const ::mp::target::TargetModel &> model = ::mp::target::lookupTarget(target);
  if (!model)
    return model.takeError();
  return ::mp::target::checkFormat(*model, format);
}

namespace {
struct AssignPrecision : mlir::mp::impl::AssignPrecisionBase<AssignPrecision> {
  using AssignPrecisionBase::AssignPrecisionBase;

  void runOnOperation() override {
    FloatType narrow = parseFormat(format, &getContext());
    if (!narrow) {
      emitError(UnknownLoc::get(&getContext()))
          << "mp-assign-precision: option 'format' is '" << format
          << "', expected bf16, f16 or tf32";
      return signalPassFailure();
    }
    if (llvm::Error error = checkTarget(target, format)) {
      emitError(UnknownLoc::get(&getContext()))
          << "mp-assign-precision: option 'target' is '" << target
          << "': " << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      if (function.isExternal())
        continue;
      if (auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName)) {
        function.emitRemark() << "is " << phase.getValue() << " already; its precision stays";
        continue;
      }
      FunctionDecisions decisions(function, narrow);
      applyPins(decisions);
      applyRanges(decisions, maxUnderflow);
      applyClasses(decisions);
      chooseStorage(decisions);
      writeDecisions(decisions);
      function->setAttr(kPhaseAttrName, StringAttr::get(&getContext(), "assigned"));
    }
  }
};
} // namespace
