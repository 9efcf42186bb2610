// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One strategy's program of a train step, and how the state of others becomes its own.

#ifndef MP_LIB_EXECUTION_TRAIN_VERSION_H
#define MP_LIB_EXECUTION_TRAIN_VERSION_H

#include "../Steps.h"
#include "../Watch/StepCosts.h"
#include "../Watch/StepReader.h"
#include "TrainConfig.h"

namespace mlir::mp {

class Version {
public:
  /// Converts the step by the strategy, appends probes of all gradients, and compiles for the
  /// place, to be run for about so many steps. Errors where there is no such device, and where
  /// the strategy stores state of the step narrower: versions share it as it is.
  static llvm::Expected<std::unique_ptr<Version>> create(ModuleOp step, StringRef entry,
                                                         const Strategy &strategy,
                                                         const Place &place, int64_t steps);

  /// Arguments of the first step.
  llvm::Expected<std::vector<Array>> makeArguments(const InputOptions &inputs,
                                                   std::vector<BatchedInput> &batches) const;

  /// Turns `arguments` of another version into this one's: the step's own stay, what mp has
  /// appended starts as it does, but for a loss scale that is given.
  llvm::Expected<std::vector<Array>> takeOver(llvm::ArrayRef<Array> arguments,
                                              std::optional<double> scale) const;

  /// The loss scale among the arguments, if there is one.
  std::optional<double> scaleOf(llvm::ArrayRef<Array> arguments) const;

  std::string name;
  std::unique_ptr<Executable> program;
  std::optional<StepLoop> loop;
  std::optional<StepReader> reader;
  watch::AlarmOptions rules;
  StepCosts costs;
  size_t own = 0; ///< arguments of the step as given; those behind are appended

private:
  Version() = default;
  std::string entry;
  OwningOpRef<ModuleOp> module;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRAIN_VERSION_H
