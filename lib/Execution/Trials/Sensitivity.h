// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures what each contraction, or each layer, adds to the error of the results when it alone is
// narrow.

#ifndef MP_LIB_EXECUTION_TRIALS_SENSITIVITY_H
#define MP_LIB_EXECUTION_TRIALS_SENSITIVITY_H

#include "Trials.h"
#include "mp/Assignment/MeasuredErrors.h"

#include <cmath>

namespace mlir::mp {
namespace assignment = mpcore::assignment;

struct SensitivityOptions {
  std::vector<std::string> formats; ///< as `format=` takes them
  bool weights = false;             ///< see measureWeights()
  size_t randomSets = 5;            ///< on which it is tested whether errors add
  /// Layers first: contractions whose names have the same path but for the last part are narrow
  /// together. Those of a layer with a larger relative error than `openAbove` (a root mean square)
  /// are measured one by one, too, those of others get an equal share of it.
  bool byLayer = false;
  double openAbove = INFINITY;
};

struct SensitivityReport {
  assignment::MeasuredErrors errors;
  size_t runs = 0, reused = 0;          ///< trials made, and taken from the file there was
  std::vector<std::string> notAdditive; ///< formats in which a single contraction is not finite
  bool lacksLayers = false;             ///< asked for, and no two contractions are in one
};

/// Measures every contraction in every format over the draws of `data`, in programs that are
/// otherwise wide. What `known` has under the same key is not measured again: a key is a hash of
/// the function's content (not names and locations), the contraction, the format, the options, the
/// data and the version of mp.
llvm::Expected<SensitivityReport> measureSensitivity(ModuleOp source, llvm::StringRef entry,
                                                     llvm::StringRef assign, const TrialData &data,
                                                     const SensitivityOptions &options,
                                                     const assignment::MeasuredErrors *known);

/// Ranked by format, the worst first.
void printSensitivity(llvm::raw_ostream &os, const SensitivityReport &report);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRIALS_SENSITIVITY_H
