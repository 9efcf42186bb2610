// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Help of mp-opt.

#ifndef MP_LIB_TOOLSUPPORT_OPTHELP_H
#define MP_LIB_TOOLSUPPORT_OPTHELP_H

#include "mp/ToolSupport/Driver.h"

#include <optional>

namespace mlir::mp {

/// Prints what --help or --help-pass=NAME asks for and returns the exit status; nothing where
/// neither is given. --help-all becomes upstream's --help. Passes are registered before.
std::optional<int> answerHelp(ToolArguments &given);

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_OPTHELP_H
