// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the choice of layouts in a block as an assignment problem.

#ifndef MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTPROBLEM_H
#define MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTPROBLEM_H

#include "LayoutCosts.h"
#include "mp/Assignment/Problem.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

/// Nodes are ops; what they may store values in is the order of dimensions, and what the problem
/// calls a cast is a transposition. Whatever does not move (arguments, results, ops that are not
/// known) reads and stores values as they lie.
class LayoutProblem {
public:
  LayoutProblem(Block &block, const Ranks &ranks, LayoutCosts &costs);

  static constexpr assignment::TypeId kAsIs = 0, kLast = 1;

  const assignment::Problem &getProblem() const { return problem; }
  /// The ops that may move, in their order, and their nodes.
  ArrayRef<std::pair<Operation *, assignment::NodeId>> getOps() const { return ops; }

private:
  void addOp(Operation *op);
  bool isTracked(Value value) const { return mayMove(value, ranks) && !isUniform(value); }
  assignment::ValueId idOf(Value value);
  /// Adds a node that reads and stores everything as it lies.
  void addFixed(ArrayRef<Value> reads, ValueRange results);
  void addMoving(Operation *op, Moves moves);

  Block &block;
  const Ranks &ranks;
  LayoutCosts &costs;
  assignment::Problem problem;
  llvm::DenseMap<Value, assignment::ValueId> ids;
  SmallVector<std::pair<Operation *, assignment::NodeId>> ops;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTPROBLEM_H
