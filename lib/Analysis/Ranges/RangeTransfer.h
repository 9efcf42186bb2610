// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows facts about ranges through one operation: the value domains of lib/Domains applied to
// what the op means, then the rounding of its result. Operands are independent here; what they have
// to do with each other is said by lemmas (Lemmas.h).

#ifndef MP_LIB_ANALYSIS_RANGES_RANGETRANSFER_H
#define MP_LIB_ANALYSIS_RANGES_RANGETRANSFER_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/LoopNest.h"

namespace mlir::mp {

/// Length of a tensor's rows, runs along the innermost dimension.
domains::RowLength rowLengthOf(Type type);

/// The elements that each result element of a linalg op with reduction loops is made of.
domains::ReducedElements reducedElements(const LoopNest &nest);

/// The loop along the rows that values in the body of a linalg op stand for.
std::optional<unsigned> rowLoopOf(const LoopNest &nest);

class RangeTransfer {
public:
  using Facts = domains::FloatFacts;
  using RowLength = domains::RowLength;

  explicit RangeTransfer(const RangeOptions &options) : options(options) {}

  /// Facts about a float result of `op`, which is no control flow and has no body. `operands`: one
  /// per operand, null for those that are no floats.
  Facts evaluate(Operation *op, const FloatMeaning &meaning, ArrayRef<const Facts *> operands,
                 RowLength rows);
  /// A selection, of which a comparison says more than that it is one of two values.
  Facts select(const Facts &yes, const Facts &no, const ChoiceBound &bound, RowLength rows) const;
  /// Groups of `elements` added up on top of `init`, in the format of `type`.
  Facts sum(const Facts &x, const domains::ReducedElements &elements, const Facts &init,
            Type type) const;
  /// The sum of the squares of `x`, bounded by the norms of its rows. `squares`: facts about them.
  Facts sumOfSquares(const Facts &x, const domains::ReducedElements &elements, const Facts &init,
                     const Facts &squares, Type type) const;
  /// The largest, or smallest, of each group and of `init`.
  Facts extremum(domains::BinaryFn fn, const Facts &x, domains::ReducedElements elements,
                 const Facts &init, Type type) const;
  /// The result of arithmetic in the format of `type`: exact facts, rounded.
  Facts roundedTo(const Facts &exact, Type type, RowLength rows) const;
  /// Facts about a constant; top where its elements cannot be read.
  Facts constant(Attribute value, Type type);
  /// A function as library and device code compute it, before its result is rounded.
  static Facts unary(domains::UnaryFn fn, const Facts &x, RowLength rows);
  static Facts binary(domains::BinaryFn fn, const Facts &x, const Facts &y, RowLength rows);

private:
  Facts fromInteger(Operation *op, RowLength rows) const;
  Facts integerPower(const Facts &x, int64_t exponent, Type type, RowLength rows) const;
  Facts castOf(Operation *op, const Facts &x, RowLength rows) const;
  static Facts moved(const Facts &x, const FloatMeaning &meaning, Type type, RowLength rows);
  Facts reduction(Operation *op, const FloatMeaning &meaning, const Facts &x, RowLength rows) const;
  Facts finishSum(Facts exact, const Facts &terms, double count, const Facts &init,
                  Type type) const;
  Facts contraction(Operation *op, const FloatMeaning &meaning, ArrayRef<const Facts *> operands,
                    RowLength rows) const;
  Facts average(const Facts &x, const FloatMeaning &meaning, Type type, RowLength rows) const;
  static Facts splitResidual(Operation *op, const Facts &x, RowLength rows);
  Facts joinSplit(ArrayRef<const Facts *> parts, Type type, RowLength rows) const;
  /// The format that results are rounded to; f64 where nothing is.
  std::optional<numerics::Format> formatOf(Type type) const;
  /// A factor as a contraction that may be narrowed reads it.
  Facts asFactor(const Facts &x, Type type, RowLength rows) const;

  const RangeOptions &options;
  DenseMap<Attribute, Facts> constants;
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_RANGETRANSFER_H
