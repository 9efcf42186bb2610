// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the attribute that marks copies of functions.

#ifndef MP_DIALECT_MP_COPYOF_H
#define MP_DIALECT_MP_COPYOF_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On a copy of a private function: the name of what it was made of (docs/concepts/ControlFlow.md).
/// No symbol: to name a function is no use of it.
inline constexpr llvm::StringLiteral kCopyOfAttrName = "mp.copy_of";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_COPYOF_H
