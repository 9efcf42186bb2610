// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trading cost against error: the hull of best compromises.

#ifndef MP_ASSIGNMENT_COSTERRORHULL_H
#define MP_ASSIGNMENT_COSTERRORHULL_H

#include "mp/Assignment/Solve.h"

namespace mpcore::assignment {

struct HullPoint {
  Labels labels;
  Score score;
};

struct HullResult {
  /// From the cheapest to the most exact; cost rises and error falls strictly.
  std::vector<HullPoint> points;
  /// True if these are all vertices of the lower convex hull of (cost, error), each proven.
  bool complete = false;
};

/// Finds the vertices of the hull by the recursion of Eisner and Severance (1976), one exact solve
/// per vertex and per edge, `maxPoints` at most. Budgets of the problem are ignored.
llvm::Expected<HullResult> costErrorHull(const Problem &problem, const SolveOptions &options = {},
                                         unsigned maxPoints = 200);

} // namespace mpcore::assignment

#endif // MP_ASSIGNMENT_COSTERRORHULL_H
