// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that hand elements on, and the constants behind them.

#ifndef MP_ANALYSIS_DATAMOVEMENT_H
#define MP_ANALYSIS_DATAMOVEMENT_H

#include "mlir/IR/Operation.h"

namespace mlir::mp {

/// True if the result of `op` holds every element of its first operand, perhaps repeatedly, in
/// another order or format, and nothing else.
bool movesEveryElement(Operation *op);

/// True if `op` writes the elements of one tensor in an order of its dimensions and does nothing
/// else, however it is spelled.
bool isTransposition(Operation *op);

/// The tensor that `op` only converts to a format which holds every value of its own; null if it
/// does anything else.
Value getExactlyWidened(Operation *op);

/// True if every element of `value`, stored in f32, is a tf32 value: rounded, widened from a format
/// that tf32 holds, a constant of such values, or those moved about.
bool holdsTF32(Value value);

/// The constant that `value` is, seen through such ops, or the op that makes it; null if it is
/// none.
Attribute findConstant(Value value);
Operation *findConstantOp(Value value);

/// The float that all elements are which the constant `op` (it may be null) makes, if it is one.
std::optional<double> getSplat(Operation *op);

/// Calls `visit` for each branch to the block of `argument`, with the block that it leaves and what
/// it hands on; null where that is not known.
void forEachBranch(BlockArgument argument, function_ref<void(Block *from, Value given)> visit);

} // namespace mlir::mp

#endif // MP_ANALYSIS_DATAMOVEMENT_H
