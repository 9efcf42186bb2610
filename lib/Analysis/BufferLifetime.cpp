// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows a buffer through views, loops and branches to all its uses.

#include "mp/Analysis/BufferLifetime.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::mp;

BufferLifetime::BufferLifetime(memref::AllocOp alloc)
    : first(alloc), last(alloc), block(alloc->getBlock()) {
  follow(alloc.getResult());
  while (!escapes && !pending.empty()) {
    Value value = pending.pop_back_val();
    for (OpOperand &use : value.getUses())
      visit(use);
  }
}

void BufferLifetime::follow(ValueRange values) {
  for (Value value : values)
    if (isa<BaseMemRefType>(value.getType()) && seen.insert(value).second)
      pending.push_back(value);
}

void BufferLifetime::visit(OpOperand &use) {
  Operation *user = use.getOwner(), *ancestor = block->findAncestorOpInBlock(*user);
  if (!ancestor) {
    escapes = true; // another block of the function
    return;
  }
  if (last->isBeforeInBlock(ancestor))
    last = ancestor;
  if (!isa<ViewLikeOpInterface>(user) && (!touched || ancestor->isBeforeInBlock(first))) {
    touched = true;
    first = ancestor;
  }
  if (isa<scf::YieldOp, scf::ConditionOp>(user)) {
    if (user->getBlock() == block) {
      escapes = true;
      return;
    }
    followRegions(user->getParentOp());
  } else if (isa<RegionBranchOpInterface>(user)) {
    followRegions(user);
  } else if (isa<func::ReturnOp>(user) && user->getBlock() == block) {
    isReturned = true;
  } else if (auto store = dyn_cast<memref::StoreOp>(user);
             store && store.getValueToStore() == use.get()) {
    escapes = true; // whoever loads it may use it at any time
  } else if (user->hasTrait<OpTrait::IsTerminator>() || isa<memref::DeallocOp>(user) ||
             isa<memref::ExtractAlignedPointerAsIndexOp>(user)) {
    escapes = true; // handed to another block, freed by somebody, or a number from here on
  } else {
    for (Value result : user->getResults())
      if (!hasEffect<MemoryEffects::Allocate>(user, result)) // memory of its own
        follow(result);
  }
}

/// A loop or branch that one of the values goes through: any of its buffers may be this one.
void BufferLifetime::followRegions(Operation *op) {
  follow(op->getResults());
  for (Region &region : op->getRegions())
    for (Block &inner : region)
      follow(inner.getArguments());
}
