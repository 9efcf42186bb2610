// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says of truth values which floats they compare, for errors of those make them come out otherwise,
// and how many are true: of those that compare positions along a dimension with something, one of
// n.

#ifndef MP_LIB_ANALYSIS_ERROR_TRUTHVALUES_H
#define MP_LIB_ANALYSIS_ERROR_TRUTHVALUES_H

#include "ErrorSignals.h"
#include "mlir/IR/Operation.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

/// The operands or results that are floats, or tensors of such.
SmallVector<Value> floatsOf(ValueRange values);

class TruthValues {
public:
  /// A value that is compared, and how densely its elements lie where the outcome changes.
  struct Compared {
    Value value;
    double density;
  };

  /// Notes what the result of `op`, which has no floats for results, is made of; ops are visited in
  /// program order.
  void visit(Operation *op, llvm::function_ref<ErrorSignal(Value)> signalOf);

  /// Takes `to` for what `from` is: arguments and results of bodies.
  void copy(Value from, Value to);

  /// The share of a truth value's elements that are true; 1 where it is not known.
  double getShare(Value value) const;

  /// The values that a truth value, or an integer made of such, compares.
  ArrayRef<Compared> getCompared(Value value) const;

private:
  void visitPositions(Operation *op);

  llvm::DenseMap<Value, SmallVector<Compared, 2>> conditions;
  llvm::DenseMap<Value, int64_t> positions; ///< along a dimension of how many elements
  llvm::DenseMap<Value, double> shares;
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_TRUTHVALUES_H
