// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares 1 / sqrt(x) with the bits of a correctly rounded root and a correctly rounded quotient.

#ifndef MP_LIB_KERNELS_LOWER_RECIPROCALROOT_H
#define MP_LIB_KERNELS_LOWER_RECIPROCALROOT_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mp {

/// 1 / sqrt(x) of f32 from one rsqrt.approx, without branches: ptxas makes 80 more instructions of
/// sqrt.rn and div.rn, most of them of paths that are hardly ever taken.
Value reciprocalRoot(ImplicitLocOpBuilder &b, Value x);

/// Refines what rsqrt.approx returned for x between 2^-96 and infinity until root and quotient are
/// rounded as IEEE arithmetic does. `Math` has mul, fma, neg and c (a constant) of f32:
/// ReciprocalRootTest tries all significands with all that the manual allows the instruction.
template <class Math, class Number>
Number refineReciprocalRoot(Math &m, Number x, Number approximate) {
  // The root, and half of its reciprocal.
  Number root = m.mul(x, approximate), half = m.mul(approximate, m.c(0.5));
  Number miss = m.fma(m.neg(root), half, m.c(0.5));
  half = m.fma(half, miss, half);
  root = m.fma(root, miss, root);
  root = m.fma(m.fma(m.neg(root), root, x), half, root);
  // Its reciprocal, from above: from below 1 / (2 - 2^-23) ends at a tie.
  Number quotient = m.mul(half, m.c(2 + 0x1p-22));
  for (int step = 0; step < 2; ++step)
    quotient = m.fma(m.fma(m.neg(root), quotient, m.c(1)), quotient, quotient);
  return quotient;
}

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_LOWER_RECIPROCALROOT_H
