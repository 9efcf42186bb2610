// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that ranks start, leave and finish: the bits of those they wait for, and who is asked when.

#include "Ranks.h"
#include "gtest/gtest.h"

#include <atomic>
#include <cstring>

TEST(StartedExchanges, SumsThatAreStartedEarlyHaveTheSameBitsAndBytes) {
  const int count = 6; // elements of each part
  for (int ranks : {1, 2, 3, 5}) {
    Group apart(ranks), together(ranks);
    auto sums = [&](mp_rt_group *group, bool early) {
      std::vector<std::vector<float>> all(size_t(ranks),
                                          std::vector<float>(size_t(3 * ranks * count)));
      auto ends = runRanks(group, [&](int rank) {
        std::vector<float> own(size_t(ranks * count));
        for (int i = 0; i < ranks * count; ++i)
          own[size_t(i)] = valueOf(rank, i);
        float *to[3];
        for (int i = 0; i < 3; ++i)
          to[i] = all[size_t(rank)].data() + i * ranks * count;
        if (early) {
          const int64_t first = mp_rt_start_all_reduce(own.data(), 5, MP_RT_F32, MP_RT_SUM),
                        second = mp_rt_start_reduce_scatter(own.data(), 2, count / 2, MP_RT_F32,
                                                            MP_RT_SUM);
          own[0] = 1e9f; // what was sent is a copy
          const int64_t third = mp_rt_start_all_reduce(own.data() + 1, 4, MP_RT_F32, MP_RT_MAXIMUM);
          mp_rt_finish_all_reduce(third, to[2], 4, MP_RT_F32, MP_RT_MAXIMUM);
          mp_rt_finish_all_reduce(first, to[0], 5, MP_RT_F32, MP_RT_SUM);
          mp_rt_finish_reduce_scatter(second, to[1], 2, count / 2, MP_RT_F32, MP_RT_SUM);
        } else {
          mp_rt_all_reduce(own.data(), to[0], 5, MP_RT_F32, MP_RT_SUM);
          mp_rt_reduce_scatter(own.data(), to[1], 2, count / 2, MP_RT_F32, MP_RT_SUM);
          mp_rt_all_reduce(own.data() + 1, to[2], 4, MP_RT_F32, MP_RT_MAXIMUM);
        }
      });
      for (const std::string &end : ends)
        EXPECT_EQ(end, "");
      return all;
    };
    EXPECT_EQ(sums(together.group, true), sums(apart.group, false)) << ranks << " ranks";
    EXPECT_EQ(mp_rt_group_calls(together.group), mp_rt_group_calls(apart.group));
    EXPECT_EQ(mp_rt_group_bytes_sent(together.group), mp_rt_group_bytes_sent(apart.group));
    EXPECT_EQ(mp_rt_group_most_under_way(together.group), 3);
    EXPECT_EQ(mp_rt_group_most_under_way(apart.group), 0);
  }
}

TEST(StartedExchanges, ARankGoesOnOnceItHasStarted) {
  Group g(2);
  mp_rt_group_set_deadline(g.group, 10);
  std::atomic<bool> hasGoneOn = false;
  auto ends = runRanks(g.group, [&](int rank) {
    while (rank == 1 && !hasGoneOn)
      std::this_thread::yield();
    float own = float(rank + 1), all = 0;
    const int64_t number = mp_rt_start_all_reduce(&own, 1, MP_RT_F32, MP_RT_SUM);
    hasGoneOn = true;
    mp_rt_finish_all_reduce(number, &all, 1, MP_RT_F32, MP_RT_SUM);
    EXPECT_EQ(all, 3);
  });
  EXPECT_EQ(ends, std::vector<std::string>(2));
}

namespace {
/// Plays a second process that does what this one does, and says in which order it is asked.
struct Echo : mp_rt_transport {
  std::string asked;
  Echo() : mp_rt_transport{} {
    state = this;
    processes = 2;
    all_gather = [](void *state, const void *send, void *receive, int64_t bytes, double) {
      static_cast<Echo *>(state)->asked += 'g';
      std::memcpy(receive, send, size_t(bytes));
      std::memcpy(static_cast<char *>(receive) + bytes, send, size_t(bytes));
      return 0;
    };
    start_all_to_all = [](void *state, const void *send, void *receive, int64_t bytes, void **) {
      static_cast<Echo *>(state)->asked += 's';
      for (int process : {0, 1}) // what goes to this process comes from both
        std::memcpy(static_cast<char *>(receive) + process * bytes, send, size_t(bytes));
      return 0;
    };
    wait = [](void *state, void *, double) {
      static_cast<Echo *>(state)->asked += 'w';
      return 0;
    };
  }
};
} // namespace

TEST(StartedExchanges, ProcessesStartEveryExchangeBeforeTheyWaitForOne) {
  Echo echo;
  mp_rt_group *group = mp_rt_group_create(2, &echo);
  EXPECT_EQ(mp_rt_group_end_call(group), 0); // of the first call, in which processes agree
  echo.asked.clear();
  auto ends = runRanks(group, [&](int) {
    float a[2] = {1, 2}, b[2] = {8, 9}, sums[2] = {};
    const int64_t first = mp_rt_start_all_reduce(a, 2, MP_RT_F32, MP_RT_SUM),
                  second = mp_rt_start_reduce_scatter(b, 1, 1, MP_RT_F32, MP_RT_SUM);
    echo.asked += '.'; // the backward pass
    mp_rt_finish_all_reduce(first, sums, 2, MP_RT_F32, MP_RT_SUM);
    EXPECT_EQ(sums[0], 2);
    mp_rt_finish_reduce_scatter(second, sums, 1, 1, MP_RT_F32, MP_RT_SUM);
    EXPECT_EQ(sums[0], 16);
  });
  EXPECT_EQ(ends, std::vector<std::string>(1));
  EXPECT_EQ(echo.asked, "ss.wggw"); // g: do processes agree, and the sums
  mp_rt_group_destroy(group);
}

TEST(StartedExchanges, RanksThatStartDifferentThingsFail) {
  Group g(2);
  auto ends = runRanks(g.group, [&](int rank) {
    float own[8] = {}, all[8];
    const int64_t number = mp_rt_start_all_reduce(own, rank == 0 ? 8 : 4, MP_RT_F32, MP_RT_SUM);
    mp_rt_finish_all_reduce(number, all, rank == 0 ? 8 : 4, MP_RT_F32, MP_RT_SUM);
  });
  for (const std::string &end : ends)
    EXPECT_NE(end.find("ranks disagree"), std::string::npos) << end;
}
