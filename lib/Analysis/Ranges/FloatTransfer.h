// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one operation does to ranges: the value domains applied to what the op
// means, then the relations between its operands, then the rounding of its result.

#ifndef MP_LIB_ANALYSIS_RANGES_FLOATTRANSFER_H
#define MP_LIB_ANALYSIS_RANGES_FLOATTRANSFER_H

#include "mp/Analysis/FloatRanges.h"
#include "mp/Analysis/Relations.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

/// Length of a tensor's rows, runs along the innermost dimension.
domains::RowLength rowLengthOf(Type type);

class FloatTransfer {
public:
  FloatTransfer(const Relations &relations, RangesOf of) : relations(relations), of(of) {}

  /// Ranges of the float results of an op without control flow, given those of its operands (any
  /// value for operands that are no floats).
  SmallVector<FloatRange> evaluate(Operation *op, ArrayRef<FloatRange> operands) {
    RowLength rows =
        op->getNumResults() > 0 ? rowLengthOf(op->getResult(0).getType()) : std::nullopt;
    return evaluate(op, operands, rows);
  }

  /// The same of a linalg op; `inside` gets the ranges of its body's values, which stand for rows
  /// of that length: of the first input where something is reduced, else of the first result.
  SmallVector<FloatRange> structured(linalg::LinalgOp op, ArrayRef<FloatRange> operands,
                                     DenseMap<Value, FloatRange> &inside);

private:
  using RowLength = domains::RowLength;
  using Facts = domains::FloatFacts;

  /// The same for an op in a body, whose scalars stand for rows of that length.
  SmallVector<FloatRange> evaluate(Operation *op, ArrayRef<FloatRange> operands, RowLength rows);
  FloatRange evaluateOne(Operation *op, const FloatMeaning &meaning, ArrayRef<FloatRange> operands,
                         RowLength rowLength);
  static domains::FloatFacts splitResidual(Operation *op, const domains::FloatFacts &x,
                                           RowLength rows);
  domains::FloatFacts joinSplit(ArrayRef<FloatRange> parts, Type type, RowLength rows) const;
  FloatRange constant(Operation *op);
  FloatRange unary(Operation *op, domains::UnaryFn fn, const FloatRange &x, RowLength rows);
  FloatRange binary(Operation *op, domains::BinaryFn fn, const FloatRange &x, const FloatRange &y,
                    RowLength rows);
  FloatRange contraction(Operation *op, const FloatMeaning &meaning, ArrayRef<FloatRange> operands,
                         RowLength rows);
  FloatRange sum(const FloatRange &x, const domains::ReducedElements &elements, Type type,
                 StringRef op);
  void refineBinary(Operation *op, domains::BinaryFn fn, const FloatRange &x, const FloatRange &y,
                    RowLength rows, Facts &facts);

  // StructuredTransfer.cpp
  /// A value of outside the body: a constant, or nothing is known of it.
  FloatRange captured(Value value, RowLength rows);
  FloatRange reduction(linalg::LinalgOp op, unsigned index,
                       const DenseMap<Value, FloatRange> &inside, const FloatRange &init,
                       std::optional<unsigned> rowLoop);

  /// The result of arithmetic in the format of `type`: exact facts, rounded.
  Facts roundedTo(const Facts &exact, Type type, RowLength rows) const;
  /// The same for a sum of `terms` terms of magnitude `mag`, rounded after each, whatever the
  /// order.
  Facts withSumError(const Facts &exact, double terms, double mag, Type type, RowLength rows) const;
  /// The same for a sum that is off by up to `radius` before it is stored.
  static Facts withError(const Facts &exact, double radius, numerics::Format format,
                         RowLength rows);
  /// What results are rounded to; f64 where nothing is.
  std::optional<numerics::Format> formatOf(Type type) const;

  const Relations &relations;
  RangesOf of;
  DenseMap<Attribute, Facts> constants;
};

/// The elements that each result element of a linalg op with reduction loops is made of. `rowLoop`:
/// the loop along the rows of what is reduced.
domains::ReducedElements reducedElements(linalg::LinalgOp op, std::optional<unsigned> rowLoop);

/// The loop along the rows that values in the body of `op` stand for.
std::optional<unsigned> rowLoopOf(linalg::LinalgOp op);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_FLOATTRANSFER_H
