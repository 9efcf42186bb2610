// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds what must move when ops of a block become one, and moves it.

#include "MoveTogether.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::mp;

FailureOr<SmallVector<Operation *>> mlir::mp::findFollowers(ArrayRef<Operation *> members) {
  Block &block = *members.front()->getBlock();
  llvm::DenseSet<Operation *> inside(members.begin(), members.end()), needing;
  SmallVector<Operation *> followers;
  for (Operation *op = members.front(); op != members.back(); op = op->getNextNode()) {
    if (needing.contains(op) && !isMemoryEffectFree(op))
      return failure();
    if (needing.contains(op))
      followers.push_back(op);
    else if (!inside.contains(op))
      continue;
    for (Operation *user : op->getUsers())
      if (Operation *reader = block.findAncestorOpInBlock(*user);
          reader && !inside.contains(reader))
        needing.insert(reader);
  }
  return followers;
}

void mlir::mp::moveBehind(RewriterBase &rewriter, Operation *op, ArrayRef<Operation *> followers) {
  for (Operation *follower : followers) {
    rewriter.moveOpAfter(follower, op);
    op = follower;
  }
}
