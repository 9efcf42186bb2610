// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors put together of others, each of which is a share of the elements: zeros around and
// between elements, rows of a cache, heads side by side.

#ifndef MP_LIB_ANALYSIS_ERROR_PARTS_H
#define MP_LIB_ANALYSIS_ERROR_PARTS_H

#include "ErrorSignals.h"
#include "mlir/IR/Operation.h"

namespace mlir::mp {

struct Part {
  Value value; ///< null for zeros that an op adds by itself
  double share;
};

/// Returns the parts of the only result of `op`, which add up to 1; none where it is not put
/// together of tensors, or where a size is dynamic.
SmallVector<Part, 4> partsOf(Operation *op);

/// Returns what is put together of these. Nothing if there are none, or one is of constants but no
/// zeros: masks and what maxima begin with say nothing of sizes.
std::optional<ErrorSignal> putTogether(ArrayRef<Part> parts,
                                       llvm::function_ref<ErrorSignal(Value)> signalOf);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_PARTS_H
