// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and functions below an op, without a look at what functions hold.

#ifndef MP_ANALYSIS_FUNCTIONWALK_H
#define MP_ANALYSIS_FUNCTIONWALK_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::mp {

/// Visits each OpT (ModuleOp, FunctionOpInterface) at or below `root`, the outer first, until a
/// visit is interrupted. Bodies of functions, where nearly all ops are, are not searched.
template <typename OpT>
WalkResult walkOutsideFunctionBodies(Operation *root, llvm::function_ref<WalkResult(OpT)> visit) {
  return root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isFunction = isa<FunctionOpInterface>(op);
    if (auto found = dyn_cast<OpT>(op); found && visit(found).wasInterrupted())
      return WalkResult::interrupt();
    return isFunction ? WalkResult::skip() : WalkResult::advance();
  });
}

/// Visits all of them.
inline void walkFunctions(Operation *root, llvm::function_ref<void(FunctionOpInterface)> visit) {
  (void)walkOutsideFunctionBodies<FunctionOpInterface>(root, [&](FunctionOpInterface function) {
    visit(function);
    return WalkResult::advance();
  });
}

} // namespace mlir::mp

#endif // MP_ANALYSIS_FUNCTIONWALK_H
