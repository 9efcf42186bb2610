// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where values are stored narrow. A value is, exactly when every use of it would
// round it to the narrow format anyway: then nothing is lost, and less is moved.
// Uses ask: a narrow contraction for its factors; an op that only moves or picks
// values, when all its results are stored narrow. One sweep, uses before
// definitions.

#include "Decisions.h"

using namespace mlir;
using namespace mlir::mp;

/// An op that runs in whatever format its data has.
static bool followsStorage(const Decision &decision) {
  return decision.opClass == OpClass::ExactCommute && decision.rule == TypeRule::Uniform &&
         decision.origin != Origin::Pin;
}

static bool asksNarrow(FunctionDecisions &decisions, OpOperand &use) {
  Operation *user = use.getOwner();
  Decision *decision = decisions.find(user);
  auto interface = dyn_cast<PrecisionOpInterface>(user);
  if (!decision || !interface)
    return false;
  OperandRole role = interface.getOperandRole(use.getOperandNumber());
  if (decisions.isNarrowContraction(user))
    return role == OperandRole::Factor;
  return followsStorage(*decision) && decision->compute == decisions.getNarrow() &&
         role != OperandRole::Other;
}

void mlir::mp::chooseStorage(FunctionDecisions &decisions) {
  FloatType narrow = decisions.getNarrow();
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    auto asked = [&](Value result) {
      return decisions.mayStoreNarrow(result) && !result.use_empty() &&
             llvm::all_of(result.getUses(),
                          [&](OpOperand &use) { return asksNarrow(decisions, use); });
    };
    // TOSA convolutions return the format of their operands.
    bool returnsNarrow = decision.rule == TypeRule::Uniform && decisions.narrowsStorage() &&
                         decisions.isNarrowContraction(op);
    if (followsStorage(decision)) {
      if (op->getNumResults() > 0 && llvm::all_of(op->getResults(), asked))
        decision.compute = narrow;
      else
        continue;
    }
    for (Value result : op->getResults())
      if (returnsNarrow || (decision.rule != TypeRule::Container &&
                            decision.origin != Origin::Pin && asked(result)))
        decisions.setStorage(result, narrow);
  }
}
