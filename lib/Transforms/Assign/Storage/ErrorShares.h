// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes what each contraction's format adds to the modelled error of the function's results,
// beside the program as given: nothing where it stays as found. Whole units of mean square that add
// up.
//
// A model of averages can be wrong either way, so limits are kept with half of what they allow
// (docs/results/Budgets.md has what runs say).

#ifndef MP_LIB_TRANSFORMS_ASSIGN_STORAGE_ERRORSHARES_H
#define MP_LIB_TRANSFORMS_ASSIGN_STORAGE_ERRORSHARES_H

#include "../../Common/OperandSchemes.h"
#include "../Decisions.h"
#include "mp/Analysis/Cost/Sizes.h"
#include "mp/Analysis/Error/ErrorModel.h"
#include "mp/Assignment/Problem.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

class ErrorShares {
public:
  /// Gives no units unless the options limit error, or time for the sake of error.
  /// `schemes`: of the recipe that is offered; null if none is.
  ErrorShares(FunctionDecisions &decisions, const AssignSettings &settings,
              const OperandSchemes *schemes);

  /// False if the options limit error but it cannot be modelled. Without contractions there is
  /// none.
  bool canLimit() const { return !model || model->isKnown(); }
  /// The value whose modelled size is at fault, where it cannot.
  Value getUnsized() const { return model->getUnsized(); }

  /// The error of the results with every contraction as decided now; nothing without contractions,
  /// or if it cannot be modelled.
  std::optional<double> estimate();

  /// The mean square, relative to that of the results, that a contraction adds which works on
  /// scaled values by the recipe of the schemes; nothing where it cannot be modelled, as for codes
  /// that are integers.
  std::optional<double> ofScaled(Operation *op);

  /// The least error of any choice of variants.
  double findLeast(const assignment::Problem &problem) const;

  /// Units that `op` adds when it computes so, rounded up.
  int64_t of(Operation *op, const ComputeChoice &choice) const;
  /// Returns the storage format of the factors of a contraction that is scaled so.
  FloatType getStoredFormat(Operation *op, const numerics::Recipe &recipe) const;
  /// Units that the results may have; nothing if error is not limited.
  std::optional<int64_t> getBudget() const;
  /// Returns the share of the allowed error that the model may use up; measured errors all of it.
  double getUsable() const { return options.maxRelError / (measured ? 1 : kCaution); }
  /// The error that `units` stand for: its root mean square relative to that of the results.
  double toRelative(int64_t units) const { return std::sqrt(double(units) * unit); }

private:
  double getShare(Operation *op, const ComputeChoice &choice) const;
  double getShareOfFactors(Operation *op) const;
  double getShareOfRounding(Operation *op, const ComputeChoice &choice) const;
  /// Returns what was measured of the choice, if it was.
  std::optional<double> getMeasured(Operation *op, const ComputeChoice &choice) const;
  double getShares() const;
  bool hasContractions() const;

  static constexpr double kCaution = 2;
  static constexpr double kUnits = 1 << 30; ///< of the budget, or of everything narrow
  FunctionDecisions &decisions;
  const PlacementOptions &options;
  StringRef chip;
  const OperandSchemes *schemes;
  const ErrorModel *model = nullptr; ///< null where nobody asks for errors
  const assignment::MeasuredFunction *measured = nullptr;
  llvm::DenseMap<Operation *, unsigned> ordinals; ///< of contractions, where errors were measured
  int64_t largest = 0;                            ///< of one op, so that all of them add up
  double unit = 0;                                ///< mean square
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_STORAGE_ERRORSHARES_H
