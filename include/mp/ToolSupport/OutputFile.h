// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An output file that appears complete or not at all.

#ifndef MP_TOOLSUPPORT_OUTPUTFILE_H
#define MP_TOOLSUPPORT_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>

namespace mlir::mp {

/// Writes go to a temporary file beside the destination; `commit` renames it. Destroyed without
/// commit, or in a crash, the temporary is removed and an existing destination stays as it was.
/// "-" is standard output; devices and pipes are written directly.
class OutputFile {
public:
  /// Errors name the path and the system's reason.
  static llvm::Expected<std::unique_ptr<OutputFile>> open(llvm::StringRef path);
  ~OutputFile();

  llvm::raw_ostream &os() { return *stream; }

  /// Flushes and puts the file in place; an error of any earlier write (disk full) comes up here.
  llvm::Error commit();

private:
  OutputFile() = default;
  std::string path;      ///< destination, symbolic links resolved
  std::string temporary; ///< empty when writing directly
  std::unique_ptr<llvm::raw_fd_ostream> owned;
  llvm::raw_fd_ostream *stream = nullptr;
};

} // namespace mlir::mp

#endif // MP_TOOLSUPPORT_OUTPUTFILE_H
