// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fatal signals end in one message, with what is needed to replay the crash, and without litter.

#ifndef MP_LIB_TOOLSUPPORT_CRASHGUARD_H
#define MP_LIB_TOOLSUPPORT_CRASHGUARD_H

#include "mp/Support/ErrorCode.h"

namespace mlir::mp {

/// Installs handlers for the process, behind those of LLVM, whose list of files to remove they use.
/// `tool` must be a program name; it is copied.
void installCrashGuard(llvm::StringRef tool);

/// Gives the calling thread a stack of its own for handlers, so that overflow of its normal stack
/// can be reported, and remembers where the normal one ends.
void guardThisThread();

/// Sets the messages that replace an internal error when the process crashes, and when its
/// processor timer (ITIMER_PROF) runs out: the input is to blame. Empty: it is not.
void setBlame(llvm::StringRef crash, llvm::StringRef timeout);

/// Ends the process with `message` and the status of `code`, from any thread; outputs that are not
/// in place are removed.
[[noreturn]] void endProcess(mpcore::support::ErrorCode code, llvm::StringRef message);

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_CRASHGUARD_H
