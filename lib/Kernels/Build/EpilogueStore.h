// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accumulators on their way to the result in global memory.

#ifndef MP_LIB_KERNELS_BUILD_EPILOGUESTORE_H
#define MP_LIB_KERNELS_BUILD_EPILOGUESTORE_H

#include "StridedLoops.h"

namespace mlir::mp {

/// The result C of a kernel: m rows and n columns by their loops.
struct ResultTile {
  ArrayRef<StridedLoop> m, n;
  int tileM, tileN;
  bool paired; ///< two neighbouring columns are one aligned access
  bool fresh;  ///< C is written, not added to
};

/// Stores the accumulators of a warp, as mma.sync has them: registers 0 and 1 of a tile are
/// neighbours of a row, 2 and 3 of the row eight further down. `row` and `column` are the warp's
/// first; `base` the offset of element (0, 0) from `pointer`.
void storeAccumulators(DeviceBuilder &d, const ResultTile &result, ArrayRef<Value> sums, int warpM,
                       int warpN, Value pointer, Value base, Value row, Value column, Value lane);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_EPILOGUESTORE_H
