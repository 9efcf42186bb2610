// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes, fills and removes temporary files.

#include "mp/Support/ScratchFile.h"

#include "mp/Support/ErrorCode.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpcore::support;

Expected<ScratchFile> ScratchFile::create(StringRef name, StringRef suffix) {
  return create(name, suffix, [](raw_ostream &) {});
}

Expected<ScratchFile> ScratchFile::create(StringRef name, StringRef suffix,
                                          function_ref<void(raw_ostream &)> write) {
  SmallString<128> path;
  int descriptor = -1;
  if (std::error_code code = sys::fs::createTemporaryFile(name, suffix, descriptor, path)) {
    SmallString<128> folder;
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
    return error(ErrorCode::CannotWrite, "cannot make a temporary file in '" + folder +
                                             "': " + code.message() + "; TMPDIR names the folder");
  }
  ScratchFile file(path);
  raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  write(os);
  os.close();
  if (!os.has_error())
    return std::move(file);
  std::error_code code = os.error();
  os.clear_error();
  return error(ErrorCode::CannotWrite, "cannot write temporary file '" + path +
                                           "': " + code.message() + "; TMPDIR names its folder");
}

std::string ScratchFile::read() const {
  auto buffer = MemoryBuffer::getFile(path());
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}
