// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats locations as file, line and name, and collects the names in them.

#include "mp/Analysis/Locations.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mp;

/// Code of installed packages of Python: the frames of a framework.
static bool isOfFramework(FileLineColLoc frame) {
  StringRef file = frame.getFilename().getValue();
  return file.contains("/site-packages/") || file.contains("/dist-packages/");
}

/// The innermost frame of the user's own code: of a call, the callee comes before its callers.
static FileLineColLoc userFrame(Location location) {
  FileLineColLoc innermost, users;
  location->walk([&](Location inner) {
    auto frame = dyn_cast<FileLineColLoc>(inner);
    if (frame && !innermost)
      innermost = frame;
    if (frame && !users && !isOfFramework(frame))
      users = frame;
    return users ? WalkResult::interrupt() : WalkResult::advance();
  });
  return users ? users : innermost;
}

/// The text, with U+FFFD for what is no UTF-8. Names are asked for often, and are mended slowly.
static std::string readable(std::string text) {
  return llvm::json::isUTF8(text) ? std::move(text) : llvm::json::fixUTF8(text);
}

std::string mlir::mp::describeLocation(Location location) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto file = userFrame(location))
    os << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn();
  else if (auto name = location->findInstanceOf<NameLoc>())
    os << name.getName().getValue();
  else
    os << "unknown";
  return readable(std::move(text));
}

SmallVector<std::string> mlir::mp::namesIn(Location location) {
  SmallVector<std::string> names;
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner))
      names.push_back(readable(name.getName().str()));
    return WalkResult::advance();
  });
  return names;
}

std::string mlir::mp::folderOf(StringRef name) {
  size_t end = name.find_last_of("./");
  std::string folder = end == StringRef::npos ? "" : name.take_front(end).str();
  std::replace(folder.begin(), folder.end(), '.', '/');
  return folder;
}
