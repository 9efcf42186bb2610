// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a module that fails smaller, op by op, so that every candidate is valid.

#ifndef MP_LIB_TOOLSUPPORT_REDUCEOPS_H
#define MP_LIB_TOOLSUPPORT_REDUCEOPS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace mlir::mp {

/// Takes ops and functions away as long as `test`, run on a file with the module, ends with 1. A
/// value whose op goes becomes an operand of its type, or zero. First halves are tried, then
/// quarters, and so on, until no single op can go. Errors where the module as it is does not end
/// so.
llvm::Error reduceOps(OwningOpRef<ModuleOp> &module, llvm::StringRef test);

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_REDUCEOPS_H
