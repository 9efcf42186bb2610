// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps how many threads computations take.

#include "mp/Numerics/Threads.h"

#include <algorithm>
#include <atomic>
#include <thread>

static std::atomic<unsigned> chosen = 0;

void mpcore::numerics::setThreads(unsigned count) { chosen = count; }

unsigned mpcore::numerics::threadCount() {
  const unsigned count = chosen;
  return count ? count : std::max(1u, std::thread::hardware_concurrency());
}
