// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Record.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mpcore::numerics;
using namespace mpcore::numerics::sweep;

static std::string rowKey(const Reference &reference, const Task &task, Ask ask) {
  return ("| " + task.to.name + " | " + toString(task.rounding) + " | " + reference.name() + " | " +
          (ask == Ask::Each ? "each" : "ends") + " |")
      .str();
}

bool Record::has(const Reference &reference, const Task &task, Ask ask) const {
  if (path.empty())
    return false;
  auto file = llvm::MemoryBuffer::getFile(path);
  return file && (*file)->getBuffer().contains("\n" + rowKey(reference, task, ask));
}

bool Record::add(const Reference &reference, const Task &task, Ask ask,
                 const Counts &counts) const {
  if (path.empty())
    return true;
  std::error_code error;
  llvm::raw_fd_ostream file(path, error, llvm::sys::fs::OF_Append);
  if (error) {
    llvm::errs() << "--record=" << path << ": " << error.message() << "\n";
    return false;
  }
  file << rowKey(reference, task, ask) << ' ' << counts.checked << " | " << counts.asked << " | "
       << counts.skipped << " | " << counts.different << " |\n";
  return true;
}
