// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what a crash leaves behind: copies of the inputs, the pipeline, a script that replays it.

#ifndef MP_LIB_TOOLSUPPORT_REPRODUCER_H
#define MP_LIB_TOOLSUPPORT_REPRODUCER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// Prepares a reproducer of `tool`, run with `arguments`. Files that are read from here on are
/// copied into it if it is written; their names in the arguments become those of the copies.
void prepareReproducer(llvm::StringRef tool, llvm::ArrayRef<const char *> arguments);

/// Standard input, which cannot be read again. It lives until the tool ends.
void setReproducedInput(llvm::StringRef content);

/// The pipeline as text, for people and mp-reduce.
void setReproducedPipeline(llvm::StringRef pipeline);

/// Writes the folder MP_CRASH_DIR/TOOL-crash-PID (else in TMPDIR, else in /tmp) and says so. May be
/// called in a signal handler: everything is prepared.
void writeReproducer();

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_REPRODUCER_H
