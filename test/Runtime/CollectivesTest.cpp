// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives between threads: results, the tree, and every way in which ranks fail to meet.

#include "Ranks.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

/// The sum as the header describes it, written as an expression on the values of all ranks.
static float tree(const std::vector<float> &values, size_t low, size_t high) {
  if (high - low == 1)
    return values[low];
  size_t half = 1;
  while (half * 2 < high - low)
    half *= 2;
  return tree(values, low, low + half) + tree(values, low + half, high);
}

TEST(Collectives, SumsAreTheTreeForEveryNumberOfRanks) {
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8}) {
    for (int count : {0, 1, 5, 64}) {
      Group g(ranks);
      std::vector<std::vector<float>> results(size_t(ranks), std::vector<float>(size_t(count), -1));
      auto ends = runRanks(g.group, [&](int rank) {
        float own[64];
        for (int i = 0; i < count; ++i)
          own[i] = valueOf(rank, i);
        mp_rt_all_reduce(own, results[size_t(rank)].data(), count, MP_RT_F32, MP_RT_SUM);
      });
      for (const std::string &end : ends)
        EXPECT_EQ(end, "");
      for (int i = 0; i < count; ++i) {
        std::vector<float> values;
        for (int rank = 0; rank < ranks; ++rank)
          values.push_back(valueOf(rank, i));
        for (int rank = 0; rank < ranks; ++rank)
          EXPECT_EQ(results[size_t(rank)][size_t(i)], tree(values, 0, values.size()))
              << ranks << " ranks, rank " << rank << ", element " << i;
      }
    }
  }
}

TEST(Collectives, GroupsOfRanksAreSubtreesOfMore) {
  // Each of 4 ranks brings the sum of two of 8: the same bits.
  std::vector<float> eight;
  for (int rank = 0; rank < 8; ++rank)
    eight.push_back(valueOf(rank, 3));
  Group g(4);
  float result = 0;
  runRanks(g.group, [&](int rank) {
    float own = eight[size_t(2 * rank)] + eight[size_t(2 * rank + 1)], all = 0;
    mp_rt_all_reduce(&own, &all, 1, MP_RT_F32, MP_RT_SUM);
    if (rank == 0)
      result = all;
  });
  EXPECT_EQ(result, tree(eight, 0, 8));
}

TEST(Collectives, ScatteredSumsAreThePartsOfAllReduce) {
  const int ranks = 3, outer = 2, count = 4;
  Group g(ranks);
  std::vector<float> whole(size_t(outer * ranks * count));
  std::vector<std::vector<float>> parts(ranks, std::vector<float>(size_t(outer * count)));
  auto ends = runRanks(g.group, [&](int rank) {
    float own[outer * ranks * count];
    for (int i = 0; i < outer * ranks * count; ++i)
      own[i] = valueOf(rank, i);
    std::vector<float> &all = whole;
    float mine[outer * ranks * count];
    mp_rt_all_reduce(own, mine, outer * ranks * count, MP_RT_F32, MP_RT_SUM);
    if (rank == 0)
      all.assign(mine, mine + outer * ranks * count);
    mp_rt_reduce_scatter(own, parts[size_t(rank)].data(), outer, count, MP_RT_F32, MP_RT_SUM);
  });
  for (const std::string &end : ends)
    EXPECT_EQ(end, "");
  for (int rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < outer; ++i)
      for (int j = 0; j < count; ++j)
        EXPECT_EQ(parts[size_t(rank)][size_t(i * count + j)],
                  whole[size_t((i * ranks + rank) * count + j)]);
}

TEST(Collectives, NarrowPartsAreSummedWide) {
  // 1 + 2^-8, as bf16 parts: a sum in bf16 would be 1.
  const int ranks = 2;
  Group g(ranks);
  const uint16_t one = 0x3F80, little = 0x3B80;
  std::vector<float> parts(ranks);
  auto ends = runRanks(g.group, [&](int rank) {
    uint16_t own[ranks] = {rank == 0 ? one : little, rank == 0 ? little : one};
    mp_rt_reduce_scatter_wide(own, &parts[size_t(rank)], 1, 1, MP_RT_BF16, MP_RT_SUM);
  });
  for (const std::string &end : ends)
    EXPECT_EQ(end, "");
  EXPECT_EQ(parts[0], 1.00390625f);
  EXPECT_EQ(parts[1], 1.00390625f);
  EXPECT_EQ(mp_rt_group_bytes_sent(g.group), 2);
}

TEST(Collectives, DoublesAreNotSummedInSingle) {
  Group g(1);
  auto ends = runRanks(g.group, [&](int) {
    double own = 1;
    float to;
    mp_rt_reduce_scatter_wide(&own, &to, 1, 1, MP_RT_F64, MP_RT_SUM);
  });
  EXPECT_NE(ends[0].find("ranks cannot sum elements of type 0 in f32"), std::string::npos)
      << ends[0];
}

TEST(Collectives, GatheredPartsLieInTheOrderOfRanks) {
  Group g(3);
  std::vector<std::vector<int32_t>> results(3, std::vector<int32_t>(12));
  runRanks(g.group, [&](int rank) {
    int32_t own[4] = {rank * 10, rank * 10 + 1, rank * 10 + 2, rank * 10 + 3};
    mp_rt_all_gather(own, results[size_t(rank)].data(), /*outer=*/2, /*bytes=*/8);
  });
  for (const auto &result : results)
    EXPECT_EQ(result, (std::vector<int32_t>{0, 1, 10, 11, 20, 21, 2, 3, 12, 13, 22, 23}));
}

TEST(Collectives, MaximaLetNaNThroughAndMaxNumDropsIt) {
  Group g(2);
  float maximum = 0, maxnum = 0;
  runRanks(g.group, [&](int rank) {
    float own = rank == 0 ? NAN : 2.0f, a = 0, b = 0;
    mp_rt_all_reduce(&own, &a, 1, MP_RT_F32, MP_RT_MAXIMUM);
    mp_rt_all_reduce(&own, &b, 1, MP_RT_F32, MP_RT_MAXNUM);
    if (rank == 1)
      maximum = a, maxnum = b;
  });
  EXPECT_TRUE(std::isnan(maximum));
  EXPECT_EQ(maxnum, 2.0f);
}

TEST(Collectives, OneFlagOfAnyRankIsSeenByAll) {
  Group g(4);
  std::vector<int8_t> seen(4);
  runRanks(g.group, [&](int rank) {
    int8_t own = rank == 2;
    mp_rt_all_reduce(&own, &seen[size_t(rank)], 1, MP_RT_INTEGER + 1, MP_RT_OR);
  });
  EXPECT_EQ(seen, (std::vector<int8_t>{1, 1, 1, 1}));
}

TEST(Messages, AreFoundByNumberAndInTheirOrder) {
  Group g(2);
  std::vector<int32_t> got(3);
  auto ends = runRanks(g.group, [&](int rank) {
    if (rank == 0) {
      for (int32_t value : {7, 8, 9}) // the sender does not wait, and may use its buffer again
        mp_rt_send(&value, 4, /*to=*/1, /*tag=*/value == 8);
      return;
    }
    mp_rt_receive(&got[0], 4, /*from=*/0, /*tag=*/1);
    mp_rt_receive(&got[1], 4, /*from=*/0, /*tag=*/0);
    mp_rt_receive(&got[2], 4, /*from=*/0, /*tag=*/0);
  });
  EXPECT_EQ(ends, std::vector<std::string>(2));
  EXPECT_EQ(got, (std::vector<int32_t>{8, 7, 9}));
  EXPECT_EQ(mp_rt_group_messages(g.group), 3);
  EXPECT_EQ(mp_rt_group_message_bytes(g.group), 12);
}

TEST(Messages, OfAnotherSizeAreAnError) {
  Group g(2);
  auto ends = runRanks(g.group, [&](int rank) {
    int64_t value = 0;
    if (rank == 0)
      mp_rt_send(&value, 8, 1, 0);
    else
      mp_rt_receive(&value, 4, 0, 0);
  });
  EXPECT_NE(ends[1].find("rank 1 expected a message of 4 bytes from rank 0, found 8"),
            std::string::npos)
      << ends[1];
}

TEST(Messages, ThatNobodySendsAreNotWaitedForWithoutEnd) {
  Group g(2);
  mp_rt_group_set_deadline(g.group, 0.05);
  auto ends = runRanks(g.group, [&](int rank) {
    int32_t value = 0;
    if (rank == 1)
      mp_rt_receive(&value, 4, 0, 3);
  });
  EXPECT_NE(ends[1].find("rank 1 waited 0.05 s for a message of rank 0"), std::string::npos)
      << ends[1];
}

TEST(Collectives, CountsCallsAndBytesOfOneRank) {
  Group g(4);
  runRanks(g.group, [&](int) {
    float own[10] = {}, all[10];
    mp_rt_all_reduce(own, all, 10, MP_RT_F32, MP_RT_SUM); // 3 elements a rank, twice to 3 others
  });
  EXPECT_EQ(mp_rt_group_calls(g.group), 1);
  EXPECT_EQ(mp_rt_group_bytes_sent(g.group), 2 * 3 * 3 * 4);
}

TEST(Collectives, RanksThatExchangeDifferentThingsFail) {
  Group g(2);
  auto ends = runRanks(g.group, [&](int rank) {
    float own[8] = {}, all[8];
    mp_rt_all_reduce(own, all, rank == 0 ? 8 : 4, MP_RT_F32, MP_RT_SUM);
  });
  for (const std::string &end : ends)
    EXPECT_NE(end.find("ranks disagree"), std::string::npos) << end;
}

TEST(Collectives, RanksThatAreWaitedForTooLongFailThoseWhoWait) {
  Group g(2);
  mp_rt_group_set_deadline(g.group, 0.05);
  auto ends = runRanks(g.group, [&](int rank) {
    float own = 0, all = 0;
    if (rank == 0)
      mp_rt_all_reduce(&own, &all, 1, MP_RT_F32, MP_RT_SUM);
  });
  EXPECT_EQ(ends[1], "");
  EXPECT_NE(ends[0].find("waited"), std::string::npos) << ends[0];
}

TEST(Collectives, ARankThatEndsEarlyEndsTheOthersWithItsReason) {
  Group g(2);
  auto ends = runRanks(g.group, [&](int rank) {
    float own = 0, all = 0;
    if (rank == 1)
      mp_rt_group_fail(g.group, "rank 1 lost its data");
    else
      mp_rt_all_reduce(&own, &all, 1, MP_RT_F32, MP_RT_SUM);
  });
  EXPECT_NE(ends[0].find("rank 1 lost its data"), std::string::npos) << ends[0];
  EXPECT_STREQ(mp_rt_group_error(g.group), "rank 1 lost its data");
}

TEST(Collectives, OutsideOfAGroupIsAnError) {
  int64_t code = mp_rt_invoke([](void **) { mp_rt_rank(); }, nullptr);
  EXPECT_EQ(code, MP_RT_COLLECTIVE_FAILED);
  EXPECT_NE(std::string(mp_rt_failure_text()).find("outside of a group"), std::string::npos);
  mp_rt_release();
}

TEST(Collectives, RanksThatProcessesCannotShareEquallyAreRefused) {
  mp_rt_transport three{};
  three.processes = 3;
  EXPECT_EQ(mp_rt_group_create(4, &three), nullptr);
  EXPECT_EQ(mp_rt_group_create(0, nullptr), nullptr);
}
