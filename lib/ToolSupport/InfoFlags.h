// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flags that print something and need no input.

#ifndef MP_LIB_TOOLSUPPORT_INFOFLAGS_H
#define MP_LIB_TOOLSUPPORT_INFOFLAGS_H

#include <optional>

namespace mlir::mp {

/// Registers the flags with the command line.
void registerInfoFlags();

/// Prints what was asked for and returns the exit status; nothing if nothing was.
std::optional<int> printInfo();

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_INFOFLAGS_H
