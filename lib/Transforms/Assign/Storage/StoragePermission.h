// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the values that may be stored narrow: those that every use would round to the narrow format
// anyway, so that nothing is lost. Carrying a rounding already is not enough to be rounded again:
// what later ops cancel, such as an offset common to all keys of attention, was exact in every
// rounding before.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_STORAGEPERMISSION_H
#define MP_LIB_TRANSFORMS_ASSIGN_STORAGEPERMISSION_H

#include "../Decisions.h"

namespace mlir::mp {

class StoragePermissions {
public:
  explicit StoragePermissions(FunctionDecisions &decisions);

  /// The narrow format `value` may be stored in: that in which every use reads it, or that a pin or
  /// policy asks for. Null if there is none.
  FloatType getNarrow(Value value) const { return narrow.lookup(value); }

  /// A use of `value` that needs more than `format`; null if there is none.
  OpOperand *findWideUse(Value value, FloatType format) const;

  /// The narrow format in which every use reads `value`, or null.
  FloatType getCommonRounding(Value value) const;

private:
  FloatType getRounding(OpOperand &use) const;

  FunctionDecisions &decisions;
  DenseMap<Value, FloatType> narrow;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_STORAGEPERMISSION_H
