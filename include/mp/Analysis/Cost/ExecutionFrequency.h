// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts how often ops run.

#ifndef MP_ANALYSIS_COST_EXECUTIONFREQUENCY_H
#define MP_ANALYSIS_COST_EXECUTIONFREQUENCY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

/// Runs of an op per call of its function: the product of the trip counts of the loops around it.
/// One that is not known counts as 10, and is noted.
struct RunsPerCall {
  double count = 1;
  bool assumed = false;
};
RunsPerCall getRunsPerCall(Operation *op);

/// Counts how often an op runs per call of the public functions of a module: trip counts of the
/// loops around it times the calls of its function.
class ExecutionFrequency {
public:
  explicit ExecutionFrequency(ModuleOp module);
  double get(Operation *op) const;
  /// Calls of `function` per call of the public functions.
  double getCalls(Operation *function) const { return functions.lookup(function); }

private:
  llvm::DenseMap<Operation *, double> functions;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_COST_EXECUTIONFREQUENCY_H
