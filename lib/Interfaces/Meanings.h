// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meanings that ops of several dialects share, for the third column of their tables.

#ifndef MP_LIB_INTERFACES_MEANINGS_H
#define MP_LIB_INTERFACES_MEANINGS_H

#include "mp/Interfaces/FloatSemanticsOpInterface.h"

namespace mlir::mp::detail {

using domains::BinaryFn;
using domains::Extent;
using domains::ReduceFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;
using Rows = FloatMeaning::Rows;

/// The function `fn` of one operand, or of two.
template <auto fn> FloatMeaning computes(Operation *) {
  FloatMeaning meaning;
  if constexpr (std::is_same_v<decltype(fn), UnaryFn>) {
    meaning = FloatMeaning::of(Kind::Unary, {0});
    meaning.unary = fn;
  } else {
    meaning = FloatMeaning::of(Kind::Binary, {0, 1});
    meaning.binary = fn;
  }
  return meaning;
}

/// Elements of operand 0 move; the fate of rows is `rows`.
template <Rows rows> FloatMeaning moves(Operation *) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Move, {0});
  meaning.rows = rows;
  return meaning;
}

template <arith::CmpFPredicate predicate> FloatMeaning comparesTo(Operation *) {
  FloatMeaning meaning = FloatMeaning::of(Kind::Compare, {0, 1});
  meaning.predicate = predicate;
  return meaning;
}

/// One of operands 1 and 2, as operand 0 says.
FloatMeaning selects(Operation *op);
/// A constant.
FloatMeaning isConstant(Operation *op);
/// A change of shape: rows survive where the innermost dimension is kept.
FloatMeaning reshapes(Operation *op);
/// Each element is one of some float operand.
FloatMeaning mergesFloats(Operation *op);

/// Number of terms along dimension `dim`, if static; else any.
Extent extentOf(Value value, int64_t dim);
Extent product(Extent a, Extent b);

} // namespace mlir::mp::detail

#endif // MP_LIB_INTERFACES_MEANINGS_H
