// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random bits of a train step's own, for what it rounds stochastically: a seed, and an offset that
// moves with every step.

#ifndef MP_LIB_TRANSFORMS_COMMON_RANDOMDRAWS_H
#define MP_LIB_TRANSFORMS_COMMON_RANDOMDRAWS_H

#include "AppendedState.h"

namespace mlir::mp {

class RandomDraws {
public:
  /// Appends both to the step's state.
  RandomDraws(AppendedState &state, MLIRContext *context, int64_t seed);

  /// A random word for each element of `x`, whose shape is static.
  Value drawFor(OpBuilder &builder, Value x);
  /// Returns the next values of seed and offset, in the order of the state.
  SmallVector<Value> next(OpBuilder &atEnd);

private:
  Value seed, offset;
  int64_t drawn = 0; ///< blocks of Philox, in every step
};

/// `x` in another format, to nearest even; stochastically where random bits are given.
Value roundTo(OpBuilder &builder, Value x, FloatType format, Value bits = Value());

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_RANDOMDRAWS_H
