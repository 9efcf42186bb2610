// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lagrangian bounds. Every port (an operand or a result) gets an amount per type; nodes pay it,
// values receive it. Whatever the amounts, minimising nodes and values separately bounds every
// assignment from below, and at the maximum flow of a two-label problem the bound is the optimum
// itself.

#ifndef MP_ASSIGNMENT_BOUND_H
#define MP_ASSIGNMENT_BOUND_H

#include "mp/Assignment/Problem.h"

namespace mpcore::assignment {

/// Holds products of costs with Lagrange multipliers.
using Weight = __int128;

/// A linear objective over Score.
struct Objective {
  Weight cost = 1, casts = 0, error = 0;
  Weight of(const Score &s) const { return cost * s.cost + casts * s.casts + error * s.error; }
};

/// The price that a node pays when it reads operand `index` in `type` or (`isResult`) stores that
/// result so.
struct Multiplier {
  NodeId node;
  bool isResult;
  uint32_t index;
  TypeId type; ///< anyType included
  Weight amount;
};

/// A claim that no assignment has `objective` below `bound`.
struct Certificate {
  Objective objective;
  std::vector<Multiplier> multipliers;
  Weight bound = 0;
};

/// The bound that the multipliers prove, computed from the problem alone: this is the checker, and
/// it shares no code with the solvers.
Weight dualBound(const Problem &problem, const Objective &objective,
                 llvm::ArrayRef<Multiplier> multipliers);

/// Returns the bound that a certificate proves, recomputed with dualBound: no assignment within the
/// problem's budget has a lower cost (error, under a cost budget) than this.
int64_t certifiedLowerBound(const Problem &problem, const Certificate &certificate);

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_BOUND_H
