// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows powers of two through ops: what a result is multiplied by where operands are, and which
// constants have to be multiplied with them. As in Homogeneity, rounding is ignored: it commutes
// with powers of two, short of overflow and underflow. Unlike there, what is added to a multiplied
// value may be a constant, which then counts as adapted.

#ifndef MP_ANALYSIS_SCALING_SCALINGEXPONENTS_H
#define MP_ANALYSIS_SCALING_SCALINGEXPONENTS_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace mlir::mp {

struct ExponentTransfer {
  int64_t power = 0; ///< the result is 2^power times what it was
  /// Constants that have to be 2^power times what they were: operands of the op, or of an op in its
  /// body.
  SmallVector<std::pair<OpOperand *, int64_t>, 2> constants;
};

/// Returns what becomes of the float results of `op` where its operands are multiplied by
/// 2^power(operand). Nothing if they are no such multiples of what they were.
std::optional<ExponentTransfer> transferExponent(Operation *op,
                                                 llvm::function_ref<int64_t(OpOperand &)> power);

/// The float constant that `value` is, or is filled with; null for others. What is added to a
/// multiplied value can be adapted where it is one.
Attribute getAdaptable(Value value);

/// `constant` times 2^power: null unless that is exact, with every finite element normal or zero.
Attribute timesPowerOfTwo(Attribute constant, int64_t power);

/// `source` times 2^power.
struct Multiple {
  Value source;
  int64_t power;
};

/// Returns what an op marked `mp.prescaled` computes; nothing for others, and where that is
/// something else.
std::optional<Multiple> getPrescaled(Operation *op);

} // namespace mlir::mp

#endif // MP_ANALYSIS_SCALING_SCALINGEXPONENTS_H
