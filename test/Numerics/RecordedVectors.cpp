// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RecordedVectors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

#ifndef MP_SHARED_DIR
#define MP_SHARED_DIR ""
#endif

using namespace mpcore::numerics::test;

namespace {

/// A folder that goes when the program ends.
struct TemporaryFolder {
  llvm::SmallString<128> path;
  TemporaryFolder() {
    if (llvm::sys::fs::createUniqueDirectory("tensor-core-vectors", path))
      path.clear();
  }
  ~TemporaryFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
};

bool unpack(llvm::StringRef archive, llvm::StringRef folder, std::string &why) {
  llvm::ErrorOr<std::string> tar = llvm::sys::findProgramByName("tar");
  if (!tar) {
    why = "no program 'tar' to unpack " + archive.str();
    return false;
  }
  int status = llvm::sys::ExecuteAndWait(*tar, {*tar, "-C", folder, "-xf", archive});
  if (status != 0)
    why = "tar could not unpack " + archive.str();
  return status == 0;
}

std::vector<float> readNumbers(llvm::StringRef path, unsigned radix) {
  std::vector<float> numbers;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return numbers;
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef rest = (*buffer)->getBuffer();
  while (true) {
    auto [word, tail] = llvm::getToken(rest);
    if (word.empty())
      return numbers;
    uint32_t bits;
    if (word.getAsInteger(radix, bits))
      return {};
    numbers.push_back(llvm::bit_cast<float>(bits));
    rest = tail;
  }
}

} // namespace

std::optional<std::string> mpcore::numerics::test::recordedVectors(std::string &why) {
  static TemporaryFolder folder;
  static std::string reason;
  static const bool there = [] {
    const char *fromEnvironment = std::getenv("MP_SHARED_DIR");
    llvm::SmallString<128> archive(fromEnvironment ? fromEnvironment : MP_SHARED_DIR);
    llvm::sys::path::append(archive, "testdata", "tensor-core-vectors.tar.xz");
    if (!llvm::sys::fs::exists(archive)) {
      reason = "no recorded vectors at " + archive.str().str() +
               "; set MP_SHARED_DIR to the folder that holds testdata";
      return false;
    }
    return !folder.path.empty() && unpack(archive, folder.path, reason);
  }();
  why = reason;
  if (!there)
    return std::nullopt;
  llvm::SmallString<128> root(folder.path);
  llvm::sys::path::append(root, "tensor-core-vectors");
  return root.str().str();
}

std::optional<RecordedSet> mpcore::numerics::test::readRecordedSet(const std::string &root,
                                                                   const std::string &gpu,
                                                                   const std::string &type,
                                                                   const std::string &result) {
  std::string base = root + "/" + gpu + "/" + type + "/";
  RecordedSet set;
  set.a = readNumbers(base + "a_" + gpu + "_" + type + ".txt", 16);
  set.b = readNumbers(base + "b_" + gpu + "_" + type + ".txt", 16);
  set.c = readNumbers(base + "c_" + gpu + "_fp32.txt", 2);
  set.d = readNumbers(base + "d_" + gpu + "_" + result + ".txt", 2);
  size_t records = set.d.size();
  if (records == 0 || set.c.size() != records || set.a.size() != set.b.size() ||
      set.a.size() % records != 0)
    return std::nullopt;
  set.k = unsigned(set.a.size() / records);
  return set;
}
