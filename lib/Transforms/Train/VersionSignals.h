// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signals by which a version is chosen: a tensor of numbers that each call leaves to the next.

#ifndef MP_LIB_TRANSFORMS_TRAIN_VERSIONSIGNALS_H
#define MP_LIB_TRANSFORMS_TRAIN_VERSIONSIGNALS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mp {

/// A scalar float, or a tensor of one.
bool isScalarFloat(Type type);

struct VersionSignals {
  func::FuncOp merged;
  ArrayRef<std::string> names;         ///< that rules ask for
  unsigned arguments = 0, results = 0; ///< of the step itself
  std::optional<unsigned> loss;        ///< result

  /// Returns what the first call finds.
  SmallVector<double> firstValues() const;
  /// True if a name is of what the caller measures.
  bool wantsMeasured() const;
  /// A number in f64 for each name; an error where a name is none of this step. `measured` is null
  /// where no name wants it.
  FailureOr<SmallVector<Value>> read(OpBuilder &b, Value signals, Value measured);
  /// The tensor after a call that gave `outcome`.
  Value observe(OpBuilder &b, Value signals, ResultRange outcome);

private:
  SmallVector<Value> readRows(OpBuilder &b);
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_TRAIN_VERSIONSIGNALS_H
