// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for the smallest set of contractions to compute wide so that a run is good, and for the
// first op at which the narrow run leaves the wide one.

#ifndef MP_LIB_EXECUTION_TRIALS_BISECT_H
#define MP_LIB_EXECUTION_TRIALS_BISECT_H

#include "Trials.h"
#include "mp/Watch/SmallestSet.h"

namespace mlir::mp {
namespace watch = mpcore::watch;

/// The property that a run has to keep.
struct KeepCriterion {
  enum Kind { Finite, Error, Script } kind = Finite;
  double limit = 0;    ///< of the relative root mean square error of the results, added up
  std::string command; ///< gets the converted program as a file; status 0 is good
  std::string text;

  /// Parses finite, error:X or script:COMMAND.
  static llvm::Expected<KeepCriterion> parse(llvm::StringRef text);
};

/// A value in the narrow run beside the same in the wide one.
struct LockstepValue {
  std::string label, location;
  double error = 0;     ///< relative, root mean square; infinite where what is no number differs
  double inherited = 0; ///< the largest error among what it was computed from
  bool isFinite = true;
  std::optional<unsigned> contraction; ///< which, if it is one
};

struct BisectReport {
  watch::SetSearch search;
  std::vector<LockstepValue> lockstep; ///< in order; empty where the two cannot be matched
  std::optional<size_t> firstWrong;    ///< of lockstep
  policy::Policy policy;               ///< with the set wide
  std::optional<double> errorWithAll;  ///< the largest of a result; none where nothing measured it
};

/// At most `maxRuns` trials.
llvm::Expected<BisectReport> bisect(const Trials &trials, llvm::StringRef entry,
                                    const KeepCriterion &criterion, size_t maxRuns);

void printBisect(llvm::raw_ostream &os, const Trials &trials, const KeepCriterion &criterion,
                 const BisectReport &report);
llvm::json::Object bisectToJSON(const Trials &trials, const KeepCriterion &criterion,
                                const BisectReport &report);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRIALS_BISECT_H
