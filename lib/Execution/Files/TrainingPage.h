// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an HTML page that plots the scalars of trainings.

#ifndef MP_LIB_EXECUTION_FILES_TRAININGPAGE_H
#define MP_LIB_EXECUTION_FILES_TRAININGPAGE_H

#include "mp/Watch/Alarms.h"

namespace mlir::mp {
namespace watch = mpcore::watch;

/// One training: its scalars by name, step by step (see StepLoop::toJSON).
struct TrainingCurves {
  std::string label; ///< the file
  const llvm::json::Object *scalars;
  double seconds;
  int64_t peakBytes;
};

/// Holds what a Monitor adds to its page.
struct WatchedRun {
  bool isRunning; ///< the page loads itself again
  int64_t steps;
  llvm::ArrayRef<watch::Alert> alerts;
  std::vector<std::pair<std::string, std::string>> figures; ///< name and text
};

/// One HTML page, without scripts or other files: a plot per scalar, all trainings in each, and a
/// table of time and memory.
std::string trainingPage(llvm::ArrayRef<TrainingCurves> trainings,
                         const WatchedRun *watched = nullptr);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_FILES_TRAININGPAGE_H
