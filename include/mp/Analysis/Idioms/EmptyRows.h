// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds what asks whether rows are minus infinity throughout, as torch's attention does for rows
// that are masked whole.

#ifndef MP_ANALYSIS_IDIOMS_EMPTYROWS_H
#define MP_ANALYSIS_IDIOMS_EMPTYROWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// A reduction that gives for each row whether all of its elements are minus infinity, and those
/// before it that take the maximum of the same rows, NaN where a row has one.
struct EmptyRows {
  linalg::GenericOp question;
  SmallVector<linalg::GenericOp, 1> maxima; ///< one at least
};

/// All such reductions of a function: the maximum answers the question without another one.
SmallVector<EmptyRows> findEmptyRows(Operation *function);

} // namespace mlir::mp

#endif // MP_ANALYSIS_IDIOMS_EMPTYROWS_H
