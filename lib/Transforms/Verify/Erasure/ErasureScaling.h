// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches scaled values with what they stand for: the rewrite of mp-insert-scaling, as the erasure
// checker knows it.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESCALING_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESCALING_H

#include "mp/Dialect/MP/Scaling.h"

namespace mlir::mp {

/// An op of scaling that mp put in; `mp.scaled_matmul`, which stands for a contraction, aside.
bool isInsertedScaling(Operation *op);

/// The value whose quantised form `codes` is, if `scales` are those it was quantised with; else
/// null.
Value sourceOfScaled(Value codes, ValueRange scales);

/// Returns the sources of both factors of a product; where a Hadamard transform of both cancels,
/// what was before it.
std::pair<Value, Value> sourcesOfProduct(ScaledMatmulOp product);

/// Returns the value that an inserted `mp.dequantize` brings back; null for other values.
Value sourceOfDequantized(Value value);

/// True if `codes` and `scales` are constants that hold the original constant's values to within
/// the rounding of the codes.
bool holdsScaled(Attribute original, Value codes, ValueRange scales);

/// True if the converted product sums what the original contraction does.
bool isSameContraction(Operation *original, ScaledMatmulOp converted);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESCALING_H
