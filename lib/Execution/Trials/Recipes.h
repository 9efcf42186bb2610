// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares two recipes by pairs of trainings.

#ifndef MP_LIB_EXECUTION_TRIALS_RECIPES_H
#define MP_LIB_EXECUTION_TRIALS_RECIPES_H

#include "Trials.h"
#include "mp/Watch/PairedTest.h"

namespace mlir::mp {
namespace watch = mpcore::watch;

struct RecipeRun {
  double loss = 0;                       ///< mean of the last tenth of the steps
  std::map<std::string, double> metrics; ///< the same of further scalars of the step
  double seconds = 0;
  int64_t peakBytes = 0;
};

struct Recipe {
  std::string policy;
  double modelled = 0; ///< microseconds of a step
  std::vector<RecipeRun> runs;
};

struct RecipeReport {
  Recipe a, b;
  std::string part;           ///< that times are modelled for
  watch::PairedResult result; ///< of the losses
  /// Results of further scalars decide nothing, since nothing tells which of two is better.
  std::map<std::string, watch::PairedResult> metrics;

  /// The recipe to take, and why; nothing while the comparison is undecided.
  std::pair<const Recipe *, std::string> recommend() const;
};

/// Trains up to `pairs` pairs by policies `a` and `b`, pair i from seed i on batches of its own,
/// the same for both, and stops when the comparison is decided.
llvm::Expected<RecipeReport> compareRecipes(ModuleOp source, llvm::StringRef entry,
                                            llvm::StringRef assign, llvm::StringRef a,
                                            llvm::StringRef b, const TrialData &data,
                                            const watch::PairedOptions &options);

void printRecipes(llvm::raw_ostream &os, const RecipeReport &report,
                  const watch::PairedOptions &options);
llvm::json::Object recipesToJSON(const RecipeReport &report, const watch::PairedOptions &options);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRIALS_RECIPES_H
