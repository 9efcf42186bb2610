// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names what mp-outline-loops says of the functions that it makes.

#ifndef MP_DIALECT_MP_LOOPWORK_H
#define MP_DIALECT_MP_LOOPWORK_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On a function of loops: about how many operations on scalars all its calls in one call of the
/// program execute. Nothing where that is not known.
inline constexpr llvm::StringLiteral kLoopWorkAttrName = "mp.loop_work";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_LOOPWORK_H
