// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows a training: a line of JSON a step, a page to look at meanwhile, alerts as they come, and
// a summary.

#ifndef MP_LIB_EXECUTION_WATCH_MONITOR_H
#define MP_LIB_EXECUTION_WATCH_MONITOR_H

#include "../Files/TrainingPage.h"
#include "GradientFlow.h"
#include "StepReader.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <map>
#include <string>

namespace mlir::mp {

struct MonitorOptions {
  std::string path;  ///< of the log
  std::string page;  ///< rewritten as the run goes on; empty for none
  std::string label; ///< what runs
};

class Monitor {
public:
  /// Opens the log, which is written line by line so that it can be followed. Errors name it.
  static llvm::Expected<std::unique_ptr<Monitor>>
  open(func::FuncOp step, const Signature &signature, size_t results, MonitorOptions options);

  /// Judges and logs one step; alerts go to standard error, too.
  llvm::Error add(int64_t step, llvm::ArrayRef<Array> results, double seconds);

  /// Writes the last line of the log and the page, and prints the summary.
  llvm::Error finish(llvm::raw_ostream &os, int64_t peakBytes);

  unsigned alarms() const;

private:
  Monitor(func::FuncOp step, const Signature &signature, size_t results, MonitorOptions options,
          watch::AlarmOptions rules);
  llvm::Error writePage(bool isRunning);
  void keepCurves(const watch::StepReading &reading);
  llvm::json::Array countsToJSON() const;

  MonitorOptions options;
  StepReader reader;
  watch::Watcher watcher;
  GradientFlow flow;
  std::unique_ptr<llvm::raw_fd_ostream> log;
  std::map<std::string, double> traffic; ///< bytes that kernels of a step move, by format; modelled
  llvm::json::Object curves;             ///< by name, an array a step
  std::vector<watch::Alert> alerts;
  std::vector<double> losses;
  int64_t steps = 0, skips = 0, peakBytes = 0;
  double seconds = 0;
  std::chrono::steady_clock::time_point lastPage;
};

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_WATCH_MONITOR_H
