// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the body of a dispatch as elementwise work and reductions over one space of loops: which
// loops are rows, which are reduced, and in which order reductions need each other.

#ifndef MP_LIB_KERNELS_PLAN_STREAMPLAN_H
#define MP_LIB_KERNELS_PLAN_STREAMPLAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// A value changes along rows, along columns, along both or neither (bits).
enum Varies : unsigned { kUniform = 0, kAlongRows = 1, kAlongColumns = 2 };

/// One loop of all ops of a body: where two ops read or write the same dimension of a tensor, their
/// loops are one. Loops of a single iteration are none.
struct StreamLoop {
  int64_t size;           ///< kDynamic where it is not known
  unsigned argument = 0;  ///< an argument of the body that has this size
  unsigned dimension = 0; ///< as its dimension
};

/// The one space of loops of a body.
struct LoopPlan {
  SmallVector<StreamLoop> loops;
  /// For each dimension of a tensor of the body its loop, or -1 where the size is one.
  DenseMap<Value, SmallVector<int>> dims;
  /// For each loop of an op of the body its loop here, or -1.
  DenseMap<Operation *, SmallVector<int>> opLoops;
  bool gathers = false; ///< a body reads an argument at indices that it computes

  /// Iterations of some loops; kDynamic where one is not known.
  int64_t extent(ArrayRef<unsigned> some) const;
};

struct StreamPlan : LoopPlan {
  /// Loops that are not reduced, and those that reductions reduce, outermost first. Without
  /// reductions all loops are rows.
  SmallVector<unsigned> rows, columns;
  /// Reductions by depth: those of one level need only those of the levels before.
  SmallVector<SmallVector<linalg::LinalgOp>> levels;
  /// The values that the body yields, and how many levels of reductions come before each.
  SmallVector<Value> results;
  SmallVector<unsigned> resultDepths;

  bool isColumn(int loop) const { return llvm::is_contained(columns, unsigned(loop)); }
  /// Varies bits of a tensor, or of a scalar (uniform).
  unsigned varies(Value value) const;
  /// "rows 0:128 columns 1:? level 0: linalg.generic addf ...", for tests.
  void print(llvm::raw_ostream &os) const;
};

/// Joins the loops of a body whose terminator yields its results. On failure `reason` says what
/// keeps them apart, as planStream does.
FailureOr<LoopPlan> planLoops(Block &body, std::string &reason);

/// The plan of a body whose terminator yields its results. On failure `reason` says why the body is
/// no such work, as the end of a sentence ("is not ... because" + reason).
FailureOr<StreamPlan> planStream(Block &body, std::string &reason);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_PLAN_STREAMPLAN_H
