// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the attribute that marks clamped constants.

#ifndef MP_DIALECT_MP_SATURATION_H
#define MP_DIALECT_MP_SATURATION_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On a constant whose finite elements were clamped to the largest of its format: how many were.
inline constexpr llvm::StringLiteral kSaturatedAttrName = "mp.saturated";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_SATURATION_H
