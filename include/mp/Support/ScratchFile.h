// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that programs are handed, and that nobody keeps.

#ifndef MP_SUPPORT_SCRATCHFILE_H
#define MP_SUPPORT_SCRATCHFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/ToolOutputFile.h"

#include <memory>
#include <string>

namespace mpcore::support {

/// A file in the folder of temporary files. It goes away with this object, and when a signal ends
/// the process. Errors name the folder or the file, and the system's reason.
class ScratchFile {
public:
  /// An empty file whose name begins with `name` and ends with ".`suffix`".
  static llvm::Expected<ScratchFile> create(llvm::StringRef name, llvm::StringRef suffix);
  /// Makes the same, and `write` fills it.
  static llvm::Expected<ScratchFile> create(llvm::StringRef name, llvm::StringRef suffix,
                                            llvm::function_ref<void(llvm::raw_ostream &)> write);

  llvm::StringRef path() const { return file->Filename; }
  /// Returns what the file holds now; nothing where a program took it away.
  std::string read() const;

private:
  explicit ScratchFile(llvm::StringRef path)
      : file(std::make_unique<llvm::CleanupInstaller>(path)) {}

  std::unique_ptr<llvm::CleanupInstaller> file;
};

} // namespace mpcore::support

#endif // MP_SUPPORT_SCRATCHFILE_H
