// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user pinned. A pin of f32 keeps the op, its operands and its results
// in f32; a pin of the narrow format makes a contraction narrow whatever the
// other layers think. A pin that cannot be followed is a warning.

#include "Decisions.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::applyPins(FunctionDecisions &decisions) {
  FunctionOpInterface function = decisions.getFunction();
  for (BlockArgument argument : function.getArguments()) {
    auto pin = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kPinAttrName);
    if (pin && pin.getValue() != getFloatFormat(argument.getType()))
      function.emitWarning() << "argument " << argument.getArgNumber() << " is pinned to "
                             << pin.getValue() << ", but signatures stay as they are";
  }
  for (auto &[op, decision] : decisions.getOps()) {
    auto pin = op->getAttrOfType<TypeAttr>(kPinAttrName);
    if (!pin)
      continue;
    auto format = cast<FloatType>(pin.getValue());
    std::string reason;
    llvm::raw_string_ostream(reason) << kPinAttrName << " = " << format;
    bool computes = decision.opClass == OpClass::TensorCore && format == decisions.getNarrow();
    if (!computes && format != decision.compute)
      op->emitWarning() << "is pinned to " << format << ", but only contractions compute in the "
                        << "format asked for, " << decisions.getNarrow() << ": it stays in "
                        << decision.compute;
    decision.decide(computes ? format : decision.compute, Origin::Pin, reason);
  }
}
