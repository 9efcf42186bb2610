// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a compiled program: their messages, and what is said of one that did not hold.

#ifndef MP_LIB_EXECUTION_CHECKS_H
#define MP_LIB_EXECUTION_CHECKS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mp {

/// The messages of a lowered module, in the order of their numbers; the module forgets them.
std::vector<std::string> takeChecks(ModuleOp module);

/// Explains why code returned `code`, which is not 0.
std::string failureText(int64_t code, ArrayRef<std::string> checks);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CHECKS_H
