// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimising one objective while another stays within a limit.

#ifndef MP_LIB_ASSIGNMENT_BUDGET_H
#define MP_LIB_ASSIGNMENT_BUDGET_H

#include "Engine.h"

namespace mpcore::assignment {

/// `primary` is to be minimised and `resource` limited. Both are exact integers whose weighted sums
/// with each other as multipliers fit in a Weight.
struct Tradeoff {
  Objective primary, resource;
  /// Primary per unit of cost (or of error, under a cost budget).
  Weight unit = 1;

  Objective mix(Weight a, Weight b) const {
    return {a * primary.cost + b * resource.cost, a * primary.casts + b * resource.casts,
            a * primary.error + b * resource.error};
  }
};

/// Cost (then casts) against error, or with `costIsResource` error (then cost) against cost.
/// Secondary criteria are dropped when the numbers get too large; an error if even that does not
/// help.
llvm::Expected<Tradeoff> makeTradeoff(const IndexedProblem &indexed, bool countCasts,
                                      bool costIsResource);

struct TradeoffPoint {
  Labels labels;
  Weight primary = 0, resource = 0;
  bool exact = true;
};

/// The two neighbours of the limit on the hull, and what follows from them.
struct Bracket {
  bool feasible = false;    ///< `within` exists
  TradeoffPoint within;     ///< the best point found within the limit
  TradeoffPoint beyond;     ///< its neighbour on the other side; no labels if none is needed
  Weight bound = 0;         ///< on the primary objective of everything within the limit
  Objective boundObjective; ///< the mixture that gave the bound
  uint64_t effort = 0;
  Method method = Method::MinCut;
};

Bracket bracketLimit(const IndexedProblem &indexed, const Engine &engine, const Tradeoff &tradeoff,
                     Weight limit);

/// solve() for a problem with a budget: hull neighbours, then frontier search with a resource,
/// then branch and bound over the nodes on which the neighbours disagree.
llvm::Expected<Solution> solveBudgeted(IndexedProblem &indexed, const SolveOptions &options);

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_BUDGET_H
