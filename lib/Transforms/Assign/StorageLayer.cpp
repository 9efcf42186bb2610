// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where values are stored narrow. A value is, exactly when every use of it would
// round it to the narrow format anyway: then nothing is lost, and less is moved.
// Uses ask: a narrow contraction for its factors; an op that only moves or picks
// values, when all its results are stored narrow. One sweep, uses before
// definitions. Control flow, calls and returns ask for what they carry (CarryLayer.cpp).

#include "Decisions.h"

using namespace mlir;
using namespace mlir::mp;

/// The narrow format in which `use` wants its value, or null.
static FloatType askedFormat(FunctionDecisions &decisions, OpOperand &use) {
  if (FloatType taken = decisions.getTakenFormat(use))
    return taken.isF32() ? FloatType() : taken;
  Operation *user = use.getOwner();
  Decision *decision = decisions.find(user);
  auto interface = dyn_cast<PrecisionOpInterface>(user);
  if (!decision || !interface || decision->compute.isF32() || decision->compute.isTF32())
    return {};
  OperandRole role = interface.getOperandRole(use.getOperandNumber());
  bool asks = decisions.isNarrowContraction(user)
                  ? role == OperandRole::Factor
                  : decision->followsStorage() && role != OperandRole::Other;
  return asks ? decision->compute : FloatType();
}

FloatType mlir::mp::commonFormat(FunctionDecisions &decisions, Value value) {
  FloatType common;
  for (OpOperand &use : value.getUses()) {
    FloatType asked = askedFormat(decisions, use);
    if (!asked || (common && asked != common))
      return {};
    common = asked;
  }
  return common;
}

LogicalResult mlir::mp::chooseStorage(FunctionDecisions &decisions, const AssignSettings &) {
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    if (decision.keepsStorage || decision.rule == TypeRule::Container)
      continue;
    // TOSA convolutions return the format of their operands.
    if (decision.rule == TypeRule::Uniform && !decision.compute.isTF32() &&
        decisions.isNarrowContraction(op)) {
      for (Value result : op->getResults())
        decisions.setStorage(result, decision.compute);
      continue;
    }
    SmallVector<FloatType> storages;
    for (Value result : op->getResults())
      storages.push_back(!decisions.mayStoreNarrow(result) ? FloatType()
                         : decision.resultStorage          ? decision.resultStorage
                                                           : commonFormat(decisions, result));
    if (decision.followsStorage()) {
      if (storages.empty() || !storages.front() || !llvm::all_equal(storages))
        continue;
      decision.compute = storages.front();
    }
    for (auto [result, storage] : llvm::zip_equal(op->getResults(), storages))
      if (storage)
        decisions.setStorage(result, storage);
  }
  return success();
}
