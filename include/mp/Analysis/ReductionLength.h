// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the elements that a reduction or contraction sums into one.

#ifndef MP_ANALYSIS_REDUCTIONLENGTH_H
#define MP_ANALYSIS_REDUCTIONLENGTH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// Elements (or products) that a structured op reduces into one; nothing where a size is dynamic.
std::optional<int64_t> countReduced(linalg::LinalgOp op);

/// Products that a contraction sums into one element of its result. Nothing for other ops, and
/// where a size is dynamic.
std::optional<int64_t> getReductionLength(Operation *op);

} // namespace mlir::mp

#endif // MP_ANALYSIS_REDUCTIONLENGTH_H
