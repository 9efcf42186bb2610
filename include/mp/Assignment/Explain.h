// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks what an answer claims, independently of how it was found.

#ifndef MP_ASSIGNMENT_EXPLAIN_H
#define MP_ASSIGNMENT_EXPLAIN_H

#include "mp/Assignment/Solve.h"

namespace mpcore::assignment {

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
