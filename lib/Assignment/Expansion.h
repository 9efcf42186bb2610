// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Good answers where no exact method applies.

#ifndef MP_LIB_ASSIGNMENT_EXPANSION_H
#define MP_LIB_ASSIGNMENT_EXPANSION_H

#include "IndexedProblem.h"

namespace mpcore::assignment {

/// Improves an assignment by moves until none helps (Boykov, Veksler and Zabih 2001). One move
/// offers every group its lightest variant that changes operands to one type and results to
/// another, and takes the best subset of those offers by a minimum cut. Never returns anything
/// heavier.
Labels improveByMoves(const IndexedProblem &indexed, const Objective &objective, Labels labels);

/// The best of improveByMoves from several starts: everything safest, and the optimum between the
/// widest type and each other one.
Labels searchByExpansion(const IndexedProblem &indexed, const Objective &objective,
                         Preference prefer);

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_EXPANSION_H
