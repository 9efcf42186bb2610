// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for nodes that do not depend on the order in which they were created.

#ifndef MP_LIB_ASSIGNMENT_CANONICAL_H
#define MP_LIB_ASSIGNMENT_CANONICAL_H

#include "IndexedProblem.h"

namespace mpcore::assignment {

/// A hash of each node's own data, of everything it depends on and of everything that depends on
/// it. Nodes that differ in none of these (name included) may share a key.
std::vector<uint64_t> canonicalKeys(const IndexedProblem &indexed);

/// Topological order, by depth and then by key.
std::vector<NodeId> canonicalOrder(const IndexedProblem &indexed);

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_CANONICAL_H
