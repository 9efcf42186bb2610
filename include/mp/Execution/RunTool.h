// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program mp-run, without its main.

#ifndef MP_EXECUTION_RUNTOOL_H
#define MP_EXECUTION_RUNTOOL_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace mlir::mp {

/// Runs mp-run with the arguments of main. Returns 0 when done, 1 when a comparison
/// or a check of the program failed, 2 for wrong usage or input. `checkText` may
/// refuse a text before it is parsed.
int runRun(int argc, char **argv, DialectRegistry &registry,
           llvm::function_ref<llvm::Error(llvm::MemoryBufferRef)> checkText);

} // namespace mlir::mp

#endif // MP_EXECUTION_RUNTOOL_H
