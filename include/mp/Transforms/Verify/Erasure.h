// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that a converted module is the original one plus casts, and nothing else.

#ifndef MP_TRANSFORMS_VERIFY_ERASURE_H
#define MP_TRANSFORMS_VERIFY_ERASURE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::mp {

/// Succeeds if `converted` becomes `original` when what mp put in is taken out again:
///
/// - `mp.cast` and `mp.round` marked `inserted` stand for their source,
/// - constants, `tensor.empty` and `linalg.fill` may be made again in other formats; a constant
///   must be the original's value, or that value rounded to nearest even into its new format; an
///   f32 factor of a contraction may be rounded to tf32,
/// - in bodies of linalg ops, `arith.extf` may widen an argument whose format changed back to the
///   original's,
/// - element formats of floats are free, except in signatures of functions that are not private,
/// - private functions may have copies, each of which must match the function it stands for,
/// - multiplications by powers of two marked `mp.prescaled` stand for their source where nothing of
/// them is left in the end:
///   every op in between passes them on, and constants added on the way are multiplied with them,
/// - with `allowPromotion`, an op whose result was narrower than f32 may compute, accumulate and
///   return in f32, its body with it (*promotion*).
///
/// Everything else must agree: ops and their order, operands, attributes, shapes, blocks. Errors
/// stand at the converted op with a note at the original; the first of each function is reported.
LogicalResult checkErasure(ModuleOp original, ModuleOp converted, bool allowPromotion = true);

} // namespace mlir::mp

#endif // MP_TRANSFORMS_VERIFY_ERASURE_H
