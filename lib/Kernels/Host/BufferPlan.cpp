// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places buffers by decreasing size at the lowest offset that is free over their lifetimes.

#include "BufferPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir::mp;

static int64_t placeSize(const PlannedBuffer &buffer) {
  return llvm::alignTo(uint64_t(buffer.bytes), BufferPlan::kAlignment);
}

BufferPlan &BufferPlan::solve() {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  places.assign(buffers.size(), 0);
  total = 0;
  std::vector<std::pair<int64_t, int64_t>> taken; // start and end of places that meet this buffer
  for (auto [rank, index] : llvm::enumerate(order)) {
    const PlannedBuffer &buffer = buffers[index];
    taken.clear();
    for (size_t other : llvm::ArrayRef(order).take_front(rank))
      if (buffers[other].first <= buffer.last && buffer.first <= buffers[other].last)
        taken.push_back({places[other], places[other] + placeSize(buffers[other])});
    llvm::sort(taken);
    int64_t at = 0;
    for (auto [start, end] : taken) {
      if (at + placeSize(buffer) <= start)
        break;
      at = std::max(at, end);
    }
    places[index] = at;
    total = std::max(total, at + placeSize(buffer));
  }
  return *this;
}

int64_t BufferPlan::liveBytes() const {
  std::vector<std::pair<int64_t, int64_t>> events; // position, change
  for (const PlannedBuffer &buffer : buffers) {
    events.push_back({buffer.first, placeSize(buffer)});
    events.push_back({buffer.last + 1, -placeSize(buffer)});
  }
  llvm::sort(events); // ends before beginnings at the same position
  int64_t live = 0, most = 0;
  for (auto [position, change] : events) {
    live += change;
    most = std::max(most, live);
  }
  return most;
}
