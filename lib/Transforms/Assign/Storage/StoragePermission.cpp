// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the narrow formats in which the uses of each value read it.

#include "StoragePermission.h"

using namespace mlir;
using namespace mlir::mp;

/// The narrow format in which `op` computes and values can be stored; null if it has none.
static FloatType getNarrowFormat(Operation *op, const Decision &decision) {
  bool isNarrow =
      !decision.compute.isTF32() && FunctionDecisions::isNarrowContraction(op, decision);
  return isNarrow ? decision.compute : FloatType();
}

StoragePermissions::StoragePermissions(FunctionDecisions &decisions) : decisions(decisions) {
  // Uses before definitions: ops that move data pass on what is asked of them.
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    if (decision.rule == TypeRule::Container || decision.keepsStorage)
      continue;
    for (Value result : op->getResults()) {
      if (!decisions.mayStoreNarrow(result))
        continue;
      FloatType format = decision.resultStorage;
      // TOSA convolutions return the format of their operands.
      if (!format && decision.rule == TypeRule::Uniform)
        format = getNarrowFormat(op, decision);
      if (!format)
        format = getCommonRounding(result);
      if (format)
        narrow[result] = format;
    }
  }
}

/// The narrow format to which `use` rounds what it reads, or null.
FloatType StoragePermissions::getRounding(OpOperand &use) const {
  if (FloatType taken = decisions.getTakenFormat(use))
    return taken.isF32() ? FloatType() : taken;
  Operation *user = use.getOwner();
  Decision *decision = decisions.find(user);
  bool follows = decision && decision->followsStorage() && user->getNumResults() > 0;
  if (!decision || !(follows || decision->opClass == OpClass::TensorCore))
    return {};
  PrecisionOpInterface interface = decision->interface;
  OperandRole role = interface.getOperandRole(use.getOperandNumber());
  if (decisions.isNarrowContraction(user, *decision))
    return role == OperandRole::Factor && !decision->compute.isTF32() ? decision->compute
                                                                      : FloatType();
  if (!follows || role == OperandRole::Other)
    return {};
  FloatType format = narrow.lookup(user->getResult(0));
  bool isOne = llvm::all_of(user->getResults(),
                            [&](Value result) { return narrow.lookup(result) == format; });
  return isOne ? format : FloatType();
}

FloatType StoragePermissions::getCommonRounding(Value value) const {
  FloatType common;
  for (OpOperand &use : value.getUses()) {
    FloatType format = getRounding(use);
    if (!format || (common && format != common))
      return {};
    common = format;
  }
  return common;
}

OpOperand *StoragePermissions::findWideUse(Value value, FloatType format) const {
  for (OpOperand &use : value.getUses())
    if (getRounding(use) != format)
      return &use;
  return nullptr;
}
