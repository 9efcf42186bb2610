// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporary file and rename.

#include "mp/ToolSupport/OutputFile.h"
#include "CrashGuard.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace mlir::mp;

static Error cannotWrite(StringRef path, std::error_code code) {
  return createStringError(code, "cannot write output file '%s': %s", path.str().c_str(),
                           code.message().c_str());
}

Expected<std::unique_ptr<OutputFile>> OutputFile::open(StringRef path) {
  std::unique_ptr<OutputFile> file(new OutputFile());
  if (path == "-") {
    file->path = "-";
    file->stream = &outs();
    return file;
  }
  SmallString<256> real;
  file->path = sys::fs::real_path(path, real) ? path.str() : real.str().str();
  sys::fs::file_status status;
  bool exists = !sys::fs::status(file->path, status) && sys::fs::exists(status);
  if (exists && sys::fs::is_directory(status))
    return cannotWrite(path, std::make_error_code(std::errc::is_a_directory));

  std::error_code code;
  if (exists && !sys::fs::is_regular_file(status)) { // a device or pipe cannot be renamed onto
    file->owned = std::make_unique<raw_fd_ostream>(file->path, code);
    if (code)
      return cannotWrite(path, code);
    file->stream = file->owned.get();
    return file;
  }
  if (exists && sys::fs::access(file->path, sys::fs::AccessMode::Write))
    return cannotWrite(path, std::make_error_code(std::errc::permission_denied));

  int descriptor = -1;
  SmallString<256> temporary;
  unsigned mode = exists ? status.permissions() : sys::fs::all_read | sys::fs::all_write;
  code = sys::fs::createUniqueFile(file->path + ".%%%%%%%%.tmp", descriptor, temporary,
                                   sys::fs::OF_None, mode);
  if (code)
    return cannotWrite(path, code);
  file->temporary = temporary.str().str();
  setFileToRemove(file->temporary);
  file->owned = std::make_unique<raw_fd_ostream>(descriptor, /*shouldClose=*/true);
  file->stream = file->owned.get();
  return file;
}

OutputFile::~OutputFile() {
  if (stream && stream->has_error())
    stream->clear_error(); // an uncommitted file may be incomplete; a committed one has reported
  owned.reset();
  if (!temporary.empty()) {
    sys::fs::remove(temporary);
    setFileToRemove("");
  }
}

Error OutputFile::commit() {
  stream->flush();
  if (owned)
    owned->close();
  if (stream->has_error()) {
    std::error_code code = stream->error();
    stream->clear_error();
    return cannotWrite(path, code);
  }
  if (!temporary.empty()) {
    if (std::error_code code = sys::fs::rename(temporary, path))
      return cannotWrite(path, code);
    temporary.clear();
    setFileToRemove("");
  }
  return Error::success();
}
