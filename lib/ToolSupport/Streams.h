// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Standard streams that are closed, full, or that nobody reads any more.

#ifndef MP_LIB_TOOLSUPPORT_STREAMS_H
#define MP_LIB_TOOLSUPPORT_STREAMS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// Opens the standard streams that are closed, so that using them is an error and the next file is
/// not one of them. When the process exits, what could not be written to standard output is an
/// error of `tool`, and a reader that is gone makes it die of SIGPIPE; what nobody read of standard
/// error is nothing.
void prepareStreams(llvm::StringRef tool);

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_STREAMS_H
