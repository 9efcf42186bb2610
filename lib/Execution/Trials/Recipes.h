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
  double metric = 0; ///< mean loss of the last tenth of the steps
  double seconds = 0;
  int64_t peakBytes = 0;
};

struct RecipeReport {
  std::string a, b; ///< policies
  std::vector<RecipeRun> runsA, runsB;
  watch::PairedResult result;
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
