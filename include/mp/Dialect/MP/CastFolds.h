// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of casts: a premise of folding those that return to a format, and the names of rounding
// and overflow in lib/Numerics.

#ifndef MP_DIALECT_MP_CASTFOLDS_H
#define MP_DIALECT_MP_CASTFOLDS_H

#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Cast.h"

namespace mlir::mp {

/// True if an infinity of the result's own format does not come through: saturation makes it the
/// largest finite number. All other values of that format do, whatever the rounding, as
/// tools/dev/numerics/exact-rewrites proves.
bool clampsInfinities(CastOp cast);

/// The rules of an op as lib/Numerics names them.
numerics::Rounding toNumerics(Rounding rounding);
numerics::Overflow toNumerics(Overflow overflow);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_CASTFOLDS_H
