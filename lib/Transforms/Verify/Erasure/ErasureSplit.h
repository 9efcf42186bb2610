// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches split products with what they stand for: the rewrite of mp-split-contractions, as the
// erasure checker knows it.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESPLIT_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESPLIT_H

#include "mp/Dialect/MP/SplitOps.h"

namespace mlir::mp {

/// Tells whether a converted value stands for an original one.
using SameValue = llvm::function_ref<bool(Value original, Value converted)>;

/// Says what differs if `joined` does not add up the products of a split scheme of what `original`,
/// a contraction, multiplies, and what that adds to; empty if it does.
std::string compareProducts(Operation *original, JoinSplitOp joined, SameValue isSame);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASURESPLIT_H
