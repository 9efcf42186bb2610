// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets ranks meet: the threads of a process at a rendezvous, whose last one moves what belongs to
// other processes.

#include "RankGroup.h"

#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>

using mpcore::runtime::CallSignature, mpcore::runtime::describe, mpcore::runtime::secondsText;

mp_rt_group::mp_rt_group(int ranks, const mp_rt_transport *transport)
    : ranks(ranks), count(ranks / (transport ? transport->processes : 1)),
      first(transport ? transport->process * count : 0), transport(transport),
      processes(transport ? transport->processes : 1), offers(size_t(count)),
      startCount(size_t(count)) {}

std::string mpcore::runtime::describe(const CallSignature &s) {
  const char *kinds[] = {"all_reduce", "all_gather", "reduce_scatter"};
  if (s.kind == mpcore::runtime::EndOfCall)
    return "nothing more";
  return std::string(kinds[s.kind]) + " of " + std::to_string(s.amount) + " (element " +
         std::to_string(s.element) + ", combined by " + std::to_string(s.combine) + ")";
}

std::string mpcore::runtime::secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", seconds);
  return text;
}

void mp_rt_group::fail(const std::string &why) {
  std::lock_guard guard(lock);
  if (reason.empty())
    reason = why.empty() ? "a rank ended early" : why;
  changed.notify_all();
}

std::string mp_rt_group::error() const {
  std::lock_guard guard(lock);
  return reason;
}

void mp_rt_group::countCall(int64_t bytes) {
  std::lock_guard guard(lock);
  ++callCount;
  sent += bytes;
}
int64_t mp_rt_group::calls() const {
  std::lock_guard guard(lock);
  return callCount;
}
int64_t mp_rt_group::bytesSent() const {
  std::lock_guard guard(lock);
  return sent;
}

template <typename Meet> bool mp_rt_group::rendezvous(int rank, const Offer &offer, Meet meet) {
  std::unique_lock guard(lock);
  if (!reason.empty())
    return false;
  offers[size_t(rank - first)] = offer;
  int64_t own = round;
  if (++arrived < count) {
    auto done = [&] { return round != own || !reason.empty(); };
    if (!changed.wait_for(guard, std::chrono::duration<double>(deadline), done) && reason.empty()) {
      reason = "rank " + std::to_string(rank) + " waited " + secondsText(deadline) + " s for " +
               std::to_string(count - arrived) + " of " + std::to_string(count) +
               " ranks in its process";
      changed.notify_all();
    }
    return reason.empty();
  }
  arrived = 0;
  for (const Offer &other : offers)
    if (reason.empty() && !(other.signature == offer.signature))
      reason = "ranks disagree in what they exchange: " + describe(offer.signature) + " and " +
               describe(other.signature) + "; they must run one program on one input";
  if (reason.empty() && agree(offer.signature))
    meet();
  ++round;
  changed.notify_all();
  return reason.empty();
}

/// Compares this process's call with those of the others.
bool mp_rt_group::agree(const CallSignature &own) {
  if (processes == 1)
    return true;
  std::vector<CallSignature> all(size_t(processes), own);
  if (transport->all_gather(transport->state, &own, all.data(), sizeof(own), deadline)) {
    reason = transport->error(transport->state);
    return false;
  }
  for (const CallSignature &other : all)
    if (!(other == own)) {
      reason = "processes disagree in what they exchange: " + describe(own) + " and " +
               describe(other) + "; they must run one program on one input";
      return false;
    }
  return true;
}

bool mp_rt_group::endCall() {
  std::lock_guard guard(lock);
  return hasEndedCall = reason.empty() && agree({mpcore::runtime::EndOfCall, 0, 0, 0});
}

bool mp_rt_group::between(bool toAll, int64_t bytes) {
  auto *move = toAll ? transport->all_to_all : transport->all_gather;
  if (move(transport->state, out.data(), in.data(), bytes, deadline) == 0)
    return true;
  reason = transport->error(transport->state);
  return false;
}

bool mp_rt_group::allToAll(int rank, const void *send, void *receive, int64_t bytes,
                           const CallSignature &signature) {
  Offer offer{static_cast<const char *>(send), static_cast<char *>(receive), signature};
  auto put = [&](int64_t to, int64_t from, const char *block) {
    std::memcpy(offers[size_t(to)].receive + from * bytes, block, size_t(bytes));
  };
  return rendezvous(rank, offer, [&] {
    if (processes == 1) {
      for (int64_t to = 0; to < count; ++to)
        for (int64_t from = 0; from < count; ++from)
          put(to, from, offers[size_t(from)].send + to * bytes);
      return;
    }
    // Between processes p and q: the blocks of each rank of p for each rank of q.
    int64_t pair = int64_t(count) * count * bytes;
    out.resize(size_t(pair * processes));
    in.resize(out.size());
    for (int64_t q = 0; q < processes; ++q)
      for (int64_t from = 0; from < count; ++from)
        std::memcpy(out.data() + q * pair + from * count * bytes,
                    offers[size_t(from)].send + q * count * bytes, size_t(count * bytes));
    if (!between(/*toAll=*/true, pair))
      return;
    for (int64_t p = 0; p < processes; ++p)
      for (int64_t from = 0; from < count; ++from)
        for (int64_t to = 0; to < count; ++to)
          put(to, p * count + from, in.data() + p * pair + (from * count + to) * bytes);
  });
}

bool mp_rt_group::allGather(int rank, const void *send, void *receive, int64_t bytes,
                            const CallSignature &signature) {
  Offer offer{static_cast<const char *>(send), static_cast<char *>(receive), signature};
  return rendezvous(rank, offer, [&] {
    out.resize(size_t(count * bytes));
    in.resize(size_t(ranks * bytes));
    for (int64_t from = 0; from < count; ++from)
      std::memcpy(out.data() + from * bytes, offers[size_t(from)].send, size_t(bytes));
    if (processes == 1)
      in = out;
    else if (!between(/*toAll=*/false, count * bytes))
      return;
    for (const Offer &to : offers)
      std::memcpy(to.receive, in.data(), in.size());
  });
}

//===----------------------------------------------------------------------===//
// Messages between two ranks
//===----------------------------------------------------------------------===//

int64_t mp_rt_group::messages() const {
  std::lock_guard guard(lock);
  return messageCount;
}
int64_t mp_rt_group::messageBytes() const {
  std::lock_guard guard(lock);
  return inMessages;
}

bool mp_rt_group::findWireTag(const Route &route, int &tag) {
  int64_t number = (route.tag * ranks + route.from) * ranks + route.to;
  tag = int(number);
  if (transport->send && transport->receive && route.tag <= INT_MAX && number <= INT_MAX)
    return true;
  reason = transport->send && transport->receive
               ? "a message has the number " + std::to_string(route.tag) +
                     ", more than ranks in other processes can be sent"
               : "the transport between processes sends no messages between two of them";
  return false;
}

bool mp_rt_group::send(int rank, int64_t to, int64_t tag, const void *data, int64_t bytes) {
  std::lock_guard guard(lock);
  Route route{rank, to, tag};
  int wireTag = 0;
  if (!reason.empty())
    return false;
  if (hosts(to)) {
    const char *begin = static_cast<const char *>(data);
    waiting[route].emplace(begin, begin + bytes);
  } else if (!findWireTag(route, wireTag)) {
    return false;
  } else if (transport->send(transport->state, int(to / count), wireTag, data, bytes)) {
    reason = transport->error(transport->state);
    return false;
  }
  ++messageCount;
  inMessages += bytes;
  changed.notify_all();
  return true;
}

bool mp_rt_group::take(const Route &route, void *data, int64_t bytes) {
  if (!hosts(route.from)) {
    int wireTag = 0;
    if (!findWireTag(route, wireTag))
      return false;
    int code = transport->receive(transport->state, int(route.from / count), wireTag, data, bytes);
    if (code != 0 && code != MP_RT_NOT_YET)
      reason = transport->error(transport->state);
    return code == 0;
  }
  auto found = waiting.find(route);
  if (found == waiting.end())
    return false;
  const std::vector<char> &message = found->second.front();
  if (int64_t(message.size()) != bytes) {
    reason = "rank " + std::to_string(route.to) + " expected a message of " +
             std::to_string(bytes) + " bytes from rank " + std::to_string(route.from) + ", found " +
             std::to_string(message.size());
    return false;
  }
  std::memcpy(data, message.data(), message.size());
  found->second.pop();
  if (found->second.empty())
    waiting.erase(found);
  return true;
}

bool mp_rt_group::receive(int rank, int64_t from, int64_t tag, void *data, int64_t bytes) {
  using namespace std::chrono;
  std::unique_lock guard(lock);
  Route route{from, rank, tag};
  const auto end = steady_clock::now() + duration<double>(deadline);
  while (reason.empty() && !take(route, data, bytes)) {
    if (!reason.empty())
      break;
    if (steady_clock::now() > end) {
      reason = "rank " + std::to_string(rank) + " waited " + secondsText(deadline) +
               " s for a message of rank " + std::to_string(from) +
               ", which has stopped or sends something else";
      break;
    }
    // Other processes wake nobody here.
    changed.wait_for(guard, hosts(from) ? milliseconds(100) : microseconds(50));
  }
  changed.notify_all(); // of the reason, if there is one
  return reason.empty();
}

//===----------------------------------------------------------------------===//
// C interface
//===----------------------------------------------------------------------===//

extern "C" {

mp_rt_group *mp_rt_group_create(int ranks, const mp_rt_transport *transport) {
  if (ranks < 1 || (transport && ranks % transport->processes != 0))
    return nullptr;
  return new (std::nothrow) mp_rt_group(ranks, transport);
}
void mp_rt_group_destroy(mp_rt_group *group) { delete group; }
int mp_rt_group_first(const mp_rt_group *group) { return group->first; }
int mp_rt_group_count(const mp_rt_group *group) { return group->count; }
void mp_rt_group_set_deadline(mp_rt_group *group, double seconds) { group->deadline = seconds; }
void mp_rt_group_fail(mp_rt_group *group, const char *reason) { group->fail(reason ? reason : ""); }
int mp_rt_group_end_call(mp_rt_group *group) { return group->endCall() ? 0 : -1; }
const char *mp_rt_group_error(const mp_rt_group *group) {
  static thread_local std::string text;
  text = group->error();
  return text.empty() ? nullptr : text.c_str();
}
int64_t mp_rt_group_calls(const mp_rt_group *group) { return group->calls(); }
int64_t mp_rt_group_bytes_sent(const mp_rt_group *group) { return group->bytesSent(); }
int64_t mp_rt_group_most_under_way(const mp_rt_group *group) { return group->mostUnderWay(); }
int64_t mp_rt_group_messages(const mp_rt_group *group) { return group->messages(); }
int64_t mp_rt_group_message_bytes(const mp_rt_group *group) { return group->messageBytes(); }
}
