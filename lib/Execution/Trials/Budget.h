// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the loosest limit of modelled error under which the measured error keeps a limit.

#ifndef MP_LIB_EXECUTION_TRIALS_BUDGET_H
#define MP_LIB_EXECUTION_TRIALS_BUDGET_H

#include "Trials.h"

namespace mlir::mp {

struct BudgetOptions {
  double limit = 0;       ///< of the relative root mean square error of the results, in every draw
  double heldBack = 0.25; ///< share of the draws that nothing is chosen by
  size_t rounds = 12;     ///< conversions at most
};

/// One conversion, and what it measured.
struct BudgetRound {
  double modelled = 0;                ///< limit given to the model
  std::optional<double> estimate;     ///< what the model says of the result
  double measured = 0;                ///< the largest error of the draws that decide
  std::optional<double> heldBack;     ///< of the others, where it was looked at
  int64_t narrowed = 0;               ///< contractions
  int64_t picoseconds = 0;            ///< modelled
  llvm::json::Value report = nullptr; ///< which `policy=` takes
};

struct BudgetReport {
  std::vector<BudgetRound> rounds;
  std::optional<size_t> chosen; ///< nothing: no round keeps the limit on what was held back
  int64_t contractions = 0;
  int64_t draws = 0, heldBack = 0; ///< that decide, and that were held back
};

/// The model is told a limit, looser or tighter by what the round before measured, until two
/// limits within a quarter of each other lie on both sides. Of the rounds that keep the limit on
/// the draws that decide, from the fastest on, the first that also keeps it on those held back is
/// chosen. Errors are against the program as given.
llvm::Expected<BudgetReport> keepBudget(const Trials &trials, ModuleOp source,
                                        const TrialData &data, const BudgetOptions &options);

void printBudget(llvm::raw_ostream &os, const BudgetReport &report, const BudgetOptions &options);
llvm::json::Object budgetToJSON(const BudgetReport &report, const BudgetOptions &options);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRIALS_BUDGET_H
