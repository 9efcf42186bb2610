// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making and undoing dispatches.

#ifndef MP_KERNELS_DISPATCHES_H
#define MP_KERNELS_DISPATCHES_H

#include "mp/Dialect/MPK/MPKDialect.h"

namespace mlir::mp {

/// Puts the body of a dispatch on tensors in its place.
void inlineDispatch(RewriterBase &rewriter, mpk::DispatchOp dispatch);

} // namespace mlir::mp

#endif // MP_KERNELS_DISPATCHES_H
