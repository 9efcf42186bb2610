// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scales from earlier steps: histories threaded through a function as its state.

#ifndef MP_LIB_TRANSFORMS_SCALE_DELAYEDSCALES_H
#define MP_LIB_TRANSFORMS_SCALE_DELAYEDSCALES_H

#include "../Common/AppendedState.h"
#include "Quantizer.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

/// Appends, for each value stored, its history of magnitudes and both scales of the next step.
class DelayedScales {
public:
  DelayedScales(func::FuncOp function, const numerics::DelayedHistory &history)
      : function(function), state(function), history(history) {}

  /// True if the value is known where the function returns.
  bool canThread(Value source);
  /// The value stored by the scale that earlier steps left; this one's magnitude is entered.
  ScaledValue quantize(OpBuilder &builder, Value source, const numerics::OperandScheme &scheme);
  /// Returns the state; once, when all is stored.
  void finish();

private:
  func::FuncOp function;
  AppendedState state;
  const numerics::DelayedHistory &history;
  llvm::DenseMap<std::pair<Value, const void *>, ScaledValue> known;
  SmallVector<Value> next;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_DELAYEDSCALES_H
