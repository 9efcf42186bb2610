// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the public functions of a file before and after conversion, or on the host and on emulated
// kernels, or on kernels of both routes, and compares.

#ifndef MP_TOOLS_DEV_SWEEP_RUNNER_H
#define MP_TOOLS_DEV_SWEEP_RUNNER_H

#include "mlir/IR/BuiltinOps.h"
#include "mp/Execution/Executable.h"
#include "mp/Execution/Inputs.h"

#include <map>

namespace mlir::mp {

/// The outcome of running one function twice.
struct RunOutcome {
  std::string entry;
  /// Largest error of a result over the largest magnitude of its reference; infinity where NaN,
  /// infinities or integers differ.
  double error = 0;
  std::string skipped; ///< why there was nothing to compare; empty otherwise
  bool failed = false; ///< the second run is why, not the first
};

/// Runs the public functions of one file; originals are compiled and run once.
class Runner {
public:
  /// `maxWork` limits the operations of a function that is run.
  Runner(ModuleOp original, InputOptions inputs, double maxWork)
      : original(original), inputs(std::move(inputs)), maxWork(maxWork) {}

  /// The functions of `converted`, compiled for the host. With `inF64` the reference is the
  /// original in f64 throughout: that of a graph that is narrow already, whose own results are no
  /// measure of one that was widened inside.
  std::vector<RunOutcome> compare(ModuleOp converted, bool inF64);
  /// The functions as they are, on kernels for `chip` in the emulator.
  std::vector<RunOutcome> emulate(llvm::StringRef chip);
  /// The same on kernels of dispatches, and with a kernel for each op in the host's place: an error
  /// of 0 means the same bits, infinity others.
  std::vector<RunOutcome> compareRoutes(llvm::StringRef chip);

private:
  /// Compiles the function of this name, which is the only public one.
  using Compile =
      llvm::function_ref<llvm::Expected<std::unique_ptr<Executable>>(llvm::StringRef entry)>;

  struct Reference {
    std::vector<Array> arguments, results;
    std::string skipped;
  };
  const Reference &reference(llvm::StringRef entry, bool inF64);
  std::vector<RunOutcome> compareRuns(Compile compile, llvm::StringRef what, bool inF64);
  /// One function as kernels for `chip`.
  llvm::Expected<std::unique_ptr<Executable>>
  onEmulator(llvm::StringRef entry, llvm::StringRef chip, std::optional<bool> dispatches);

  ModuleOp original;
  InputOptions inputs;
  double maxWork;
  std::map<std::pair<std::string, bool>, Reference> references;
};

} // namespace mlir::mp

#endif // MP_TOOLS_DEV_SWEEP_RUNNER_H
