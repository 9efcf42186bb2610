// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running a program again and again: results become arguments, inputs move on, and what
// the scalars were is kept.

#ifndef MP_LIB_EXECUTION_STEPS_H
#define MP_LIB_EXECUTION_STEPS_H

#include "mp/Execution/Inputs.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp {

class StepLoop {
public:
  /// `results` of the program are its own. State is what `mp.state` says; in a program
  /// without it, the leading results that have the type of the argument in their place.
  StepLoop(const Signature &signature, size_t results);

  /// Sets the arguments that a step's results replace.
  void advance(std::vector<Array> &arguments, llvm::ArrayRef<Array> results) const;
  /// Sets the inputs of a step that come in batches.
  llvm::Error feed(std::vector<Array> &arguments, llvm::ArrayRef<BatchedInput> batches,
                   int64_t step) const;

  /// Keeps the scalars of a step, and prints them in every `every`-th and the last.
  void record(llvm::raw_ostream &os, int64_t step, int64_t steps, int64_t every,
              llvm::ArrayRef<Array> results);
  /// Values by result, step by step; infinities and NaN are null.
  llvm::json::Value toJSON() const;

private:
  std::string labelOf(size_t result) const;

  size_t results;
  std::vector<std::pair<size_t, size_t>> state; ///< result, argument
  std::vector<std::string> names;               ///< of results, by role; empty if none
  std::vector<std::vector<double>> values;      ///< of scalar results, by result
};

/// The first values of appended state, from the function that says `mp.init_of = entry`:
/// replaces the last arguments. Nothing happens if there is none.
llvm::Error applyInit(ModuleOp module, llvm::StringRef entry, const Signature &signature,
                      std::vector<Array> &arguments);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_STEPS_H
