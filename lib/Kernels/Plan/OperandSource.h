// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds what lies in memory for an operand of a contraction: the operand, f32 that are narrowed to
// its elements while its tile is copied, or a tensor beyond whose ends a constant is read.

#ifndef MP_LIB_KERNELS_PLAN_OPERANDSOURCE_H
#define MP_LIB_KERNELS_PLAN_OPERANDSOURCE_H

#include "mp/Interfaces/Contraction.h"

namespace mlir::mp {

struct OperandSource {
  Value tensor;                        ///< lies in memory
  LinearAccess access;                 ///< of `tensor`, by the contraction's loops
  mutable linalg::GenericOp narrowing; ///< makes elements of those of `tensor`; null: they are one
  SmallVector<unsigned> padded;        ///< dimensions of `tensor` beyond whose ends lies a constant
  uint8_t beyond = 0;                  ///< that constant, of 8-bit integers; zero of all others
  SmallVector<Operation *, 2> ops;     ///< what the operand is made by, the last first
};

/// True for an op that casts or rounds each f32 of one tensor, and zeros to zeros: `mp.cast`,
/// `mp.round`, `arith.truncf`, one after the other. Its result may be a transposition.
bool isNarrowing(Operation *op);

/// True for an `isNarrowing` op that is one `mp.round tf32`. Null is none.
bool isTF32Rounding(linalg::GenericOp op);

/// True for an op that surrounds a tensor with zeros, or one of 8-bit integers with a constant, at
/// its start as many as are known.
bool isConstantPadding(Operation *op);

/// The source of an operand that a contraction accesses by `access`.
OperandSource readSource(Value operand, const LinearAccess &access);

/// An element of the operand that `narrowing` makes of an element in memory.
Value narrowElement(OpBuilder &b, linalg::GenericOp narrowing, Value element);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_PLAN_OPERANDSOURCE_H
