// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread that looks at the clock: limits of time and memory, and progress on a terminal.

#ifndef MP_LIB_TOOLSUPPORT_WATCH_H
#define MP_LIB_TOOLSUPPORT_WATCH_H

#include "mp/ToolSupport/CommonOptions.h"
#include "llvm/ADT/StringRef.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mlir::mp {

/// While it lives, a limit that is passed ends the process within a tenth of a second, and a run of
/// more than two seconds says now and then what it does, where standard error is a terminal.
class Watch {
public:
  Watch(llvm::StringRef tool, const CommonOptions &options);
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;
  ~Watch();

private:
  void look();
  void printProgress(double seconds);

  std::string tool;
  CommonOptions options;
  bool showsProgress;
  double nextProgress = 2; ///< seconds since the start
  std::mutex lock;
  std::condition_variable ended;
  bool isOver = false;
  std::thread thread;
};

} // namespace mlir::mp

#endif // MP_LIB_TOOLSUPPORT_WATCH_H
