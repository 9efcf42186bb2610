// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies of private functions whose callers disagree.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_SPECIALIZEFUNCTIONS_H
#define MP_LIB_TRANSFORMS_ASSIGN_SPECIALIZEFUNCTIONS_H

#include "Decisions.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::mp {

/// Gives calls that agree with each other, and not with the rest, a copy of their private function;
/// at most two copies of one function. Where the module cannot be decided, nothing is copied: the
/// decision itself says why.
void copyForCallers(ModuleOp module, const AssignSettings &settings);

/// Puts a copy of `function` behind it and its other copies, named `name` or, if that is taken,
/// after it.
FunctionOpInterface copyFunction(FunctionOpInterface function, StringRef name);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_SPECIALIZEFUNCTIONS_H
