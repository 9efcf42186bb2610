// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.gather and tensor.scatter as loops: upstream (LLVM 22) lowers neither.

#ifndef MP_LIB_KERNELS_DISPATCH_GATHERLOOPS_H
#define MP_LIB_KERNELS_DISPATCH_GATHERLOOPS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::mp {

/// A linalg.generic that reads one element for each of the result's.
void lowerGather(tensor::GatherOp op, RewriterBase &rewriter);

/// A nest of scf.for that inserts element after element: coordinates differ, so that the order does
/// not matter.
void lowerScatter(tensor::ScatterOp op, RewriterBase &rewriter);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_DISPATCH_GATHERLOOPS_H
