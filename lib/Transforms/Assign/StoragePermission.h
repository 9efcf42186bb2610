// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values may be stored narrow. Always those that every use would round to the
// narrow format anyway: nothing is lost. Beyond them only values that already carry
// a rounding of the same size, so that one more adds at most half of what is there:
// the error bound of a contraction of rounded factors is 2u sum |a b|, at least twice
// the u |y| that storing its result y costs; moves, selections, sums and products of such values
// keep that. Never what feeds a discontinuous op before the next contraction, what
// is handed out of the function, or what lacks evidence for the format's range.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_STORAGEPERMISSION_H
#define MP_LIB_TRANSFORMS_ASSIGN_STORAGEPERMISSION_H

#include "Decisions.h"

namespace mlir::mp {

class StoragePermissions {
public:
  StoragePermissions(FunctionDecisions &decisions, const AssignSettings &settings);

  /// The format in which every use reads `value` anyway, or that a pin or policy asks for; or null.
  FloatType getLossless(Value value) const { return lossless.lookup(value); }
  /// The narrow format `value` may be stored in, at the price of one more rounding if need be; or null.
  FloatType getNarrow(Value value) const {
    FloatType format = getLossless(value);
    return format ? format : extra.lookup(value);
  }

private:
  void findLossless(FunctionDecisions &decisions);
  void findKept(FunctionDecisions &decisions);
  void findExtra(FunctionDecisions &decisions, const AssignSettings &settings);
  FloatType commonRounding(FunctionDecisions &decisions, Value value) const;

  DenseMap<Value, FloatType> lossless, extra;
  DenseSet<Value> kept; ///< handed out, pinned, or on the way to a discontinuous op
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_STORAGEPERMISSION_H
