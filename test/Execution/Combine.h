// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins variants of a function into one program: most of the time of a small run is compiling.

#ifndef MP_TEST_EXECUTION_COMBINE_H
#define MP_TEST_EXECUTION_COMBINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::mp::test {

/// A module whose @main has the arguments of @main of `like`, with what is said of them, calls each
/// part's @main, and returns all their results.
OwningOpRef<ModuleOp> combine(ModuleOp like, ArrayRef<ModuleOp> parts);

} // namespace mlir::mp::test

#endif // MP_TEST_EXECUTION_COMBINE_H
