// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the printing functions that compiled code may call.

#ifndef MP_LIB_EXECUTION_PRINTSYMBOLS_H
#define MP_LIB_EXECUTION_PRINTSYMBOLS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// Calls `add` with the names under which code calls MLIR's runner libraries to print and to read
/// the clock, and the function of libMPRuntime that serves each; `onDevice` if its buffers are in a
/// device's memory.
void forEachPrintSymbol(bool onDevice,
                        llvm::function_ref<void(llvm::StringRef name, void *function)> add);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_PRINTSYMBOLS_H
