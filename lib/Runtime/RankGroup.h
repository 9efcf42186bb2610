// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares how ranks exchange blocks of bytes: threads of one process through shared memory,
// processes through a transport.

#ifndef MP_LIB_RUNTIME_RANKGROUP_H
#define MP_LIB_RUNTIME_RANKGROUP_H

#include "mp/Runtime/Collectives.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <queue>
#include <string>
#include <vector>

namespace mpcore::runtime {

enum CallKind { AllReduce, AllGather, ReduceScatter, EndOfCall };

/// Holds what must agree between ranks that meet in one collective.
struct CallSignature {
  int64_t kind, amount, element, combine;
  bool operator==(const CallSignature &) const = default;
};

/// Writes what ranks exchange, and a time, as errors say them.
std::string describe(const CallSignature &signature);
std::string secondsText(double seconds);

} // namespace mpcore::runtime

/// A group as the C interface names it. Every rank calls the two exchanges in the same order. What
/// moves bytes returns false once the group has failed.
struct mp_rt_group {
  mp_rt_group(int ranks, const mp_rt_transport *transport);

  const int ranks, count, first;
  double deadline = 600;

  /// Block i of `bytes` bytes of `send` goes to rank i, block i of `receive` comes from it.
  bool allToAll(int rank, const void *send, void *receive, int64_t bytes,
                const mpcore::runtime::CallSignature &signature);
  /// `bytes` bytes of every rank, in their order.
  bool allGather(int rank, const void *send, void *receive, int64_t bytes,
                 const mpcore::runtime::CallSignature &signature);

  /// allToAll in two parts. The first leaves what is sent with the group and returns the number of
  /// the exchange, or -1; the last rank to come begins it between processes. The second waits.
  int64_t start(int rank, std::vector<char> send, int64_t bytes,
                const mpcore::runtime::CallSignature &signature);
  bool finish(int rank, int64_t number, void *receive);

  /// Leaves a copy of the message for rank `to`.
  bool send(int rank, int64_t to, int64_t tag, const void *data, int64_t bytes);
  /// Waits for the first message of rank `from` that has the tag.
  bool receive(int rank, int64_t from, int64_t tag, void *data, int64_t bytes);

  /// Meets the other processes after the last collective of a call.
  bool endCall();

  void fail(const std::string &reason);
  std::string error() const;
  void countCall(int64_t bytesSent);
  int64_t calls() const;
  int64_t bytesSent() const;
  int64_t mostUnderWay() const;
  int64_t messages() const;
  int64_t messageBytes() const;

private:
  using Signature = mpcore::runtime::CallSignature;
  /// Holds what a rank brings to an exchange.
  struct Offer {
    const char *send;
    char *receive;
    Signature signature;
  };
  /// Waits for all ranks hosted here; the last to come calls `meet`, alone, before any goes on.
  template <typename Meet> bool rendezvous(int rank, const Offer &offer, Meet meet);
  bool agree(const Signature &own);
  bool between(bool toAll, int64_t bytes);

  /// Holds an exchange that has been started, until all ranks have finished it.
  struct Started {
    Signature signature;
    int64_t bytes;
    std::vector<std::vector<char>> send; ///< by rank hosted here
    std::vector<char> out, in;           ///< between processes: for each a signature, and blocks
    int arrived = 0, taken = 0;
    void *request = nullptr;
    bool isWaitedFor = false; ///< what other processes sent is there
  };
  bool begin(Started &exchange);
  bool await(Started &exchange);

  /// Holds who sends a message to whom, and which.
  struct Route {
    int64_t from, to, tag;
    auto operator<=>(const Route &) const = default;
  };
  bool hosts(int64_t rank) const { return rank >= first && rank < first + count; }
  /// The number by which processes tell messages apart; nothing if it is too large for an int.
  bool findWireTag(const Route &route, int &tag);
  /// Takes the message if it is there; what is wrong with it becomes the reason.
  bool take(const Route &route, void *data, int64_t bytes);

  const mp_rt_transport *transport;
  const int processes;
  mutable std::mutex lock;
  std::condition_variable changed;
  std::vector<Offer> offers; ///< by rank hosted here
  int arrived = 0;
  int64_t round = 0;
  int64_t callCount = 0, sent = 0, messageCount = 0, inMessages = 0;
  std::map<Route, std::queue<std::vector<char>>> waiting; ///< messages for ranks hosted here
  std::map<int64_t, Started> started;                     ///< by number
  std::vector<int64_t> startCount;                        ///< of each rank hosted here
  int64_t underWay = 0, most = 0;                         ///< of the first rank hosted here
  bool hasEndedCall = false; ///< processes have agreed in every exchange of a call
  std::string reason;        ///< of the failure; empty for none
  std::vector<char> out, in;
};

#endif // MP_LIB_RUNTIME_RANKGROUP_H
