// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the attributes that annotating passes write. They say what an analysis found; no pass
// reads them.

#ifndef MP_DIALECT_MP_ANNOTATIONS_H
#define MP_DIALECT_MP_ANNOTATIONS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// An array of strings, see mp-annotate-idioms.
inline constexpr llvm::StringLiteral kIdiomAttrName = "mp.idiom";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_ANNOTATIONS_H
