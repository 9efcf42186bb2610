// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program mp-run, without its main.

#ifndef MP_EXECUTION_TOOL_RUNTOOL_H
#define MP_EXECUTION_TOOL_RUNTOOL_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace mlir::mp {

/// Collects what mp-run asks of its main: both checks may refuse, with an error.
struct RunHooks {
  llvm::function_ref<llvm::Error(llvm::MemoryBufferRef)> checkInput; ///< before it is parsed
  llvm::function_ref<llvm::Error(Operation *)> checkModule;          ///< when it is
  llvm::StringRef commonHelp;                                        ///< of options of every tool
  bool warningsAreErrors = false;
  llvm::function_ref<void(MLIRContext &)> hushRemarks; ///< once diagnostics are printed
};

/// Runs mp-run with `arguments`, and returns its exit status (support::ExitStatus).
int runRun(llvm::ArrayRef<llvm::StringRef> arguments, DialectRegistry &registry,
           const RunHooks &hooks);

} // namespace mlir::mp

#endif // MP_EXECUTION_TOOL_RUNTOOL_H
