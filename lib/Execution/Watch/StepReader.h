// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what the rules of mp/Watch judge from the results of a step: loss, scale, skips, records of
// probes.

#ifndef MP_LIB_EXECUTION_WATCH_STEPREADER_H
#define MP_LIB_EXECUTION_WATCH_STEPREADER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Dialect/MP/Probes.h"
#include "mp/Execution/Executable.h"
#include "mp/Watch/Alarms.h"

namespace mlir::mp {
namespace watch = mpcore::watch;

/// The share of one role of arguments that is stored in a type.
struct StoredShare {
  std::string role, type;
  uint64_t elements = 0, bytes = 0;
};

class StepReader {
public:
  /// `results` of the program are its own.
  StepReader(func::FuncOp step, const Signature &signature, size_t results);

  /// Reads what the results of step `step` say; with `checkState` it looks through the state for
  /// what is no number.
  watch::StepReading read(int64_t step, llvm::ArrayRef<Array> results, bool checkState);

  /// Scalars that the step returns beside its state, by name: the first is the loss.
  std::vector<std::pair<std::string, double>> metrics(llvm::ArrayRef<Array> results) const;

  /// A line of the log for each value that was probed in this step.
  llvm::json::Object recordsToJSON(llvm::ArrayRef<Array> results) const;

  /// State and parameters by role and type.
  llvm::ArrayRef<StoredShare> stored() const { return shares; }

  /// Orders gradients as the network has its parameters: by arguments of their names, else against
  /// the order in which they are probed, which is that of the backward pass.
  size_t placeOf(llvm::StringRef parameter) const;

  /// The number of steps skipped so far is part of what the next step is read against.
  double skippedSoFar() const { return skipped; }
  void setSkippedSoFar(double count) { skipped = count; }

  /// The growth interval and the floor of the step's loss scale, where it has one.
  static void readScaleRule(func::FuncOp step, watch::AlarmOptions &options);

private:
  struct Probed {
    size_t result;
    ProbeInfo info;
  };
  /// The record of this step, or nothing where the step made none.
  std::optional<std::vector<double>> rowOf(const Probed &probed,
                                           llvm::ArrayRef<Array> results) const;

  std::vector<std::string> parameters; ///< names of arguments
  std::vector<std::pair<std::string, size_t>> scalars;
  std::map<std::string, size_t> byRole;
  std::vector<size_t> floatState;
  struct Resizable {
    size_t result;
    std::string name;
    int64_t size = 0;
  };
  std::vector<Resizable> resizable; ///< state whose size is known at run time alone
  std::vector<Probed> probes;
  std::vector<StoredShare> shares;
  double skipped = 0;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_WATCH_STEPREADER_H
