// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion between float formats as arith ops on bit patterns: the formulas of
// lib/Numerics/Cast.cpp without branches, for scalars and vectors alike.
#ifndef MP_LIB_TRANSFORMS_INTEROP_FORMATARITHMETIC_H
#define MP_LIB_TRANSFORMS_INTEROP_FORMATARITHMETIC_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Numerics/Cast.h"

namespace mlir::mp {

/// Emits, at `builder`, the conversion of `value` (a float or a vector of floats
/// of the format `from`; tf32 as an f32 value) to `to` and returns the result as
/// a float, or vector, of type `resultType`. `randomBits`, i32 of the same shape,
/// is read by the stochastic rounding only. `from` and `to` differ.
Value emitConversion(OpBuilder &builder, Location loc, Value value, numerics::Format from,
                     Type resultType, numerics::Format to, numerics::Rounding rounding,
                     numerics::Overflow overflow, Value randomBits = {});

/// Emits what `op`, an `mp.cast` or `mp.round` on scalars or vectors, computes.
/// Fails for formats of more than 64 bits.
FailureOr<Value> emitConversion(OpBuilder &builder, Operation *op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_INTEROP_FORMATARITHMETIC_H
