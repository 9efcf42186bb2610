// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic in narrow formats, correctly rounded, by way of f32.

#ifndef MP_NUMERICS_ARITHMETIC_H
#define MP_NUMERICS_ARITHMETIC_H

#include "mp/Numerics/Cast.h"

namespace mpcore::numerics {

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Rem, ///< with the sign of the dividend, as arith.remf and C's fmod
};

/// `a op b` for patterns of a signed format narrower than f32: both widened, the
/// operation done in f32, the result converted to nearest even. That is the
/// correctly rounded result: for formats of at most 11 significand bits, 24 are
/// enough to make the second rounding harmless (24 >= 2 * 11 + 2; Figueroa,
/// "When is double rounding innocuous?", 1995).
uint64_t arithmetic(BinaryOp op, uint64_t a, uint64_t b, Format format,
                    Overflow overflow = Overflow::IEEE);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_ARITHMETIC_H
