// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names the attributes of plans that trade time for memory.

#ifndef MP_DIALECT_MP_RECOMPUTED_H
#define MP_DIALECT_MP_RECOMPUTED_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// On an op that computes what another op of its block has computed before, so that it need not be
/// kept meanwhile. It keeps such ops from being merged.
inline constexpr llvm::StringLiteral kRecomputedAttrName = "mp.recomputed";
/// On a function: what was planned, in words.
inline constexpr llvm::StringLiteral kMemoryPlanAttrName = "mp.memory_plan";

} // namespace mlir::mp

#endif // MP_DIALECT_MP_RECOMPUTED_H
