// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits a module for parallel compilation.

#ifndef MP_LIB_EXECUTION_KERNELMODULES_H
#define MP_LIB_EXECUTION_KERNELMODULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::mp {

/// Functions taken out of a module, and those of them that it calls.
struct KernelModule {
  OwningOpRef<ModuleOp> module;
  std::vector<std::string> names;
};

/// Tells whether a function of the module is marked to be compiled the quick way.
bool hasMarked(ModuleOp module);

/// Marks loops that take less time in so many calls of the program than LLVM takes to optimise
/// them; `mp-outline-loops` says what each does.
void markLittleWork(ModuleOp module, int64_t calls);

/// Takes the functions that only compute out of a module in the LLVM dialect, where
/// `mp-outline-loops` has marked what calls them: private ones that need no global and call nothing
/// marked. At most `parts` modules, with copies of what several need; the module keeps
/// declarations. None if nothing is marked.
std::vector<KernelModule> takeKernels(ModuleOp module, unsigned parts);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_KERNELMODULES_H
