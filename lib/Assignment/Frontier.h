// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact search over any number of types, for graphs that few values cross at a time.

#ifndef MP_LIB_ASSIGNMENT_FRONTIER_H
#define MP_LIB_ASSIGNMENT_FRONTIER_H

#include "IndexedProblem.h"

namespace mpcore::assignment {

struct FrontierQuery {
  Objective objective;
  Objective resource = {0, 0, 0}; ///< must stay within `limit`
  Weight limit = 0;               ///< ignored when the resource is all zero
  /// Answers above this are of no interest; speeds up the search.
  std::optional<Weight> upperBound = std::nullopt;
};

struct FrontierResult {
  bool complete = false; ///< false: too many states, nothing is known
  bool tooWide = false;  ///< too many values live at once for any cap
  bool found = false;    ///< an answer within limit and upper bound exists
  Labels labels;
  Weight value = 0;
  uint64_t effort = 0; ///< states visited
};

/// Dynamic programming over the nodes in an order that keeps few values live. A state is the stored
/// type and the copies made so far of each live value, and the variant of each open tie; with a
/// resource it keeps all answers that are not dominated. Of several optima it returns the one with
/// the least (Preference::High) or greatest sum of variant indices, then one picked by a hash of
/// the nodes' surroundings, so that node order plays no role.
FrontierResult searchFrontier(const IndexedProblem &indexed, const FrontierQuery &query,
                              const SolveOptions &options);

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_FRONTIER_H
