// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One sweep over a function under one set of arguments: control flow, structured ops, calls. What
// single operations do stands in RangeTransfer.cpp and AssumptionTransfer.cpp.

#ifndef MP_LIB_ANALYSIS_RANGES_RANGESWEEP_H
#define MP_LIB_ANALYSIS_RANGES_RANGESWEEP_H

#include "RangeTransfer.h"
#include "mp/Analysis/Idioms/Idioms.h"
#include "mp/Interfaces/LoopNest.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp {

class RangeSweep {
public:
  RangeSweep(ModuleRanges &module, FunctionOpInterface function, const ValueNumbering &values,
             llvm::function_ref<const TrustedNorms &()> norms, RangeTransfer &transfer,
             FunctionRanges &result);

  /// Fills in the result.
  void run(ArrayRef<RangeState> arguments);

private:
  using Facts = domains::FloatFacts;
  using RowLength = domains::RowLength;
  /// Says where the elements of a value lie: their rows, and the dimension of its index space that
  /// they run along, if there is one of more than one step.
  struct Rows {
    RowLength length;
    std::optional<unsigned> dim;
  };

  void collectGuarded(Region &body);
  void visitRegion(Region &region);
  void visitOp(Operation *op);
  void visitControl(Operation *op);
  /// Visits all regions once; their arguments are unknown but for those that stand for `carried`.
  void visitBodies(Operation *op, ArrayRef<CarriedValue> carried = {},
                   ArrayRef<RangeState> known = {});
  void visitCall(CallOpInterface call);
  void visitStructured(linalg::LinalgOp op);
  void visitBody(linalg::LinalgOp op, const Rows &rows);
  void finishParallel(linalg::LinalgOp op, const LoopNest &nest);
  void visitReduction(linalg::LinalgOp op, const LoopNest &nest, const Rows &rows);
  /// Result `index` of a reduction that adds to it, or keeps an extremum; nothing for others.
  std::optional<RangeState> combine(linalg::LinalgOp op, unsigned index, const LoopNest &nest,
                                    const Rows &rows);
  /// Computes and sets the results of an op without control flow.
  void evaluate(Operation *op, const FloatMeaning &meaning, const Rows &rows);

  bool isUnreached(ValueRange operands) const;
  void setUnreached(ValueRange results);
  void set(Value value, RangeState state);
  /// Takes what `mp.range` says of a value for true.
  static void promise(RangeState &state, ArrayAttr range, RowLength rows);
  /// Applies lemmas, stated ranges, trusted idioms and piecewise bounds to what is known.
  void refine(Value value, RangeState &state, const Rows &rows);
  void refineByLemmas(Value value, RangeState &state, const Rows &rows);
  void refineByTrust(Value value, RangeState &state);
  void refineInPieces(Value value, RangeState &state, const Rows &rows);
  static Rows rowsOf(Value value);

  RangeState lookup(Value value) const;
  const Facts *factsOf(NodeId node) const;

  ModuleRanges &module;
  FunctionOpInterface function;
  const ValueNumbering &values;
  llvm::function_ref<const TrustedNorms &()> norms;
  RangeTransfer &transfer;
  FunctionRanges &result;
  Lemmas kernel;
  std::vector<Value> representatives; ///< per node, a value that is all of it
};

/// Widens what is carried to what comes back; false if it holds that already. Ranges that still
/// grow on the second visit of a body are given up, growth on the third, on the fourth everything.
bool widen(RangeState &known, const RangeState &after, unsigned visit, StringRef lostAt);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_RANGESWEEP_H
