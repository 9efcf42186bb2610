// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of a body that computes several, each with what runs on its result.

#ifndef MP_LIB_KERNELS_PLAN_PRODUCTPARTS_H
#define MP_LIB_KERNELS_PLAN_PRODUCTPARTS_H

#include "mp/Dialect/MPK/MPKDialect.h"

namespace mlir::mp {

/// Ops of a body that yield some of its results, and no others need.
struct ProductPart {
  SmallVector<Operation *> ops;         ///< in the order of the body, constants first
  SmallVector<BlockArgument> arguments; ///< that they read, those of `results` left out
  SmallVector<unsigned> results;        ///< numbers of what the body yields
};

/// One part for each contraction that is marked mpk.mma. Fails, and says why, where something is
/// computed from two of them or from none.
FailureOr<SmallVector<ProductPart>> splitProducts(Block &body, std::string &reason);

/// Writes a part of `body` into an empty block with its arguments, and those of its results, and
/// ends it by mpk.yield.
void writePart(const ProductPart &part, Block &body, Block &block);

/// Succeeds if a kernel of matrices can compute the body: one contraction and what runs on its
/// result, or several such that do not need each other.
LogicalResult checkProducts(Block &body, std::string &reason);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_PLAN_PRODUCTPARTS_H
