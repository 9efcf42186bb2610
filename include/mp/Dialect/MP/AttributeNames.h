// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of discardable attributes that few files read or write; MPDialect.h has the others.

#ifndef MP_DIALECT_MP_ATTRIBUTENAMES_H
#define MP_DIALECT_MP_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// An array of strings, see mp-annotate-idioms: it says what an analysis found, and no pass reads
/// it.
inline constexpr llvm::StringLiteral kIdiomAttrName = "mp.idiom";
/// On a function: a certificate bounds the errors of its results, and counts math functions as
/// within a unit in the last place. It keeps `math=auto` from approximating them.
inline constexpr llvm::StringLiteral kCertifiedAttrName = "mp.certified";
/// On a copy of a private function: the name of what it was made of (docs/concepts/ControlFlow.md).
/// No symbol: to name a function is no use of it.
inline constexpr llvm::StringLiteral kCopyOfAttrName = "mp.copy_of";
/// On a `linalg.generic` that multiplies by a power of two, to keep the squares of a norm within
/// their format: "norm" before the squares, "root" behind the root.
inline constexpr llvm::StringLiteral kPrescaledAttrName = "mp.prescaled";
/// On a constant whose finite elements were clamped to the largest of its format: how many were.
inline constexpr llvm::StringLiteral kSaturatedAttrName = "mp.saturated";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_ATTRIBUTENAMES_H
