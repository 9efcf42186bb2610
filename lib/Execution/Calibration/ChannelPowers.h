// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Multiplies a tensor, channel by channel, by powers of two that go into constants.

#ifndef MP_LIB_EXECUTION_CALIBRATION_CHANNELPOWERS_H
#define MP_LIB_EXECUTION_CALIBRATION_CHANNELPOWERS_H

#include "mlir/IR/Operation.h"

namespace mlir::mp {

/// Constants that operands would be instead.
class ChannelPowers {
public:
  /// Collects what makes `operand` 2^powers[i] times what it was at place i of dimension `dim`, for
  /// reads through it alone. False, and nothing is collected, where that leads to no constants by
  /// exact rules, or to values that something else reads.
  bool multiply(OpOperand &operand, unsigned dim, ArrayRef<int> powers);
  /// Collects the same for a value whose readers all want it.
  bool multiply(Value value, unsigned dim, ArrayRef<int> powers);

  /// Sets the operands.
  void apply();

private:
  bool multiplyConstant(OpOperand &operand, unsigned dim, ArrayRef<int> powers);
  bool multiplyResult(Operation *op, unsigned dim, ArrayRef<int> powers);

  SmallVector<std::pair<OpOperand *, Attribute>> changes;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_CALIBRATION_CHANNELPOWERS_H
