// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Versions that the build knows.

#include "mp/Support/Version.h"
#include "llvm/Config/llvm-config.h"

void mpcore::support::printVersion(llvm::raw_ostream &os) {
#ifdef NDEBUG
  const char *checks = "without checks";
#else
  const char *checks = "with checks";
#endif
  os << "mp " MP_VERSION " (" << checks << "), LLVM " LLVM_VERSION_STRING "\n";
}
