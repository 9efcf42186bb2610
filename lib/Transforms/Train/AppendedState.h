// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State that a pass appends to a train step: arguments and results at the end of the
// signature, paired by `mp.state`, and their first values in a companion `@NAME_init`.

#ifndef MP_LIB_TRANSFORMS_TRAIN_APPENDEDSTATE_H
#define MP_LIB_TRANSFORMS_TRAIN_APPENDEDSTATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mp {

class AppendedState {
public:
  explicit AppendedState(func::FuncOp step) : step(step) {}

  /// A tensor whose first value is `first`; of rank 0 if that is a scalar.
  Value add(TypedAttr first, StringRef role);
  /// Appends the next values, one per `add`, to the results.
  void finish(ValueRange next);

private:
  func::FuncOp step, init;
  SmallVector<Value> firsts;
  unsigned added = 0;
  func::FuncOp getInit();
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_TRAIN_APPENDEDSTATE_H
