// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the scalar ops that a kernel computes by the GPU's approximate instructions.

#ifndef MP_LIB_KERNELS_BUILD_MATHFORMS_H
#define MP_LIB_KERNELS_BUILD_MATHFORMS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mp {

/// Exact: every op is what it was. Approximate: of f32,
///   exp(x - y), y constant along a row   ex2.approx(fma(x, log2 e, -(y log2 e)))
///   exp, exp2, tanh, rsqrt               their instruction
///   x / y, y constant along a row        x * (1 / y), once a row, by rcp.approx; y known: by its
///                                        rounded reciprocal
///   x * y + z                            one rounding, where LLVM finds it
/// Bounds are in docs/concepts/Numerics.md.
struct MathForms {
  bool approximate = false;

  /// The form of `op` on these scalars, or null: the op itself. `isFixed` tells of a scalar that it
  /// is the same along a row.
  Value form(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands,
             function_ref<bool(Value)> isFixed) const;
  /// Marks what the op may be contracted with.
  void allow(Operation *op) const;
};

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_BUILD_MATHFORMS_H
