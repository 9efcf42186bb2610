// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes files beside their final name and renames them when they are whole.

#include "OutputFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

using namespace mlir;

LogicalResult mlir::mp::writeWhole(StringRef dir, StringRef name, StringRef content, Location loc) {
  SmallString<128> path(dir);
  if (std::error_code error = llvm::sys::fs::create_directories(dir))
    return emitError(loc) << "cannot create folder '" << dir << "': " << error.message();
  llvm::sys::path::append(path, name);
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
    stream << content;
    return llvm::Error::success();
  });
  if (error)
    return emitError(loc) << "cannot write '" << path << "': " << toString(std::move(error));
  return success();
}
