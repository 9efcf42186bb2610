// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wakes up twenty times a second.

#include "Watch.h"
#include "CrashGuard.h"
#include "mp/Support/Files.h"
#include "mp/Support/Memory.h"
#include "mp/Support/Progress.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <unistd.h>

using namespace mlir::mp;
using namespace mpcore::support;

Watch::Watch(llvm::StringRef tool, const CommonOptions &options)
    : tool(tool), options(options), showsProgress(!options.quiet && isatty(STDERR_FILENO)) {
  (void)secondsSinceStart(); // from here
  if (options.maxMemory == 0 && options.maxSeconds == 0 && !showsProgress)
    return;
  thread = std::thread([this] {
    guardThisThread();
    std::unique_lock guard(lock);
    do
      look();
    while (!ended.wait_for(guard, std::chrono::milliseconds(50), [&] { return isOver; }));
  });
}

Watch::~Watch() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard guard(lock);
    isOver = true;
  }
  ended.notify_all();
  thread.join();
}

void Watch::look() {
  double seconds = secondsSinceStart();
  if (options.maxSeconds > 0 && seconds > options.maxSeconds && claimEnd())
    endProcess(ErrorCode::LimitOfTime,
               llvm::formatv("error: --max-seconds={0} are over, in: {1}; no output was written",
                             options.maxSeconds, currentStage())
                   .str());
  if (options.maxMemory > 0 && residentMemory() > options.maxMemory && claimEnd())
    endProcess(ErrorCode::LimitOfMemory,
               llvm::formatv("error: more than --max-memory={0} are held, in: {1}; no output was "
                             "written",
                             formatBytes(options.maxMemory), currentStage())
                   .str());
  if (showsProgress && seconds >= nextProgress)
    printProgress(seconds);
}

void Watch::printProgress(double seconds) {
  llvm::errs() << tool << ": " << llvm::format("%.0f s, ", seconds) << formatBytes(residentMemory())
               << ", " << currentStage() << "\n";
  nextProgress = seconds * 1.5 + 1; // fewer and fewer lines
}
