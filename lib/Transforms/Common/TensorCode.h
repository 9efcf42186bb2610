// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise and reducing linalg.generic, written from their scalar code.

#ifndef MP_LIB_TRANSFORMS_COMMON_TENSORCODE_H
#define MP_LIB_TRANSFORMS_COMMON_TENSORCODE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

/// Builds scalar code from one element of each operand.
using ScalarCode = function_ref<Value(OpBuilder &, Location, ValueRange elements)>;

/// A tensor in the shape of the first operand, with elements of `element`. Operands of
/// that rank are read in place; rank-0 operands are the same for every element.
Value buildElementwise(OpBuilder &builder, Location loc, ValueRange operands, Type element,
                       ScalarCode code);
/// The same with a map per operand from the dimensions of the result, whose sizes are
/// those of `like`.
Value buildElementwise(OpBuilder &builder, Location loc, ValueRange operands,
                       ArrayRef<AffineMap> maps, Value like, Type element, ScalarCode code);

/// Reduces `x` over `axes`: starting from `first`, `code` combines an element of `x` with
/// what there is so far.
Value buildReduction(OpBuilder &builder, Location loc, Value x, ArrayRef<int64_t> axes,
                     TypedAttr first, ScalarCode code);

/// Sizes of `x`, as constants where they are static.
SmallVector<OpFoldResult> sizesOf(OpBuilder &builder, Location loc, Value x);

/// A rank-0 tensor or scalar constant.
Value scalarTensor(OpBuilder &builder, Location loc, TypedAttr value);
Value scalar(OpBuilder &builder, Location loc, TypedAttr value);

/// An element converted to f32, and from it, by the rules of `mp.cast`.
Value widen(OpBuilder &builder, Location loc, Value element, Type to);
Value narrow(OpBuilder &builder, Location loc, Value element, Type to, Overflow overflow);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_TENSORCODE_H
