// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training that looks after itself: it saves states, judges steps, goes back where it fails, and
// goes on where it was killed.

#ifndef MP_LIB_EXECUTION_TRAIN_TRAINING_H
#define MP_LIB_EXECUTION_TRAIN_TRAINING_H

#include "Checkpoint.h"
#include "Version.h"
#include "mp/Support/Files.h"
#include "mp/Watch/Numbers.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::mp {

class Training {
public:
  Training(TrainConfig config, ModuleOp step) : config(std::move(config)), step(step) {}

  enum class Outcome {
    Done,    ///< all steps were made
    GivenUp, ///< the log and the output say why
    Restart, ///< the device failed: a new process has to go on
  };

  /// Trains to the end. Errors are those of files and of the program.
  llvm::Expected<Outcome> run(llvm::raw_ostream &os);

private:
  /// Everything that a step depends on, and all of it is saved.
  struct State {
    int64_t step = 0, position = 0; ///< position: of the data, past what is left out
    std::string strategy;
    std::vector<Array> arguments;
    std::map<std::string, double> scales;             ///< last loss scale of strategies
    std::vector<std::pair<int64_t, int64_t>> skipped; ///< positions left out: from, to
    int64_t wideUntil = 0, rollbacks = 0, lastAlarm = -1;
    int64_t replayed = -1;                ///< a step with an alarm that steps were made again for
    std::vector<std::string> quarantined; ///< canaries that raised an alarm
    std::vector<std::string> shadowed;    ///< strategies that were tried on a copy of the state
  };

  llvm::Expected<bool> train(llvm::raw_ostream &os);
  llvm::Error openLog();
  llvm::Expected<std::optional<SavedState>> openFolder(llvm::raw_ostream &os);
  llvm::Error begin(const std::optional<SavedState> &saved, llvm::raw_ostream &os);
  llvm::Error prepareStep(llvm::raw_ostream &os);
  llvm::Error finishStep(llvm::raw_ostream &os);
  void printEnd(llvm::raw_ostream &os);
  llvm::Error lacksLastState() const;
  llvm::Error chooseStrategy(llvm::raw_ostream &os);
  llvm::Expected<Version *> versionOf(llvm::StringRef name);
  std::string strategyAt(int64_t step) const;
  llvm::Error start(llvm::raw_ostream &os);
  llvm::Error resume(const SavedState &saved);
  SavedState pack() const;
  llvm::Error save(llvm::raw_ostream &os);
  llvm::Error switchTo(llvm::StringRef name, llvm::StringRef cause);
  /// The state as a strategy takes it over; a loss scale that it had comes back.
  llvm::Expected<std::vector<Array>> handOver(Version &to);
  using Metrics = std::vector<std::pair<std::string, double>>; ///< of a step, the loss first
  struct MadeStep {
    watch::StepReading reading;
    double seconds;
    Metrics metrics;
  };
  /// Feeds, computes and reads step `step`, and makes `arguments` those of the next.
  llvm::Expected<MadeStep> stepOn(Version &version, std::vector<Array> &arguments, int64_t position,
                                  int64_t step, llvm::raw_ostream &os);
  /// The first position, from `position` on, that no alarm has left out.
  int64_t skipLeftOut(int64_t position) const;
  llvm::Expected<std::vector<watch::Alert>> makeStep(llvm::raw_ostream &os);
  /// The losses of the first steps, and the bytes that they took.
  llvm::Expected<std::pair<std::vector<double>, int64_t>> tryOut(Version &version,
                                                                 llvm::raw_ostream &os);
  /// Runs the program; where the device fails, once more, and DeviceFault where it fails again.
  llvm::Expected<std::vector<Array>> compute(Version &version, llvm::ArrayRef<Array> arguments,
                                             llvm::raw_ostream &os);
  llvm::Expected<std::vector<Array>> verify(Version &version, llvm::ArrayRef<Array> arguments,
                                            std::vector<Array> first, llvm::raw_ostream &os);
  void tellFault(llvm::StringRef reason, llvm::StringRef deed, llvm::raw_ostream &os);
  llvm::Expected<Outcome> leaveProcess(llvm::StringRef reason, llvm::raw_ostream &os);
  llvm::Expected<bool> replay(const watch::Alert &alert, llvm::raw_ostream &os);
  /// The schedule's newest strategy, while it is a canary or has not been good for long enough.
  std::optional<std::pair<int64_t, std::string>> canaryAt(int64_t step) const;
  bool isQuarantined(llvm::StringRef name) const;
  /// The newest strategy that the schedule has begun and no alarm has ended: from when, and which.
  std::optional<std::pair<int64_t, std::string>> newestScheduled(int64_t step) const;
  llvm::Error tryInShadow(llvm::StringRef name, llvm::raw_ostream &os);
  llvm::Expected<std::string> compareInShadow(Version &candidate, llvm::raw_ostream &os);
  llvm::Error quarantine(int64_t from, llvm::StringRef name, llvm::StringRef cause,
                         llvm::raw_ostream &os);
  llvm::Error goBack(llvm::function_ref<bool(const SavedState &)> accepts);
  llvm::Expected<bool> rollBack(const watch::Alert &alert, llvm::raw_ostream &os);
  llvm::Error validate(llvm::raw_ostream &os);
  void log(llvm::json::Object event);
  void logStep(const MadeStep &made);

  TrainConfig config;
  ModuleOp step;
  std::string chosen;
  std::map<std::string, std::unique_ptr<Version>> versions;
  Version *current = nullptr;
  std::vector<BatchedInput> batches;
  State state;
  watch::Watcher watcher;
  std::optional<CheckpointFolder> folder;
  support::FollowedFile logName;
  std::unique_ptr<llvm::raw_fd_ostream> events;
  std::string unsaved;      ///< why the newest state was not saved; empty where it was
  std::error_code logError; ///< the last of writing events, if any; the training goes on
  std::optional<double> firstLoss, lastLoss, validationLoss;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRAIN_TRAINING_H
