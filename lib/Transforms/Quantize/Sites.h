// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds where a function can be quantised: the factors of contractions of its forward pass.

#ifndef MP_LIB_TRANSFORMS_QUANTIZE_SITES_H
#define MP_LIB_TRANSFORMS_QUANTIZE_SITES_H

#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp {

/// A contraction and its two factors in f32.
struct FactorPair {
  Operation *op;
  OpOperand *factors[2];
};

/// Reads the two f32 factors of a contraction of one result; nullopt for other ops.
std::optional<FactorPair> readFactors(Operation *op);

/// The tensor that `value` only moves elements of, seen through every op that moves.
Value findMoved(Value value);

/// The tensor that `op` moves every element of, perhaps between zeros; null for ops that do
/// anything else. A part of a tensor counts as one of its own.
Value getMovedBy(Operation *op);

/// True if nothing but contractions reads what `use` hands on.
bool leadsToContractions(OpOperand &use);

/// Replaces `value` by `by` in contractions, and in moves that lead to contractions alone.
void replaceInContractions(Value value, Value by);

/// The shape of a scale for each channel of a factor, which the result has too: 1 along what is
/// summed over. Rank 0 where the op does not say what its loops are.
SmallVector<int64_t> channelShape(OpOperand &factor);

/// A step per channel of a factor, brought over the result; null where it is not along one
/// dimension. `factor` and `result` are the maps of the two.
Value moveToResult(OpBuilder &builder, Value step, AffineMap factor, AffineMap result,
                   Location loc);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_QUANTIZE_SITES_H
