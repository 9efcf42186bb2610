// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an HTML page that plots the scalars of trainings.

#ifndef MP_LIB_EXECUTION_FILES_TRAININGPAGE_H
#define MP_LIB_EXECUTION_FILES_TRAININGPAGE_H

#include "llvm/Support/JSON.h"

namespace mlir::mp {

/// One training: its scalars by name, step by step (see StepLoop::toJSON).
struct TrainingCurves {
  std::string label; ///< the file
  const llvm::json::Object *scalars;
  double seconds;
  int64_t peakBytes;
};

/// One HTML page, without scripts or other files: a plot per scalar, all trainings in each, and a
/// table of time and memory.
std::string trainingPage(llvm::ArrayRef<TrainingCurves> trainings);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_FILES_TRAININGPAGE_H
