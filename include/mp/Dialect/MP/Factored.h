// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names what stands for a product by a weight of low rank.

#ifndef MP_DIALECT_MP_FACTORED_H
#define MP_DIALECT_MP_FACTORED_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On the second of two products, by V, that stand for one by a weight W near U V; the first, by U,
/// makes its other factor. The value is a bound on the Frobenius norm of W - U V over that of W.
inline constexpr llvm::StringLiteral kFactoredAttrName = "mp.factored";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_FACTORED_H
