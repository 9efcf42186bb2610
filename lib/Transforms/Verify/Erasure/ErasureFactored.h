// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks two products by factors against one by a weight: the rewrite of mp-factor-weights, as the
// erasure checker knows it.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREFACTORED_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREFACTORED_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mp {

/// True if `converted` is the second of two products, and `original` is not.
bool standsForWhole(Operation *original, Operation *converted);

/// The first products of all such pairs in a function; none if `original` has pairs itself.
llvm::DenseSet<Operation *> findFirstProducts(Operation *original, Operation *converted);

/// Says what differs if `converted` and the product before it do not multiply, with maps that are
/// those of `original`, the same rows by constants whose product is as near to the original's
/// constant as the op says; empty if they do. Factors in narrow formats may be further off by their
/// own rounding.
std::string compareFactored(Operation *original, Operation *converted,
                            llvm::function_ref<bool(Value original, Value converted)> isSame);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREFACTORED_H
