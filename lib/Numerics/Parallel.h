// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a loop on several threads.

#ifndef MP_LIB_NUMERICS_PARALLEL_H
#define MP_LIB_NUMERICS_PARALLEL_H

#include "mp/Numerics/Threads.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace mpcore::numerics::detail {

/// Calls body(i) for every i < count, on `threads` threads (0: as many as
/// threadCount()). Items are taken in order but run in any; they must not depend
/// on each other.
template <typename Body> void parallelFor(size_t count, unsigned threads, Body body) {
  if (threads == 0)
    threads = threadCount();
  threads = unsigned(std::min<size_t>(threads, count));
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      body(i);
  };
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
}

} // namespace mpcore::numerics::detail

#endif // MP_LIB_NUMERICS_PARALLEL_H
