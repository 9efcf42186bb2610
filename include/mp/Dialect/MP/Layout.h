// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the attributes of tensors that lie in another order of dimensions than the graph's.

#ifndef MP_DIALECT_MP_LAYOUT_H
#define MP_DIALECT_MP_LAYOUT_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On what mp-choose-layouts wrote. On a `linalg.generic`, the order of its loops: loop i is the
/// original's loop order[i]. On a transposition, which is not the original's, and on a padding,
/// without a value.
inline constexpr llvm::StringLiteral kLayoutAttrName = "mp.layout";
/// On a function: what was chosen, in words.
inline constexpr llvm::StringLiteral kLayoutPlanAttrName = "mp.layout_plan";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_LAYOUT_H
