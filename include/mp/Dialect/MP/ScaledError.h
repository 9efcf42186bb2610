// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the attribute by which mp-insert-scaling tells mp-assign-precision what it has cost.

#ifndef MP_DIALECT_MP_SCALEDERROR_H
#define MP_DIALECT_MP_SCALEDERROR_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On a function: the modelled mean square error of its results, relative to their own, from
/// contractions that work on scaled values (f64). NaN where that cannot be modelled.
inline constexpr llvm::StringLiteral kScaledErrorAttrName = "mp.scaled_error";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_SCALEDERROR_H
