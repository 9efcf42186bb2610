// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the attribute of functions whose errors were certified.

#ifndef MP_DIALECT_MP_CERTIFIED_H
#define MP_DIALECT_MP_CERTIFIED_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On a function: a certificate bounds the errors of its results, and counts math functions as
/// within a unit in the last place. It keeps `math=auto` from approximating them.
inline constexpr llvm::StringLiteral kCertifiedAttrName = "mp.certified";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_CERTIFIED_H
