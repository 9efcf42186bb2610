// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what a step computes and moves, and models how long a GPU takes for it and what energy it
// needs.

#ifndef MP_LIB_EXECUTION_WATCH_STEPCOSTS_H
#define MP_LIB_EXECUTION_WATCH_STEPCOSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <string>

namespace mlir::mp {

/// All numbers are of one call of the module's public functions.
struct StepCosts {
  std::string part; ///< the GPU that times are modelled for
  /// By format: multiply-adds of contractions, and other float operations, an exponential counting
  /// as one.
  std::map<std::string, double> multiplyAdds, operations;
  std::map<std::string, double> traffic; ///< bytes read and written by kernels, by format
  double bytes = 0;                      ///< all of them
  double kernels = 0;                    ///< launches
  /// Microseconds of kernels, by what takes longest in each.
  double launchTime = 0, memoryTime = 0, arithmeticTime = 0;

  double time() const { return launchTime + memoryTime + arithmeticTime; }
  llvm::json::Object toJSON() const;
  static StepCosts fromJSON(const llvm::json::Object &object);
};

/// Numbers by format.
llvm::json::Object numbersToJSON(const std::map<std::string, double> &numbers);

/// Counts a converted step: kernels are groups that share one (FusionGroups).
llvm::Expected<StepCosts> countStepCosts(ModuleOp module, llvm::StringRef target);

/// Picojoules of an operation, and of a byte from memory outside the chip.
struct EnergyTable {
  struct Operation {
    llvm::StringLiteral format;
    double multiply, add;
  };
  llvm::StringLiteral name, source;
  Operation operations[4];
  double byte;

  /// Joules of a step. A format without a row counts as the next wider one that has one, and sums
  /// of products are f32.
  double of(const StepCosts &costs) const;
};

/// Returns the tables that are known; none is of a GPU, so that ratios mean more than sums.
llvm::ArrayRef<EnergyTable> energyTables();

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_WATCH_STEPCOSTS_H
