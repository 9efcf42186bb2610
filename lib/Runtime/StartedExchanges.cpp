// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets ranks go on between the start of an exchange and its end: what is sent waits with the group,
// and moves between processes meanwhile.

#include "RankGroup.h"

#include <chrono>
#include <cstring>

using mpcore::runtime::CallSignature, mpcore::runtime::describe, mpcore::runtime::secondsText;

int64_t mp_rt_group::mostUnderWay() const {
  std::lock_guard guard(lock);
  return most;
}

int64_t mp_rt_group::start(int rank, std::vector<char> send, int64_t bytes,
                           const CallSignature &signature) {
  std::lock_guard guard(lock);
  if (!reason.empty())
    return -1;
  const int64_t number = startCount[size_t(rank - first)]++;
  Started &exchange = started[number];
  if (exchange.arrived == 0) {
    exchange.signature = signature;
    exchange.bytes = bytes;
    exchange.send.resize(size_t(count));
  } else if (!(exchange.signature == signature)) {
    reason = "ranks disagree in what they exchange: " + describe(signature) + " and " +
             describe(exchange.signature) + "; they must run one program on one input";
  }
  exchange.send[size_t(rank - first)] = std::move(send);
  if (rank == first)
    most = std::max(most, ++underWay);
  // In the first call processes compare what they exchange before they do: blocks of different
  // sizes would not tell.
  if (reason.empty() && ++exchange.arrived == count && (hasEndedCall || agree(signature)))
    begin(exchange);
  changed.notify_all();
  return reason.empty() ? number : -1;
}

/// All ranks hosted here have come: what belongs to other processes sets out.
bool mp_rt_group::begin(Started &exchange) {
  if (processes == 1)
    return exchange.isWaitedFor = true;
  const int64_t ranksOfOne = count * exchange.bytes, all = count * ranksOfOne,
                block = int64_t(sizeof(CallSignature)) + all;
  exchange.out.resize(size_t(block * processes));
  exchange.in.resize(exchange.out.size());
  for (int64_t q = 0; q < processes; ++q) {
    char *to = exchange.out.data() + q * block;
    std::memcpy(to, &exchange.signature, sizeof(CallSignature));
    for (int64_t from = 0; from < count; ++from)
      std::memcpy(to + sizeof(CallSignature) + from * ranksOfOne,
                  exchange.send[size_t(from)].data() + q * ranksOfOne, size_t(ranksOfOne));
  }
  if (!transport->start_all_to_all || !transport->wait)
    return true; // await() moves it
  if (transport->start_all_to_all(transport->state, exchange.out.data(), exchange.in.data(), block,
                                  &exchange.request) == 0)
    return true;
  reason = transport->error(transport->state);
  return false;
}

/// Waits for what other processes send.
bool mp_rt_group::await(Started &exchange) {
  if (exchange.isWaitedFor)
    return true;
  const int64_t block = int64_t(exchange.out.size()) / processes;
  const int code = transport->start_all_to_all && transport->wait
                       ? transport->wait(transport->state, exchange.request, deadline)
                       : transport->all_to_all(transport->state, exchange.out.data(),
                                               exchange.in.data(), block, deadline);
  if (code != 0) {
    reason = transport->error(transport->state);
    return false;
  }
  for (int64_t p = 0; p < processes; ++p) {
    CallSignature other;
    std::memcpy(&other, exchange.in.data() + p * block, sizeof(other));
    if (!(other == exchange.signature)) {
      reason = "processes disagree in what they exchange: " + describe(exchange.signature) +
               " and " + describe(other) + "; they must run one program on one input";
      return false;
    }
  }
  return exchange.isWaitedFor = true;
}

bool mp_rt_group::finish(int rank, int64_t number, void *receive) {
  std::unique_lock guard(lock);
  auto found = started.find(number);
  if (reason.empty() && found == started.end())
    reason = "an exchange is finished that was not started";
  if (!reason.empty())
    return false;
  Started &exchange = found->second;
  auto isThere = [&] { return exchange.arrived == count || !reason.empty(); };
  if (!changed.wait_for(guard, std::chrono::duration<double>(deadline), isThere))
    reason = "rank " + std::to_string(rank) + " waited " + secondsText(deadline) + " s for " +
             std::to_string(count - exchange.arrived) + " of " + std::to_string(count) +
             " ranks in its process";
  if (!reason.empty() || !await(exchange)) {
    changed.notify_all();
    return false;
  }
  const int64_t bytes = exchange.bytes, block = int64_t(exchange.out.size()) / processes;
  char *to = static_cast<char *>(receive);
  for (int64_t from = 0; from < ranks; ++from) {
    const char *sent = processes == 1 ? exchange.send[size_t(from)].data() + rank * bytes
                                      : exchange.in.data() + from / count * block +
                                            int64_t(sizeof(CallSignature)) +
                                            (from % count * count + rank - first) * bytes;
    std::memcpy(to + from * bytes, sent, size_t(bytes));
  }
  if (rank == first)
    --underWay;
  if (++exchange.taken == count)
    started.erase(found);
  return true;
}
