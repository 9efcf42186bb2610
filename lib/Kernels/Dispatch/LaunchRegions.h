// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch regions: host code that touches buffers but belongs to no parallel loop.

#ifndef MP_LIB_KERNELS_DISPATCH_LAUNCHREGIONS_H
#define MP_LIB_KERNELS_DISPATCH_LAUNCHREGIONS_H

#include "mlir/IR/Block.h"
#include "mlir/Support/LLVM.h"

namespace mlir::mp {

/// Moves runs of loads, stores and loop nests in `block` (and in the blocks of
/// host control flow below it) into one-thread launches. A load whose value the
/// host needs stays, marked as a host read, and ends the run before it: no load
/// ever moves across a store.
void formLaunchRegions(Block &block);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_DISPATCH_LAUNCHREGIONS_H
