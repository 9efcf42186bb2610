// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

  /// True if operand dimension `dim` of `a` or `b` is summed over.
  bool isSummed(bool second, unsigned dim) const;
};

/// Nullopt for ops that are no plain sum of products of two operands: convolutions, for one.
std::optional<ContractionView> viewContraction(Operation *op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_CONTRACTIONS_H
