// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes files into the folder of a pass.

#include "OutputFile.h"

#include "mp/Support/Files.h"
#include "llvm/Support/Path.h"

using namespace mlir;

LogicalResult mlir::mp::writeWhole(StringRef dir, StringRef name, StringRef content, Location loc) {
  SmallString<128> path(dir);
  llvm::sys::path::append(path, name);
  llvm::Error error = mpcore::support::makeFolder(dir, ("dir=" + dir).str());
  if (!error)
    error = mpcore::support::writeFile(path, ("dir: " + path).str(),
                                       [&](llvm::raw_ostream &stream) { stream << content; });
  return error ? emitError(loc) << toString(std::move(error)) : success();
}
