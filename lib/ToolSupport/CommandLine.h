// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of tools whose options are LLVM's: errors are returned, and say what was meant.

#ifndef MP_LIB_TOOLSUPPORT_COMMANDLINE_H
#define MP_LIB_TOOLSUPPORT_COMMANDLINE_H

#include "mp/ToolSupport/Driver.h"

namespace mlir::mp {

/// The positional argument and -o; "-" for the standard streams.
struct OptArguments {
  std::string input = "-", output = "-";
};

/// Parses with all options that are registered. --help and --version print and exit.
llvm::Error parseArguments(llvm::StringRef tool, const ToolArguments &given,
                           llvm::StringRef overview, OptArguments &files);

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_COMMANDLINE_H
