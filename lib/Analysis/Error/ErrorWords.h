// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of words as the one product that they stand for.

#ifndef MP_LIB_ANALYSIS_ERROR_ERRORWORDS_H
#define MP_LIB_ANALYSIS_ERROR_ERRORWORDS_H

#include "mp/Dialect/MP/Words.h"
#include "mp/Domains/Error.h"

namespace mlir::mp {

struct WordProducts {
  Operation *leading = nullptr; ///< of the first words
  ::mp::numerics::MultiWord scheme;
  unsigned factors[2]; ///< operand numbers of the products
  Value sources[2];    ///< what the words are of; the first word itself where they are constants

  bool isFactor(OpOperand &operand) const;
  /// What stands for an operand of the leading product: the source of a word.
  Value sourceOf(OpOperand &operand) const;
  /// A constant whose first word is `first`.
  ::mp::domains::Measured withRest(::mp::domains::Measured first) const;
};

/// Nullopt unless the products are those of a scheme, in its order, of words made by casts and
/// `mp.next_word` of one source each, or of constants no larger than such words.
std::optional<WordProducts> viewWordProducts(JoinWordsOp joined);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_ERRORWORDS_H
