// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A premise of folding a cast that returns to a format.

#ifndef MP_DIALECT_MP_CASTFOLDS_H
#define MP_DIALECT_MP_CASTFOLDS_H

#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

/// True if an infinity of the result's own format does not come through: saturation makes it the
/// largest finite number. All other values of that format do, whatever the rounding, as
/// tools/dev/numerics/exact-rewrites proves.
bool clampsInfinities(CastOp cast);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_CASTFOLDS_H
