// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for buffers of known lifetimes in one block of memory.

#ifndef MP_LIB_KERNELS_HOST_BUFFERPLAN_H
#define MP_LIB_KERNELS_HOST_BUFFERPLAN_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace mlir::mp {

struct PlannedBuffer {
  int64_t bytes;
  int64_t first, last; ///< positions at which it is live, both included
};

class BufferPlan {
public:
  /// Places start at multiples of this.
  static constexpr int64_t kAlignment = 256;

  void add(PlannedBuffer buffer) { buffers.push_back(buffer); }

  /// The largest first, each as low as those it meets in time allow.
  BufferPlan &solve();

  llvm::ArrayRef<int64_t> offsets() const { return places; }
  /// Returns how many bytes the plan takes.
  int64_t bytes() const { return total; }
  /// Returns how many bytes are live at the worst position: no plan takes less.
  int64_t liveBytes() const;

private:
  std::vector<PlannedBuffer> buffers;
  std::vector<int64_t> places;
  int64_t total = 0;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_HOST_BUFFERPLAN_H
