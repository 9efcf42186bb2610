// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of --version of every tool.

#ifndef MP_SUPPORT_VERSION_H
#define MP_SUPPORT_VERSION_H

#include "llvm/Support/raw_ostream.h"

namespace mpcore::support {

/// Prints a line: mp's version, whether checks are on, and LLVM's version.
void printVersion(llvm::raw_ostream &os);

} // namespace mpcore::support

#endif // MP_SUPPORT_VERSION_H
