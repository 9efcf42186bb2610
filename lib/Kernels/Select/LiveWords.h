// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what a thread of a kernel of streams keeps in registers, before the kernel is written.

#ifndef MP_LIB_KERNELS_SELECT_LIVEWORDS_H
#define MP_LIB_KERNELS_SELECT_LIVEWORDS_H

#include "../Plan/StreamPlan.h"

namespace mlir::mp {

/// Words of 32 bits.
struct LiveWords {
  double held = 0;    ///< of each element, from one pass over the columns to a later one
  double passing = 0; ///< of the element at work, at most
};

/// Replays the order in which a kernel evaluates a body (docs/concepts/Dispatches.md, Registers).
LiveWords liveWords(const StreamPlan &plan);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_LIVEWORDS_H
