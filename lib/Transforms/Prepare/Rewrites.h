// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared code of the passes that rewrite a graph before its precision is assigned, so that there is
// evidence.

#ifndef MP_LIB_TRANSFORMS_PREPARE_REWRITES_H
#define MP_LIB_TRANSFORMS_PREPARE_REWRITES_H

#include "../Assign/Decisions.h"

namespace mlir::mp {

/// Visits the functions to be decided of every module at or below `root`, with what is known of
/// them as they are, and calls `done` after those of a module. Errors begin with `pass`.
LogicalResult
visitUndecided(Operation *root, StringRef pass, RequestReader &asked, double maxUnderflow,
               llvm::function_ref<LogicalResult(FunctionDecisions &, const AssignSettings &)> visit,
               llvm::function_ref<void()> done);

/// Somebody said how the op computes.
bool isPinned(Operation *op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_PREPARE_REWRITES_H
