// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of contractions that repeat elements, read before they are repeated.

#ifndef MP_LIB_KERNELS_FORM_REPEATS_H
#define MP_LIB_KERNELS_FORM_REPEATS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// True for an elementwise op that gives the same elements again and again along a loop, itself or
/// because its operands do.
bool repeatsElements(Operation *op);

/// Lets an op that repeats elements make merged what `view` merges of its other dimensions: a
/// reader that takes the view's loops apart then keeps these whole.
void mergeBesideRepeats(RewriterBase &rewriter, Value view);

/// Makes the reader of such an op's result read each element where it is once (exact). Fails, and
/// changes nothing, for any other operand.
LogicalResult readOnce(RewriterBase &rewriter, OpOperand &operand);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FORM_REPEATS_H
