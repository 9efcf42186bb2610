// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes functions callable through tables of arguments and results.

#ifndef MP_LIB_EXECUTION_ENTRYTABLES_H
#define MP_LIB_EXECUTION_ENTRYTABLES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mp {

/// Makes the function `name` of a lowered module one that takes {words in, words out}: a
/// descriptor's words for a tensor, one word for a number. As LLVM's arguments and as one struct of
/// results, the thousands of words of a train step take longer to compile than the rest of it.
/// Calls within the module keep the function as it was, and the new one has another name: it is
/// returned.
std::string passByTables(ModuleOp module, llvm::StringRef name);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_ENTRYTABLES_H
