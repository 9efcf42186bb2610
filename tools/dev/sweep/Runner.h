// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the public functions of a file before and after conversion and compares.

#ifndef MP_TOOLS_DEV_SWEEP_RUNNER_H
#define MP_TOOLS_DEV_SWEEP_RUNNER_H

#include "mlir/IR/BuiltinOps.h"
#include "mp/Execution/Inputs.h"

#include <map>

namespace mlir::mp {

/// What running one function of both modules gave.
struct RunOutcome {
  std::string entry;
  /// Largest error of a result over the largest magnitude of its reference; infinity where NaN,
  /// infinities or integers differ.
  double error = 0;
  std::string skipped; ///< why there was nothing to compare; empty otherwise
};

/// Runs the public functions of one file; originals are compiled and run once.
class Runner {
public:
  /// `maxWork` limits the operations of a function that is run.
  Runner(ModuleOp original, InputOptions inputs, double maxWork)
      : original(original), inputs(std::move(inputs)), maxWork(maxWork) {}

  std::vector<RunOutcome> compare(ModuleOp converted);

private:
  struct Reference {
    std::vector<Array> arguments, results;
    std::string skipped;
  };
  const Reference &reference(StringRef entry);

  ModuleOp original;
  InputOptions inputs;
  double maxWork;
  std::map<std::string, Reference> references;
};

} // namespace mlir::mp

#endif // MP_TOOLS_DEV_SWEEP_RUNNER_H
