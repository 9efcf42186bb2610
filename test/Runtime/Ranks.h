// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs ranks as threads of a test.

#ifndef MP_TEST_RUNTIME_RANKS_H
#define MP_TEST_RUNTIME_RANKS_H

#include "mp/Runtime/Collectives.h"
#include "mp/Runtime/Runtime.h"

#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

/// Runs `body(rank)` on every rank as compiled code is run; returns how each ended.
inline std::vector<std::string> runRanks(mp_rt_group *group, const std::function<void(int)> &body) {
  std::vector<std::string> ends(size_t(mp_rt_group_count(group)));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < int(ends.size()); ++rank)
    threads.emplace_back([&, rank] {
      mp_rt_group_enter(group, rank);
      const void *packed[] = {&body, &rank};
      int64_t code = mp_rt_invoke(
          [](void **words) {
            (*static_cast<const std::function<void(int)> *>(words[0]))(
                *static_cast<const int *>(words[1]));
          },
          const_cast<void **>(packed));
      ends[size_t(rank)] = code ? std::to_string(code) + " " + mp_rt_failure_text() : "";
      mp_rt_release();
      mp_rt_group_leave();
    });
  for (std::thread &thread : threads)
    thread.join();
  return ends;
}

struct Group {
  mp_rt_group *group;
  explicit Group(int ranks) : group(mp_rt_group_create(ranks, nullptr)) {}
  ~Group() { mp_rt_group_destroy(group); }
};

/// Values whose sum depends on the order.
inline float valueOf(int rank, int i) {
  return std::ldexp(1.0f + float(i % 7) / 7, (rank * 5 + i) % 25);
}

#endif // MP_TEST_RUNTIME_RANKS_H
