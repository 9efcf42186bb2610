// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains an answer: the price of another choice, and an independent check of what is claimed.

#ifndef MP_ASSIGNMENT_EXPLAIN_H
#define MP_ASSIGNMENT_EXPLAIN_H

#include "mp/Assignment/Solve.h"

namespace mpcore::assignment {

/// The extra cost of forcing one variant, with everything else chosen anew.
struct Price {
  int64_t extraCost = 0; ///< against the answer; may be negative under a budget of error
  int64_t extraError = 0;
  bool proven = false; ///< both the answer and the forced one are optimal
};

/// Solves again with `node` (and its tie) forced to `variant`. An error if the node is pinned to
/// another variant or no assignment within the budget has this one; it says which.
llvm::Expected<Price> priceOfVariant(const Problem &problem, const Solution &answer, NodeId node,
                                     unsigned variant, const SolveOptions &options = {});

/// For every node and variant a proven lower bound on the extra cost of forcing it (extra error,
/// under a cost budget), from the multipliers alone and in linear time: reduced costs. Zero for
/// variants of the answer, and wherever the multipliers cannot tell.
std::vector<llvm::SmallVector<int64_t, 4>> leastPrices(const Problem &problem,
                                                       const Solution &answer);

/// The facts about an answer that an independent check confirms.
struct CheckedAnswer {
  Score score;
  int64_t certifiedBound = 0; ///< by the certificate; 0 without one
  bool certifiedOptimal = false;
};

/// Recomputes score, casts and bound from the problem. An error for an infeasible answer, a wrong
/// sum, a wrong list of casts, or a lower bound above the cost. An optimum proven by search rather
/// than by multipliers is confirmed only as far as `certifiedBound`.
llvm::Expected<CheckedAnswer> checkAnswer(const Problem &problem, const Solution &answer);

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_EXPLAIN_H
