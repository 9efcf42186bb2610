// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the options behind flags of passes and pipelines before any runs: upstream names the wrong
// word alone, and takes the last of two values.

#ifndef MP_LIB_TOOLSUPPORT_PASSOPTIONS_H
#define MP_LIB_TOOLSUPPORT_PASSOPTIONS_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

namespace mlir::mp {

/// An error names the flag, the word, and what was meant or can be.
llvm::Error checkPassOptions(ArrayRef<char *> arguments);

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_PASSOPTIONS_H
