// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes what mp-train is to do, as its file says (docs/guides/WatchTraining.md).

#ifndef MP_LIB_EXECUTION_TRAIN_TRAINCONFIG_H
#define MP_LIB_EXECUTION_TRAIN_TRAINCONFIG_H

#include "mp/Execution/Inputs.h"

namespace mlir::mp {

/// A way to compute the step: options of mp-train-step, or none for the step as given.
struct Strategy {
  std::string name, assign;
};

/// Says on what device steps are computed.
struct Place {
  std::string device = "cpu"; ///< or "emulator", "cuda"
  std::string chip;           ///< whose instructions; empty: as mp-run chooses
};

struct TrainConfig {
  std::string step, entry; ///< file of the f32 step
  InputOptions inputs;
  int64_t steps = 0;
  Place place;
  std::vector<Strategy> strategies; ///< from the cheapest to the widest
  /// A name, or "auto" for the first that keeps the requirements, "fastest" for that of them whose
  /// step is modelled to be.
  std::string strategy = "auto";
  std::vector<std::pair<int64_t, std::string>> schedule; ///< from a step on, a strategy
  /// A strategy of the schedule begins with shares: for `canaryBlocks` blocks of steps it gets the
  /// first share of each block, then as many blocks the second share, and so on, then all steps.
  std::vector<double> canaryShares; ///< ascending; empty: all steps at once
  int64_t canaryBlock = 64, canaryBlocks = 2;
  /// Before that it is tried for so many steps on a copy of the state, and given up where its mean
  /// loss is above that of the strategy in use by more than this share. 0 steps: it is not tried.
  int64_t shadowSteps = 0;
  double shadowWithin = 0.05;
  double maxError = 0;        ///< of the losses of the first steps; 0: any
  double maxMicroseconds = 0; ///< of a step, modelled; 0: any
  int64_t maxBytes = 0;       ///< of state and buffers; 0: any
  std::string folder;         ///< of states; empty: none are kept
  int64_t saveEvery = 100, keep = 3;
  int64_t goodAfter = 128; ///< steps without an alarm after which a state is a good one
  int64_t maxRollbacks = 3, wideFor = 1000, skipBefore = 16;
  int64_t maxRestarts = 3; ///< in a row, at one step, of the process where the device fails
  int64_t verifyEvery = 0; ///< steps, of which one is computed twice; 0: none
  std::string log;         ///< a line of JSON an event; empty: none
  std::vector<std::string> validationInputs; ///< as `inputs`, of data held out
  int64_t validateEvery = 0, validationBatches = 4;
  std::string hash; ///< of the text of the file

  /// Reads a file. Errors name key, what was expected and what was found.
  static llvm::Expected<TrainConfig> read(llvm::StringRef path);

  const Strategy *findStrategy(llvm::StringRef name) const;
  /// True if no strategy is named, and the requirements choose one.
  bool chooses() const { return strategy == "auto" || strategy == "fastest"; }

  /// Steps after which a canary has all steps.
  int64_t canarySteps() const { return int64_t(canaryShares.size()) * canaryBlock * canaryBlocks; }
  /// True if a strategy that is `since` steps old gets the next step.
  bool canaryHas(int64_t since) const;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRAIN_TRAINCONFIG_H
