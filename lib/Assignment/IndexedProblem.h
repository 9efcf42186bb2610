// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A problem with its use lists, ties merged and an objective attached: what all solvers read.

#ifndef MP_LIB_ASSIGNMENT_INDEXEDPROBLEM_H
#define MP_LIB_ASSIGNMENT_INDEXEDPROBLEM_H

#include "mp/Assignment/Bound.h"
#include "mp/Assignment/Solve.h"

namespace mpcore::assignment {

/// Operand `index` of a reader, or result `index` of the definition.
struct Use {
  NodeId node;
  uint32_t index;
};

/// Nodes of one tie (or a single node) as one decision.
using GroupId = uint32_t;

class IndexedProblem {
public:
  explicit IndexedProblem(const Problem &problem);

  const Problem &problem() const { return source; }
  Use definition(ValueId value) const { return definitions[value]; }
  llvm::ArrayRef<Use> uses(ValueId value) const {
    return llvm::ArrayRef(useList).slice(useStart[value], useStart[value + 1] - useStart[value]);
  }

  size_t numGroups() const { return members.size(); }
  GroupId groupOf(NodeId node) const { return group[node]; }
  llvm::ArrayRef<NodeId> membersOf(GroupId id) const { return members[id]; }
  /// Variant indices that pins leave, ascending. Empty when pins of a tie contradict each other.
  llvm::ArrayRef<unsigned> allowed(NodeId node) const { return choices[group[node]]; }
  llvm::ArrayRef<unsigned> allowedInGroup(GroupId id) const { return choices[id]; }
  void setAllowed(GroupId id, llvm::ArrayRef<unsigned> variants) {
    choices[id].assign(variants.begin(), variants.end());
  }

  /// Definitions before uses; shorter than the node list if there is a cycle.
  std::vector<NodeId> topologicalOrder() const;

  TypeId storedType(ValueId value, unsigned variant) const {
    Use def = definitions[value];
    return source.nodes[def.node].variants[variant].out[def.index];
  }
  TypeId readType(Use use, unsigned variant) const {
    return source.nodes[use.node].variants[variant].in[use.index];
  }

  /// Weight of a group's variant under an objective, casts not included.
  Weight weight(const Objective &objective, GroupId id, unsigned variant) const;
  /// Weight of casting `value`, stored as `from`, to `to`; zero when they are equal.
  Weight castWeight(const Objective &objective, ValueId value, TypeId from, TypeId to) const;

  /// Cost first, then (if asked) the number of casts.
  Objective costObjective(bool countCasts) const;

private:
  const Problem &source;
  std::vector<Use> definitions;
  std::vector<uint32_t> useStart;
  std::vector<Use> useList;
  std::vector<GroupId> group;
  std::vector<llvm::SmallVector<NodeId, 1>> members;
  std::vector<llvm::SmallVector<unsigned, 4>> choices;
};

} // namespace mpcore::assignment

#endif // MP_LIB_ASSIGNMENT_INDEXEDPROBLEM_H
