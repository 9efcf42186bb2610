// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input that would hurt the parser is refused with words before it gets there.

#ifndef MP_TOOLSUPPORT_INPUTCHECK_H
#define MP_TOOLSUPPORT_INPUTCHECK_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <optional>

namespace mlir {
class Operation;
}

namespace mlir::mp {

/// Deepest nesting of brackets accepted in text. Upstream's parser is quadratic in nested regions:
/// this depth takes seconds, twenty times it would take minutes.
inline constexpr unsigned kMaxNesting = 4096;

/// Errors, with position, where text is nested deeper than `limit` brackets, holds a NUL byte, or
/// starts with a byte order mark. Strings and comments are skipped; `// -----` starts anew.
llvm::Error checkText(llvm::MemoryBufferRef buffer, unsigned limit = kMaxNesting);

/// Upstream's bytecode reader can hang or crash on damaged files. While this lives, a crash, or
/// taking more than `seconds` of processor time, ends the process as an error of `buffer`. At most
/// one at a time, inside of runTool().
class BytecodeWatch {
public:
  BytecodeWatch(llvm::MemoryBufferRef buffer, unsigned seconds);
  BytecodeWatch(const BytecodeWatch &) = delete;
  BytecodeWatch &operator=(const BytecodeWatch &) = delete;
  ~BytecodeWatch() { end(); }

  /// The reader is through: crashes are our own again.
  void end();
};

/// Checks text before it is parsed. Of bytecode, which needs no such check, the reader is watched
/// until `watch` ends; it gets two seconds, and one for each two megabytes.
llvm::Error checkInput(llvm::MemoryBufferRef buffer, std::optional<BytecodeWatch> &watch);

/// Errors where `module`, which was read from bytecode, holds a type that the parser of text would
/// refuse, such as a tensor of a negative size: upstream's reader makes types without asking
/// whether they are valid, and passes rely on it that they are.
llvm::Error checkTypes(Operation *module);

} // namespace mlir::mp

#endif // MP_TOOLSUPPORT_INPUTCHECK_H
