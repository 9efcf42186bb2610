// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds how much the process says, and what it is doing now.

#ifndef MP_SUPPORT_PROGRESS_H
#define MP_SUPPORT_PROGRESS_H

#include "llvm/ADT/Twine.h"

#include <string>

namespace mpcore::support {

/// Quiet: errors, warnings and results alone. Normal: tables and notes, too. Verbose: each stage as
/// it begins. Programs that embed the passes are Normal.
enum class Verbosity { Quiet, Normal, Verbose };

void setVerbosity(Verbosity verbosity);
Verbosity verbosity();

/// Says what the process does from here on: "mp-assign-precision", "step 3 of 10". Printed with the
/// time since the start, and at once, if Verbose; otherwise kept for whoever watches.
void setStage(const llvm::Twine &stage);

/// Returns what was last said, for a watch that prints progress.
std::string currentStage();

/// Seconds since the process began to work.
double secondsSinceStart();

} // namespace mpcore::support

#endif // MP_SUPPORT_PROGRESS_H
