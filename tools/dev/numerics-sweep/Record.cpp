// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Record.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mp::numerics;
using namespace mp::numerics::sweep;

static std::string rowKey(const Judge &judge, const Task &task, Ask ask) {
  return ("| " + task.to.name + " | " + toString(task.rounding) + " | " + judge.name() + " | " +
          (ask == Ask::Each ? "each" : "ends") + " |")
      .str();
}

bool Record::has(const Judge &judge, const Task &task, Ask ask) const {
  if (path.empty())
    return false;
  auto file = llvm::MemoryBuffer::getFile(path);
  return file && (*file)->getBuffer().contains("\n" + rowKey(judge, task, ask));
}

bool Record::add(const Judge &judge, const Task &task, Ask ask, const Counts &counts) const {
  if (path.empty())
    return true;
  std::error_code error;
  llvm::raw_fd_ostream file(path, error, llvm::sys::fs::OF_Append);
  if (error) {
    llvm::errs() << "--record=" << path << ": " << error.message() << "\n";
    return false;
  }
  file << rowKey(judge, task, ask) << ' ' << counts.judged << " | " << counts.asked << " | "
       << counts.skipped << " | " << counts.different << " |\n";
  return true;
}
