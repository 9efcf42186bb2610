// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program mp-train, without its main.

#ifndef MP_EXECUTION_TRAINTOOL_H
#define MP_EXECUTION_TRAINTOOL_H

#include "mp/Execution/Tool/RunTool.h"

namespace mlir::mp {

/// Runs mp-train with `arguments`, and returns its exit status (support::ExitStatus).
int runTrain(llvm::ArrayRef<llvm::StringRef> arguments, DialectRegistry &registry,
             const RunHooks &hooks);

} // namespace mlir::mp

#endif // MP_EXECUTION_TRAINTOOL_H
