// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms on values times powers of two, on one side of the comparison.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREEXPONENTS_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREEXPONENTS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

/// Follows what `mp.prescaled` multiplies through the ops of a function, whoever marked it: in the
/// end nothing may be left of it, and constants that are added on the way have to be multiplied
/// with it.
class ErasureExponents {
public:
  /// An error where something that is multiplied is read by what does not pass that on, or leaves
  /// its block.
  LogicalResult follow(Operation *function);

  /// Returns the exponent of the power of two that the constant read by `operand` has to be
  /// multiplied by.
  int64_t lookup(OpOperand &operand) const { return constants.lookup(&operand); }

  /// True if `converted` is the constant `original` times 2^power, in whatever format.
  static bool isTimes(Value original, Value converted, int64_t power);

private:
  LogicalResult visit(Operation *op);

  llvm::DenseMap<Value, int64_t> powers;
  llvm::DenseMap<OpOperand *, int64_t> constants;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREEXPONENTS_H
