// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares trainings by the logs that mp-train wrote of them.

#ifndef MP_LIB_EXECUTION_TRAIN_EVALUATE_H
#define MP_LIB_EXECUTION_TRAIN_EVALUATE_H

#include "../Watch/StepCosts.h"
#include "mp/Watch/PairedTest.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::mp {
namespace watch = mpcore::watch;

/// One training, as its log tells it. What was rolled back does not count.
struct LoggedRun {
  std::string path;
  std::vector<double> losses, norms;                  ///< by step; NaN where there was none
  std::map<std::string, std::vector<double>> metrics; ///< scalars beside the loss, by step
  std::map<std::string, double> heldOut;              ///< the same of the last validation
  int64_t skipped = 0, rollbacks = 0, canaries = 0, alarms = 0;
  std::optional<double> validation;        ///< the last
  std::optional<int64_t> peakBytes;        ///< of the buffers of a step
  std::vector<double> seconds;             ///< of steps, measured
  std::map<std::string, StepCosts> costs;  ///< by strategy
  std::vector<std::string> strategies;     ///< of steps
  std::map<std::string, int64_t> computed; ///< steps by strategy, with those rolled back
  struct GradientRow {
    std::vector<double> norms, zeros; ///< by parameter
  };
  std::vector<GradientRow> gradients;

  /// Reads a log. Errors name file and line.
  static llvm::Expected<LoggedRun> read(llvm::StringRef path);

  void readStep(const llvm::json::Object &event, size_t step);
  double tailLoss() const; ///< mean of the last tenth
  std::optional<double> tailOf(llvm::StringRef metric) const;
  double fluctuation() const; ///< deviation of log losses from medians of 16
  /// The mean over the steps of what a strategy's costs say; nothing where a log has none.
  std::optional<double> meanCost(llvm::function_ref<double(const StepCosts &)> cost) const;
  /// Joules of all steps that were computed.
  std::optional<double> energy(const EnergyTable &table) const;
  /// Medians over the gradients that were told: the slope of log2 of the norm from a parameter to
  /// the next, and the largest share of zeros.
  std::optional<double> gradientSlope() const, zeroShare() const;
  std::optional<int64_t> stepsTo(double target) const; ///< by means of 50
};

/// `logs` are pairs: A, B, A, B, ... Pairs are judged by their tail losses; a difference within
/// `margin` times A's mean does not matter. The first pair is told in full.
llvm::Expected<llvm::json::Object> evaluateRuns(llvm::ArrayRef<llvm::StringRef> logs, double margin,
                                                llvm::raw_ostream &os);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRAIN_EVALUATE_H
