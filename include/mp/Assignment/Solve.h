// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers to an assignment problem, and the solver that picks a method for it.

#ifndef MP_ASSIGNMENT_SOLVE_H
#define MP_ASSIGNMENT_SOLVE_H

#include "mp/Assignment/Bound.h"
#include "llvm/Support/Error.h"

namespace mpcore::assignment {

/// Selects which of several optimal answers is returned; each is unique whatever the order of
/// nodes.
enum class Preference {
  High, ///< as few bold variants as possible
  Low,  ///< as many
};

enum class Method { MinCut, Frontier, Expansion };

llvm::StringRef toString(Method method);

struct SolveOptions {
  Preference prefer = Preference::High;
  /// Among answers of equal cost take those with the fewest run-time casts.
  bool countCasts = true;
  /// Frontier search gives up when more partial states than this are alive.
  unsigned stateCap = 200000;
  /// Rounds of the Lagrangian bound where no exact method applies.
  unsigned boundRounds = 100;
  /// Effort of the search that closes the gap under a budget, in visits of graph nodes.
  unsigned searchCap = 1000000;
  /// Give a certificate with the answer.
  bool certify = false;
};

struct Solution {
  Labels labels;
  std::vector<Copy> copies;
  Score score;
  Method method = Method::MinCut;
  bool provenOptimal = false;
  /// No feasible assignment scores below this: on cost, or on error under a cost budget.
  int64_t lowerBound = 0;
  /// If asked for: multipliers that prove the lower bound, or as much of it as they can.
  std::optional<Certificate> certificate;
};

/// The error of a budget that no assignment meets. Both are in the problem's units, and
/// `least` is what was reached; without `isExact`, less may be possible.
struct UnmetBudget : llvm::ErrorInfo<UnmetBudget> {
  static char ID;
  UnmetBudget(bool isCost, int64_t limit, int64_t least, bool isExact)
      : isCost(isCost), limit(limit), least(least), isExact(isExact) {}

  bool isCost; ///< else of error
  int64_t limit, least;
  bool isExact;

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// Solves the problem exactly when a minimum cut or the frontier search can, else by expansion
/// moves with a lower bound. Errors: an invalid problem, or UnmetBudget.
llvm::Expected<Solution> solve(const Problem &problem, const SolveOptions &options = {});

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_SOLVE_H
