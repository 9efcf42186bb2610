// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one operation does to ranges: the value domains applied to what the op
// means, then the relations between its operands, then the rounding of its result.

#ifndef MP_LIB_ANALYSIS_FLOATTRANSFER_H
#define MP_LIB_ANALYSIS_FLOATTRANSFER_H

#include "mp/Analysis/FloatRanges.h"
#include "mp/Analysis/Relations.h"

namespace mlir::mp {

/// Length of a tensor's rows, runs along the innermost dimension.
::mp::domains::RowLength rowLengthOf(Type type);

class FloatTransfer {
public:
  explicit FloatTransfer(const Relations &relations) : relations(relations) {}

  /// Ranges of the float results of an op without control flow, given those of its operands (any
  /// value for operands that are no floats).
  SmallVector<FloatRange> evaluate(Operation *op, ArrayRef<FloatRange> operands) {
    RowLength rows = op->getNumResults() > 0 ? rowLengthOf(op->getResult(0).getType()) : std::nullopt;
    return evaluate(op, operands, rows);
  }

private:
  using RowLength = ::mp::domains::RowLength;
  using Facts = ::mp::domains::FloatFacts;

  /// The same for an op in a body, whose scalars stand for rows of that length.
  SmallVector<FloatRange> evaluate(Operation *op, ArrayRef<FloatRange> operands, RowLength rows);
  FloatRange evaluateOne(Operation *op, const FloatMeaning &meaning, ArrayRef<FloatRange> operands,
                         RowLength rowLength);
  FloatRange constant(Operation *op);
  FloatRange unary(Operation *op, ::mp::domains::UnaryFn fn, const FloatRange &x, RowLength rows);
  FloatRange binary(Operation *op, ::mp::domains::BinaryFn fn, const FloatRange &x,
                    const FloatRange &y, RowLength rows);
  FloatRange contraction(Operation *op, const FloatMeaning &meaning, ArrayRef<FloatRange> operands,
                         RowLength rows);
  FloatRange sum(const FloatRange &x, const ::mp::domains::ReducedElements &elements, Type type,
                 StringRef op);
  void refineBinary(Operation *op, ::mp::domains::BinaryFn fn, const FloatRange &x,
                    const FloatRange &y, RowLength rows, Facts &facts);

  // StructuredTransfer.cpp
  /// A value of outside the body: a constant, or nothing is known of it.
  FloatRange captured(Value value, RowLength rows);
  SmallVector<FloatRange> structured(linalg::LinalgOp op, ArrayRef<FloatRange> operands);
  FloatRange reduction(linalg::LinalgOp op, unsigned index,
                       const DenseMap<Value, FloatRange> &inside, const FloatRange &init,
                       std::optional<unsigned> rowLoop);

  const Relations &relations;
  DenseMap<Attribute, Facts> constants;
};

/// The result of arithmetic in the format of `type`: exact facts, rounded.
::mp::domains::FloatFacts roundedTo(const ::mp::domains::FloatFacts &exact, Type type,
                                    ::mp::domains::RowLength rows);

/// The same for a sum of `terms` terms of magnitude `mag`, rounded after each: by at most
/// (terms - 1) u terms mag, whatever the order.
::mp::domains::FloatFacts withSumError(const ::mp::domains::FloatFacts &exact, double terms,
                                       double mag, Type type, ::mp::domains::RowLength rows);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_FLOATTRANSFER_H
