// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions as split products: which can be, and what the part ops come down to.

#ifndef MP_LIB_TRANSFORMS_COMMON_SPLITCODE_H
#define MP_LIB_TRANSFORMS_COMMON_SPLITCODE_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp {

/// The operands of a contraction by what becomes of them in a product of parts.
struct SplitOperands {
  SmallVector<OpOperand *, 2> factors; ///< two
  OpOperand *init = nullptr;           ///< added once, behind the products
  SmallVector<OpOperand *, 1> addends; ///< a bias: the leading product keeps it, zero in the others
  SmallVector<OpOperand *, 2> zeros;   ///< zero points: constants of the factors' format
};

/// Nullopt if `op` cannot be computed by `scheme`: it must be linear in each of two f32 factors,
/// ranked tensors, and return f32 whatever the format of its factors. `whyNot`, if given, says what
/// is missing.
std::optional<SplitOperands> viewSplit(Operation *op, numerics::SplitScheme scheme,
                                       std::string *whyNot = nullptr);

/// True for a tensor of zeros: a splat constant, or linalg.fill of one.
bool isZeroTensor(Value value);

/// Expands the op into casts and arithmetic, on scalars, vectors or tensors.
Value expandSplit(OpBuilder &builder, SplitResidualOp op);
Value expandSplit(OpBuilder &builder, JoinSplitOp op);
/// Does so to all in `root`.
void expandAllSplits(Operation *root);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_SPLITCODE_H
