// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives facts of the elements of one value from those of its operands.

#ifndef MP_LIB_PROOFS_TRANSFER_H
#define MP_LIB_PROOFS_TRANSFER_H

#include "Relations.h"

namespace mlir::mp::proofs {

class Transfer {
public:
  /// `narrow`: f32 factors of contractions that fit it may be rounded to it.
  Transfer(FloatType narrow, Relations::FactsOf facts) : narrow(narrow), facts(std::move(facts)) {}

  /// Nothing for ops that the checker does not know.
  std::optional<Facts> derive(Value value);
  /// Elements of a constant; nothing for what is none.
  std::optional<Facts> constant(Value value);

private:
  std::optional<Facts> ofBodyArgument(BlockArgument argument);
  std::optional<Facts> ofFunction(Operation *op);
  std::optional<Facts> ofSelect(Operation *op);
  std::optional<Facts> ofStructured(linalg::LinalgOp op, unsigned index);
  std::optional<Facts> ofReduction(linalg::LinalgOp op, unsigned index);
  /// Returns what the steps of a reduction hand on in place of `argument`.
  Facts ofPartialResult(linalg::LinalgOp op, BlockArgument argument);
  /// Returns what an extremum of `term` is taken over. That is what was padded, if every window
  /// meets it and no result lies beyond the padding.
  Facts ofExtremumTerm(linalg::LinalgOp op, Function fn, Value term);
  std::optional<Facts> ofTosaReduction(Operation *op, unsigned axis);
  std::optional<Facts> ofTosaContraction(Operation *op);
  std::optional<Facts> ofMove(Operation *op);
  std::optional<Facts> ofInteger(Operation *op);
  /// A factor of a contraction as it is read, and the norm of `count` of its elements.
  std::pair<Facts, double> factor(Value value, double count, bool alongRows);
  Facts contract(const std::pair<Facts, double> &x, const std::pair<Facts, double> &y, double count,
                 const Facts &start, Type type);

  FloatType narrow;
  Relations::FactsOf facts;
};

/// The length of rows of a tensor; 1 for scalars, nothing where it is not known.
std::optional<double> rowLength(Type type);
/// Each of range and norm bounds the other.
void relateNorm(Facts &facts, std::optional<double> length);

} // namespace mlir::mp::proofs

#endif // MP_LIB_PROOFS_TRANSFER_H
