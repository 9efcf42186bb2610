// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares how ranks exchange blocks of bytes: threads of one process through shared memory,
// processes through a transport.

#ifndef MP_LIB_RUNTIME_RANKGROUP_H
#define MP_LIB_RUNTIME_RANKGROUP_H

#include "mp/Runtime/Collectives.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace mpcore::runtime {

enum CallKind { AllReduce, AllGather, ReduceScatter, EndOfCall };

/// Holds what must agree between ranks that meet in one collective.
struct CallSignature {
  int64_t kind, amount, element, combine;
  bool operator==(const CallSignature &) const = default;
};

} // namespace mpcore::runtime

/// A group as the C interface names it. Every rank calls the two exchanges in the same order; each
/// returns false once the group has failed.
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

  /// Meets the other processes after the last collective of a call.
  bool endCall();

  void fail(const std::string &reason);
  std::string error() const;
  void countCall(int64_t bytesSent);
  int64_t calls() const;
  int64_t bytesSent() const;

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

  const mp_rt_transport *transport;
  const int processes;
  mutable std::mutex lock;
  std::condition_variable changed;
  std::vector<Offer> offers; ///< by rank hosted here
  int arrived = 0;
  int64_t round = 0;
  int64_t callCount = 0, sent = 0;
  std::string reason; ///< of the failure; empty for none
  std::vector<char> out, in;
};

#endif // MP_LIB_RUNTIME_RANKGROUP_H
