// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The collectives that compiled code calls: exchanges of blocks, and their combination in a
// balanced tree over the ranks.

#include "Element.h"
#include "Failure.h"
#include "RankGroup.h"
#include "mp/Runtime/Runtime.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

using namespace mpcore::runtime;

namespace {

thread_local mp_rt_group *ownGroup = nullptr;
thread_local int ownRank = 0;

[[noreturn]] void failCollective(const std::string &why) {
  failureText() = why;
  mp_rt_fail(MP_RT_COLLECTIVE_FAILED);
  std::abort(); // mp_rt_fail does not return
}

mp_rt_group &group() {
  if (!ownGroup)
    failCollective("a collective runs outside of a group of ranks: run the program by mp-run, or "
                   "call mp_rt_group_enter first");
  return *ownGroup;
}

template <typename T> T combineTwo(int64_t combine, T a, T b) {
  switch (combine) {
  case MP_RT_MAXIMUM: return a != a || a > b ? a : b;
  case MP_RT_MINIMUM: return a != a || a < b ? a : b;
  case MP_RT_MAXNUM: return b != b || a > b ? a : b;
  case MP_RT_MINNUM: return b != b || a < b ? a : b;
  default: break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (combine == MP_RT_OR)
      return T(a | b);
    if (combine == MP_RT_AND)
      return T(a & b);
    using Unsigned = std::make_unsigned_t<T>;
    return T(Unsigned(a) + Unsigned(b)); // wraps
  } else {
    return a + b;
  }
}

/// Combines rows `low` up to `high` of `count` elements into row `low`: first each half, then both;
/// the left half is the largest power of two below their number.
template <typename T>
void combineRows(T *rows, int64_t count, int64_t low, int64_t high, int64_t combine) {
  int64_t n = high - low;
  if (n < 2)
    return;
  int64_t half = 1;
  while (half * 2 < n)
    half *= 2;
  combineRows(rows, count, low, low + half, combine);
  combineRows(rows, count, low + half, high, combine);
  T *left = rows + low * count, *right = rows + (low + half) * count;
  for (int64_t i = 0; i < count; ++i)
    left[i] = combineTwo<T>(combine, left[i], right[i]);
}

int64_t bytesOf(int64_t element) {
  switch (element) {
  case MP_RT_F64:
  case MP_RT_INTEGER + 64: return 8;
  case MP_RT_F32:
  case MP_RT_INTEGER + 32: return 4;
  case MP_RT_INTEGER + 8:
  case MP_RT_INTEGER + 1: return 1;
  default: failCollective("ranks cannot combine elements of type " + std::to_string(element));
  }
}

void combineAll(void *rows, int64_t count, int64_t ranks, int64_t element, int64_t combine) {
  switch (element) {
  case MP_RT_F64: return combineRows(static_cast<double *>(rows), count, 0, ranks, combine);
  case MP_RT_F32: return combineRows(static_cast<float *>(rows), count, 0, ranks, combine);
  case MP_RT_INTEGER + 64:
    return combineRows(static_cast<int64_t *>(rows), count, 0, ranks, combine);
  case MP_RT_INTEGER + 32:
    return combineRows(static_cast<int32_t *>(rows), count, 0, ranks, combine);
  case MP_RT_INTEGER + 1: { // patterns 0 and 1: a sum wraps to an exclusive or
    combineRows(static_cast<int8_t *>(rows), count, 0, ranks, combine);
    for (int64_t i = 0; i < count; ++i)
      static_cast<int8_t *>(rows)[i] &= 1;
    return;
  }
  default: return combineRows(static_cast<int8_t *>(rows), count, 0, ranks, combine);
  }
}

/// Bytes in memory: `outer` blocks, of which each rank has `inner` bytes.
struct Blocks {
  int64_t outer, inner;
  int64_t perRank() const { return outer * inner; }
};

// The exchanges below return false where the group has failed: nothing that owns memory may be
// alive when that ends the run.

/// The number of an exchange that was started before, or that it is not.
constexpr int64_t kNotStarted = -1;

/// Puts the part of each rank together.
std::vector<char> partsOf(const mp_rt_group &own, const void *from, Blocks blocks) {
  int64_t ranks = own.ranks, part = blocks.perRank();
  std::vector<char> send(size_t(part * ranks));
  for (int64_t i = 0; i < blocks.outer; ++i)
    for (int64_t rank = 0; rank < ranks; ++rank)
      std::memcpy(send.data() + rank * part + i * blocks.inner,
                  static_cast<const char *>(from) + (i * ranks + rank) * blocks.inner,
                  size_t(blocks.inner));
  return send;
}

/// Brings each rank its part of what every rank has, as rows.
bool exchangeParts(mp_rt_group &own, const std::vector<char> &send, std::vector<char> &rows,
                   const CallSignature &call) {
  rows.resize(send.size());
  return own.allToAll(ownRank, send.data(), rows.data(), int64_t(send.size()) / own.ranks, call);
}

/// Gives each rank its part of what all have, combined; `from` only where no exchange was started.
bool reduceScatter(mp_rt_group &own, int64_t started, const void *from, void *to, Blocks blocks,
                   const CallSignature &call) {
  std::vector<char> rows(size_t(blocks.perRank() * own.ranks));
  if (!(started == kNotStarted ? exchangeParts(own, partsOf(own, from, blocks), rows, call)
                               : own.finish(ownRank, started, rows.data())))
    return false;
  combineAll(rows.data(), call.amount, own.ranks, call.element, call.combine);
  std::memcpy(to, rows.data(), size_t(blocks.perRank()));
  return true;
}

bool reduceScatterWide(mp_rt_group &own, const void *from, void *to, Blocks blocks,
                       const CallSignature &call) {
  std::vector<char> rows;
  if (!exchangeParts(own, partsOf(own, from, blocks), rows, call))
    return false;
  const Element element(call.element);
  std::vector<float> wide(size_t(call.amount * own.ranks));
  for (size_t i = 0; i < wide.size(); ++i)
    wide[i] = float(element.value(element.load(rows.data(), int64_t(i))));
  combineAll(wide.data(), call.amount, own.ranks, MP_RT_F32, call.combine);
  std::memcpy(to, wide.data(), size_t(call.amount) * sizeof(float));
  return true;
}

bool allGather(mp_rt_group &own, const void *from, void *to, Blocks blocks,
               const CallSignature &call) {
  int64_t ranks = own.ranks, part = blocks.perRank();
  std::vector<char> rows(size_t(part * ranks));
  if (!own.allGather(ownRank, from, rows.data(), part, call))
    return false;
  for (int64_t i = 0; i < blocks.outer; ++i)
    for (int64_t rank = 0; rank < ranks; ++rank)
      std::memcpy(static_cast<char *>(to) + (i * ranks + rank) * blocks.inner,
                  rows.data() + rank * part + i * blocks.inner, size_t(blocks.inner));
  return true;
}

/// The elements of a part that one rank combines for all.
int64_t elementsOfPart(const mp_rt_group &own, int64_t count) {
  return (count + own.ranks - 1) / own.ranks;
}

/// Copies what all ranks have, the last part padded.
std::vector<char> paddedParts(const mp_rt_group &own, const void *from, const CallSignature &call) {
  int64_t bytes = bytesOf(call.element);
  std::vector<char> send(size_t(elementsOfPart(own, call.amount) * own.ranks * bytes));
  std::memcpy(send.data(), from, size_t(call.amount * bytes));
  return send;
}

/// Each rank combines one part; then all gather the parts. `from` only where no exchange was
/// started.
bool allReduce(mp_rt_group &own, int64_t started, const void *from, void *to,
               const CallSignature &call) {
  int64_t bytes = bytesOf(call.element), count = call.amount, part = elementsOfPart(own, count);
  std::vector<char> send(size_t(part * own.ranks * bytes)), rows(send.size());
  if (!(started == kNotStarted ? exchangeParts(own, paddedParts(own, from, call), rows, call)
                               : own.finish(ownRank, started, rows.data())))
    return false;
  combineAll(rows.data(), part, own.ranks, call.element, call.combine);
  if (!own.allGather(ownRank, rows.data(), send.data(), part * bytes, call))
    return false;
  std::memcpy(to, send.data(), size_t(count * bytes));
  return true;
}

/// One rank of each process speaks for all: they do the same.
void finish(mp_rt_group &own, bool exchanged, int64_t bytesSent) {
  if (!exchanged)
    failCollective(own.error());
  if (ownRank == own.first)
    own.countCall(bytesSent);
}

/// Ends the run if an exchange could not be started.
int64_t numberOf(mp_rt_group &own, int64_t number) {
  if (number == kNotStarted)
    failCollective(own.error());
  return number;
}

void endAllReduce(int64_t started, const void *from, void *to, const CallSignature &call) {
  mp_rt_group &own = group();
  const int64_t part = elementsOfPart(own, call.amount);
  bool done = allReduce(own, started, from, to, call);
  finish(own, done, 2 * (own.ranks - 1) * part * bytesOf(call.element));
}

void endReduceScatter(int64_t started, const void *from, void *to, Blocks blocks,
                      const CallSignature &call) {
  mp_rt_group &own = group();
  bool done = reduceScatter(own, started, from, to, blocks, call);
  finish(own, done, (own.ranks - 1) * blocks.perRank());
}

} // namespace

extern "C" {

void mp_rt_group_enter(mp_rt_group *group, int rank) {
  ownGroup = group;
  ownRank = rank;
}
void mp_rt_group_leave(void) { ownGroup = nullptr; }

int64_t mp_rt_rank(void) {
  (void)group();
  return ownRank;
}

void mp_rt_reduce_scatter(const void *from, void *to, int64_t outer, int64_t count, int64_t element,
                          int64_t combine) {
  endReduceScatter(kNotStarted, from, to, {outer, count * bytesOf(element)},
                   {ReduceScatter, outer * count, element, combine});
}

int64_t mp_rt_start_reduce_scatter(const void *from, int64_t outer, int64_t count, int64_t element,
                                   int64_t combine) {
  mp_rt_group &own = group();
  Blocks blocks{outer, count * bytesOf(element)};
  return numberOf(own, own.start(ownRank, partsOf(own, from, blocks), blocks.perRank(),
                                 {ReduceScatter, outer * count, element, combine}));
}

void mp_rt_finish_reduce_scatter(int64_t number, void *to, int64_t outer, int64_t count,
                                 int64_t element, int64_t combine) {
  endReduceScatter(number, nullptr, to, {outer, count * bytesOf(element)},
                   {ReduceScatter, outer * count, element, combine});
}

void mp_rt_reduce_scatter_wide(const void *from, void *to, int64_t outer, int64_t count,
                               int64_t element, int64_t combine) {
  mp_rt_group &own = group();
  if (element < 0 || element >= MP_RT_FORMAT_COUNT || element == MP_RT_F64)
    failCollective("ranks cannot sum elements of type " + std::to_string(element) + " in f32");
  Blocks blocks{outer, count * storageBytes(int(element))};
  bool done =
      reduceScatterWide(own, from, to, blocks, {ReduceScatter, outer * count, element, combine});
  finish(own, done, (own.ranks - 1) * blocks.perRank());
}

void mp_rt_all_gather(const void *from, void *to, int64_t outer, int64_t bytes) {
  mp_rt_group &own = group();
  Blocks blocks{outer, bytes};
  bool done = allGather(own, from, to, blocks, {AllGather, blocks.perRank(), 0, 0});
  finish(own, done, (own.ranks - 1) * blocks.perRank());
}

void mp_rt_all_reduce(const void *from, void *to, int64_t count, int64_t element, int64_t combine) {
  endAllReduce(kNotStarted, from, to, {AllReduce, count, element, combine});
}

int64_t mp_rt_start_all_reduce(const void *from, int64_t count, int64_t element, int64_t combine) {
  mp_rt_group &own = group();
  const CallSignature call{AllReduce, count, element, combine};
  return numberOf(own, own.start(ownRank, paddedParts(own, from, call),
                                 elementsOfPart(own, count) * bytesOf(element), call));
}

void mp_rt_finish_all_reduce(int64_t number, void *to, int64_t count, int64_t element,
                             int64_t combine) {
  endAllReduce(number, nullptr, to, {AllReduce, count, element, combine});
}

void mp_rt_send(const void *from, int64_t bytes, int64_t to, int64_t tag) {
  mp_rt_group &own = group();
  if (!own.send(ownRank, to, tag, from, bytes))
    failCollective(own.error());
}

void mp_rt_receive(void *to, int64_t bytes, int64_t from, int64_t tag) {
  mp_rt_group &own = group();
  if (!own.receive(ownRank, from, tag, to, bytes))
    failCollective(own.error());
}
}
