// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the attribute that marks multiplications by powers of two that keep the squares of a norm
// within their format.

#ifndef MP_DIALECT_MP_PRESCALED_H
#define MP_DIALECT_MP_PRESCALED_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On a `linalg.generic` that multiplies by a power of two: "norm" before the squares, "root"
/// behind the root.
inline constexpr llvm::StringLiteral kPrescaledAttrName = "mp.prescaled";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_PRESCALED_H
