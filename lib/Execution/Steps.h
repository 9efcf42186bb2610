// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running a program again and again: results become arguments, inputs move on, and what
// the scalars were is kept.

#ifndef MP_LIB_EXECUTION_STEPS_H
#define MP_LIB_EXECUTION_STEPS_H

#include "mp/Execution/Inputs.h"
#include "llvm/Support/JSON.h"

#include <map>

namespace mlir::mp {

class StepLoop {
public:
  /// `results` of the program are its own. State is what `mp.state` says; in a program
  /// without it, the leading results that have the type of the argument in their place.
  /// `prefix` stands before what is printed.
  StepLoop(const Signature &signature, size_t results, llvm::StringRef prefix = "");

  /// Sets the arguments that a step's results replace.
  void advance(std::vector<Array> &arguments, llvm::ArrayRef<Array> results) const;
  /// Writes what a choice among versions is told of the step before, where the step asks for it:
  /// the seconds that it took, and the bytes that this process holds.
  void tellMeasured(std::vector<Array> &arguments, double seconds) const;
  /// Sets the inputs of a step that come in batches.
  llvm::Error feed(std::vector<Array> &arguments, llvm::ArrayRef<BatchedInput> batches,
                   int64_t step) const;

  /// Keeps the scalars of a step, and prints them in every `every`-th and the last.
  void record(llvm::raw_ostream &os, int64_t step, int64_t steps, int64_t every,
              llvm::ArrayRef<Array> results);
  /// Values by result, step by step; infinities and NaN are null.
  llvm::json::Value toJSON() const;

  /// Returns the distance between the float states of `outcome` and `reference`, relative to the
  /// distance the reference moved from `start`; counts are left out. Euclidean, over all of it.
  double drift(llvm::ArrayRef<Array> start, llvm::ArrayRef<Array> outcome,
               llvm::ArrayRef<Array> reference) const;

  /// Arguments that results replace.
  std::vector<size_t> stateArguments() const;

private:
  std::string labelOf(size_t result) const;

  size_t results;
  std::string prefix;
  std::vector<std::pair<size_t, size_t>> state; ///< result, argument
  std::optional<size_t> measured;               ///< argument that tellMeasured() writes
  std::map<size_t, size_t> scales;         ///< of moments that are stored scaled: result, result
  std::vector<std::string> names;          ///< of results, by role; empty if none
  std::vector<std::vector<double>> values; ///< of scalar results, by result
};

/// Completes `own`, where it says nothing of its state, from the same step in another precision,
/// whose appended state comes last.
Signature withStateOf(Signature own, size_t results, const Signature &other);

/// Counts the arguments, which are as many as the results, that mp appended to the entry.
llvm::Expected<size_t> countAppended(ModuleOp module, llvm::StringRef entry);

/// The entry's signature as it was for those arguments whose type mp has changed, which
/// @NAME_init converts.
llvm::Expected<Signature> signatureBefore(ModuleOp module, llvm::StringRef entry, Signature now);

/// Makes arguments for `signatureBefore` those of the first step: runs the function that says
/// `mp.init_of = entry`. Appended ones that are `stated` stay. Nothing happens if there is no such
/// function.
llvm::Error applyInit(ModuleOp module, llvm::StringRef entry, std::vector<Array> &arguments,
                      llvm::function_ref<bool(size_t argument)> stated = nullptr);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_STEPS_H
