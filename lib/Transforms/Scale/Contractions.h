// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction as loops, whichever op says it.

#ifndef MP_LIB_TRANSFORMS_SCALE_CONTRACTIONS_H
#define MP_LIB_TRANSFORMS_SCALE_CONTRACTIONS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace mlir::mp {

/// Two operands, what is added to, and the maps from loops to them.
struct ContractionView {
  OpOperand *a, *b;
  Value init; ///< null: zero
  AffineMap maps[3];
};

/// Nullopt for ops that are no plain sum of products of two operands: convolutions, for one.
std::optional<ContractionView> viewContraction(Operation *op);

/// The role of a dimension of one operand in a contraction.
enum class Along : uint8_t {
  Keeps,  ///< the result has the dimension too
  Sums,   ///< it is summed over
  Slides, ///< a window that is summed over slides along it
};

/// Per dimension of the operand; nullopt where the op does not say what its loops are.
std::optional<SmallVector<Along>> dimensionsOf(OpOperand &operand);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_CONTRACTIONS_H
