// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for decisions, as phases of functions or precisions of ops.

#include "Undecided.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::warnIfUndecided(Operation *root, StringRef pass) {
  Operation *undecided = nullptr;
  WalkResult walked = root->walk([&](Operation *op) {
    if (op->hasAttr(kPhaseAttrName) || op->hasAttr(kPrecisionAttrName))
      return WalkResult::interrupt();
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (function && !function.isExternal() && !undecided)
      undecided = op;
    return WalkResult::advance();
  });
  if (undecided && !walked.wasInterrupted())
    undecided->emitWarning() << pass << ": no function here is decided, so nothing is done; "
                             << "mp-assign-precision goes before it";
}
