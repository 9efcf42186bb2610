// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input that would hurt the parser is refused with words before it gets there.

#ifndef MP_TOOLSUPPORT_INPUTCHECK_H
#define MP_TOOLSUPPORT_INPUTCHECK_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace mlir::mp {

/// Deepest nesting of brackets accepted in text. Upstream's parser is quadratic in nested regions:
/// this depth takes seconds, twenty times it would take minutes.
inline constexpr unsigned kMaxNesting = 4096;

/// Errors, with position, where text is nested deeper than `limit` brackets, holds a NUL byte, or
/// starts with a byte order mark. Strings and comments are skipped; `// -----` starts anew.
llvm::Error checkText(llvm::MemoryBufferRef buffer, unsigned limit = kMaxNesting);

/// Runs `parse` in a child process first, with a limit of `seconds` of processor time: upstream's
/// bytecode reader can hang or crash on damaged files. Errors if the child neither succeeded nor
/// failed by itself. To be called before
/// thread pools exist; the child has the calling thread only.
llvm::Error probeInChild(llvm::MemoryBufferRef buffer, unsigned seconds,
                         llvm::function_ref<void()> parse);

} // namespace mlir::mp

#endif // MP_TOOLSUPPORT_INPUTCHECK_H
