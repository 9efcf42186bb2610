// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar code of lib/Numerics/Scaling: the same formulas as arith ops.

#ifndef MP_LIB_TRANSFORMS_SCALE_SCALECODE_H
#define MP_LIB_TRANSFORMS_SCALE_SCALECODE_H

#include "mp/Dialect/MP/Scaling.h"

namespace mlir::mp {

/// Emits scalar arithmetic at one place.
struct ScaleCode {
  OpBuilder &b;
  Location loc;

  Value f32(double value) const;
  Value i32(uint32_t value) const;
  /// An element of any float format as f32, exactly where that can be.
  Value toF32(Value element) const;

  /// An element, as f32, of a stored value of `type`; and back, by the rules of `mp.quantize`.
  Value decode(Value stored) const;
  Value encode(Value wide, Type type, RoundingAttr rounding, OverflowAttr overflow,
               Value bits) const;

  /// Encode scale (f32) and decode scale (of type `scaleFormat`), see `#mp.scaling`. `old`
  /// and `parent` may be null.
  std::pair<Value, Value> scale(ScalingAttr rule, Type code, FloatType scaleFormat, Value amax,
                                Value old, Value parent) const;

  /// Word `index` (i64) of the random stream, see `mp.random_bits`.
  Value randomWord(Value seed, Value offset, Value index) const;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_SCALECODE_H
