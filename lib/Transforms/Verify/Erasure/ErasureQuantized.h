// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks sums of stored codes against sums of codes as numbers in f32: the same bits, short of NaN.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREQUANTIZED_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREQUANTIZED_H

#include "mp/Dialect/MP/FakeQuantize.h"

namespace mlir::mp {

/// True if `converted` stores the codes that `original` has in f32.
bool storesCodes(Operation *original, Operation *converted);

/// Says why stored codes do not stand for the same numbers: what reads them must be sums that f32
/// and i32 both compute exactly. Empty if they do.
std::string whyOtherNumbers(FakeQuantizeOp converted);

/// True if `converted` is the named op `original` on stored codes, its sums in i32; or the same
/// loops in a body that also subtracts zero points.
bool sumsStoredCodes(Operation *original, Operation *converted);

/// True for zero points of stored codes, as integers that sums of them subtract.
bool isStoredZero(Operation *op);

/// The sums in i32 that `op` brings back to f32; null for other ops.
Value getSumsBroughtBack(Operation *op);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREQUANTIZED_H
