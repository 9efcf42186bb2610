// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what trainings are compared by.

#ifndef MP_LIB_EXECUTION_WATCH_LASTTENTH_H
#define MP_LIB_EXECUTION_WATCH_LASTTENTH_H

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>

namespace mlir::mp {

/// The mean over the last tenth of the steps, at least one.
inline double meanOfLastTenth(llvm::ArrayRef<double> series) {
  llvm::ArrayRef<double> tail = series.take_back(std::max<size_t>(1, series.size() / 10));
  double sum = 0;
  for (double value : tail)
    sum += value;
  return sum / double(tail.size());
}

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_WATCH_LASTTENTH_H
