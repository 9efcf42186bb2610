// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fatal signals end in one message, never in a dump or a death by signal.

#ifndef MP_LIB_TOOLSUPPORT_CRASHGUARD_H
#define MP_LIB_TOOLSUPPORT_CRASHGUARD_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// Installs handlers for the process. `tool` must be a program name; it is copied.
void installCrashGuard(llvm::StringRef tool, int status);

/// Gives the calling thread a stack of its own for handlers, so that overflow of its normal stack
/// can be reported, and remembers where the normal one ends.
void guardThisThread();

/// Sets the messages that replace an internal error when the process crashes, and when its
/// processor timer (ITIMER_PROF) runs out: somebody else is to blame. Empty: nobody else is.
void setBlame(llvm::StringRef crash, llvm::StringRef timeout);

/// The file to remove when a signal ends the process; empty for none.
void setFileToRemove(llvm::StringRef path);

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_CRASHGUARD_H
