// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Analysis/CheckedGradients.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

llvm::DenseSet<Value> mlir::mp::findCheckedGradients(Operation *root) {
  // What the scaled seed reaches ...
  SmallVector<Value> pending;
  llvm::DenseSet<Value> reached, checked;
  root->walk([&](ScaleLossOp op) { pending.push_back(op.getResult()); });
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!reached.insert(value).second)
      continue;
    for (Operation *user : value.getUsers())
      if (!isa<UnscaleOp>(user))
        llvm::append_range(pending, user->getResults());
  }
  // ... and what of it reaches the check.
  root->walk([&](UnscaleOp op) { llvm::append_range(pending, op.getGradients()); });
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!reached.contains(value) || !checked.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp())
      llvm::append_range(pending, op->getOperands());
  }
  return checked;
}
