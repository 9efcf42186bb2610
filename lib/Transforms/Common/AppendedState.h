// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State that a pass appends to a train step: arguments and results at the end of the
// signature, paired by `mp.state`, and their first values in a companion `@NAME_init`.
// If arguments of the step itself have changed type, the companion takes them as they were: its
// arguments say by `mp.state` which of the step's they are, and its first results are what these
// have become.

#ifndef MP_LIB_TRANSFORMS_COMMON_APPENDEDSTATE_H
#define MP_LIB_TRANSFORMS_COMMON_APPENDEDSTATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mp {

class AppendedState {
public:
  explicit AppendedState(func::FuncOp step) : step(step) {}

  /// A tensor whose first value is `first`; of rank 0 if that is a scalar.
  Value add(TypedAttr first, StringRef role);
  /// A tensor whose first value was computed in @NAME_init.
  Value add(Value first, StringRef role);
  /// Returns argument `argument` of the step as it was, in @NAME_init.
  Value takeOriginal(unsigned argument);
  /// Records what it has become; once per original, in the same order.
  void convert(Value converted);
  /// At the end of @NAME_init.
  OpBuilder initBuilder();
  /// Appends the next values, one per `add`, to the results.
  void finish(ValueRange next);

private:
  func::FuncOp step, init;
  SmallVector<Value> converted, firsts;
  func::FuncOp getInit();
};

/// Gives the function the type that its arguments and returned values have; attributes of
/// results stay, new results have none.
void updateFunctionType(func::FuncOp function);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_APPENDEDSTATE_H
