// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions as products of words: which can be, and what the word ops come down to.

#ifndef MP_LIB_TRANSFORMS_COMMON_WORDCODE_H
#define MP_LIB_TRANSFORMS_COMMON_WORDCODE_H

#include "mp/Dialect/MP/Words.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp {

/// The operands of a contraction by what becomes of them in a product of words.
struct WordOperands {
  SmallVector<OpOperand *, 2> factors; ///< two
  OpOperand *init = nullptr;           ///< added once, behind the products
  SmallVector<OpOperand *, 1> addends; ///< a bias: the leading product keeps it, zero in the others
  SmallVector<OpOperand *, 2> zeros;   ///< zero points: constants of the factors' format
};

/// Nullopt if `op` cannot be computed by `scheme`: it must be linear in each of two f32 factors,
/// ranked tensors, and return f32 whatever the format of its factors. `whyNot`, if given, says what
/// is missing.
std::optional<WordOperands> viewWords(Operation *op, ::mp::numerics::MultiWord scheme,
                                      std::string *whyNot = nullptr);

/// True for a tensor of zeros: a splat constant, or linalg.fill of one.
bool isZeroTensor(Value value);

/// What the ops mean in casts and arithmetic, on scalars, vectors or tensors.
Value expandWords(OpBuilder &builder, NextWordOp op);
Value expandWords(OpBuilder &builder, JoinWordsOp op);
/// Does so to all in `root`.
void expandAllWords(Operation *root);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_WORDCODE_H
