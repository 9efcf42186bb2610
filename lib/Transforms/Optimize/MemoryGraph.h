// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function of one block as steps and values whose storage is planned.

#ifndef MP_LIB_TRANSFORMS_OPTIMIZE_MEMORYGRAPH_H
#define MP_LIB_TRANSFORMS_OPTIMIZE_MEMORYGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Assignment/Recompute.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Performance/CostModel.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

/// Ops compute what needs storage: each op's tensors are one value of the problem. Views
/// (reshapes, slices) share the storage of what they show; constants, empty tensors and fills are
/// made wherever they are written to; arguments belong to the caller.
class MemoryGraph {
public:
  /// `narrow`, if not null, is a format in which values may be stored meanwhile.
  /// With `late`, what is read late alone may be computed there.
  MemoryGraph(func::FuncOp function, const mpcore::performance::CostModel &costs, FloatType narrow,
              bool late);

  /// Says why there can be no plan; empty if there can.
  const std::string &whyNot() const { return reason; }

  const assignment::MemoryProblem &getProblem() const { return problem; }
  Operation *opOf(uint32_t step) const { return ops[step]; }

  /// The op that computes what `value` shows; null if that is an argument or made where it is read.
  Operation *storageOf(Value value) const;
  /// The number of what `op` computes.
  uint32_t valueOf(Operation *op) const { return numbers.lookup(op); }
  /// The op's results that have storage.
  static SmallVector<Value> tensorsOf(Operation *op);
  /// Returns what `op` reads, its regions included.
  static SmallVector<OpOperand *> readsOf(Operation *op);

private:
  void addStep(Operation *op);
  int64_t timeOf(Operation *op) const;
  int64_t takenOver(Operation *op) const;

  const mpcore::performance::CostModel &costs;
  FloatType narrow;
  bool late;
  assignment::MemoryProblem problem;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, uint32_t> numbers;
  std::string reason;
};

/// True for constants, empty tensors and what one number fills: made wherever it is read.
bool isMade(Operation *op);
/// Makes that again, with all that it is made from.
Operation *makeAgain(OpBuilder &builder, Operation *op);

/// Gives every op that writes into an empty or filled tensor one of its own, right before it.
void separateInits(func::FuncOp function);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_OPTIMIZE_MEMORYGRAPH_H
