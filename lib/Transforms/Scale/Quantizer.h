// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores operands of contractions scaled, as a recipe's scheme says.

#ifndef MP_LIB_TRANSFORMS_SCALE_QUANTIZER_H
#define MP_LIB_TRANSFORMS_SCALE_QUANTIZER_H

#include "../Common/RandomDraws.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Numerics/Scaling/Recipes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mp {

/// A stored operand and its scales, that of a block before that of the tensor.
struct ScaledValue {
  Value codes;
  SmallVector<Value> scales;
};

/// Replaces the contraction by that of its factors as they are stored.
void replaceByScaled(OpBuilder &builder, Operation *op, const ContractionView &view,
                     const ScaledValue &a, const ScaledValue &b);

/// Makes each stored form once per source, shape of scales and scheme.
class Quantizer {
public:
  /// The value stored with scales of that shape; constants ahead of time. With `draws` it is
  /// rounded stochastically.
  ScaledValue quantize(OpBuilder &builder, Value source, const numerics::OperandScheme &scheme,
                       ArrayRef<int64_t> scaleShape, RandomDraws *draws = nullptr);
  /// The value behind a Hadamard transform along dimension `axis`, in blocks of 16.
  Value spread(OpBuilder &builder, Value source, unsigned axis);
  /// The value stored with one scale for all, made from a magnitude that is known beforehand.
  ScaledValue quantizeBy(OpBuilder &builder, Value source, const numerics::OperandScheme &scheme,
                         double amax);
  /// Erases the constants whose stored form is all that is read now.
  void eraseSuperseded();

private:
  using Key = std::tuple<Value, Type, const void *>;
  llvm::DenseMap<Key, ScaledValue> known;
  llvm::DenseMap<std::pair<Value, unsigned>, Value> spreadAlong;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_SCALE_QUANTIZER_H
