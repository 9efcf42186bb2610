// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds kernels that are equal but for their names and locations.

#ifndef MP_LIB_KERNELS_LOWER_SAMEKERNELS_H
#define MP_LIB_KERNELS_LOWER_SAMEKERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::mp {

class SameKernels {
public:
  /// The first kernel asked about that is equal to this one; itself if there was none.
  gpu::GPUFuncOp firstEqual(gpu::GPUFuncOp kernel);
  void clear() { kernels.clear(); }

private:
  DenseMap<llvm::hash_code, SmallVector<gpu::GPUFuncOp, 1>> kernels;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_LOWER_SAMEKERNELS_H
