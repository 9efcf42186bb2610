// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the use lists and groups of a problem, and its linear objectives.

#include "IndexedProblem.h"

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

using namespace mpcore::assignment;

IndexedProblem::IndexedProblem(const Problem &problem) : source(problem) {
  size_t numNodes = problem.nodes.size(), numValues = problem.values.size();
  definitions.assign(numValues, Use{0, 0});
  useStart.assign(numValues + 1, 0);
  for (NodeId id = 0; id < numNodes; ++id) {
    const Node &node = problem.nodes[id];
    for (uint32_t i = 0; i < node.results.size(); ++i)
      definitions[node.results[i]] = {id, i};
    for (ValueId value : node.operands)
      ++useStart[value + 1];
  }
  for (size_t i = 0; i < numValues; ++i)
    useStart[i + 1] += useStart[i];
  useList.resize(useStart.back());
  std::vector<uint32_t> next(useStart.begin(), useStart.end() - 1);
  for (NodeId id = 0; id < numNodes; ++id)
    for (uint32_t i = 0; i < problem.nodes[id].operands.size(); ++i)
      useList[next[problem.nodes[id].operands[i]]++] = {id, i};

  llvm::IntEqClasses classes(numNodes);
  for (const auto &tie : problem.ties)
    for (NodeId id : tie)
      classes.join(tie.front(), id);
  classes.compress();
  group.resize(numNodes);
  members.resize(classes.getNumClasses());
  choices.resize(classes.getNumClasses());
  for (NodeId id = 0; id < numNodes; ++id) {
    group[id] = classes[id];
    members[group[id]].push_back(id);
  }
  for (GroupId id = 0; id < members.size(); ++id)
    for (unsigned v = 0; v < problem.nodes[members[id].front()].variants.size(); ++v)
      if (llvm::all_of(members[id],
                       [&](NodeId n) { return problem.nodes[n].pinned.value_or(v) == v; }))
        choices[id].push_back(v);
}

std::vector<NodeId> IndexedProblem::topologicalOrder() const {
  std::vector<uint32_t> waiting(source.nodes.size());
  std::vector<NodeId> order;
  order.reserve(source.nodes.size());
  for (NodeId id = 0; id < source.nodes.size(); ++id)
    if ((waiting[id] = source.nodes[id].operands.size()) == 0)
      order.push_back(id);
  for (size_t i = 0; i < order.size(); ++i)
    for (ValueId value : source.nodes[order[i]].results)
      for (Use use : uses(value))
        if (--waiting[use.node] == 0)
          order.push_back(use.node);
  return order;
}

Weight IndexedProblem::weight(const Objective &objective, GroupId id, unsigned variant) const {
  Weight sum = 0;
  for (NodeId n : members[id]) {
    const Variant &v = source.nodes[n].variants[variant];
    sum += objective.cost * (v.cost * source.nodes[n].frequency) + objective.error * v.error;
  }
  return sum;
}

Weight IndexedProblem::castWeight(const Objective &objective, ValueId value, TypeId from,
                                  TypeId to) const {
  if (from == to || source.values[value].constant)
    return 0;
  for (const CastCost &cast : source.values[value].casts)
    if (cast.from == from && cast.to == to)
      return objective.cost * (cast.cost * source.nodes[definitions[value].node].frequency) +
             objective.casts;
  llvm_unreachable("validate() asks for every cast that can occur");
}

Objective IndexedProblem::costObjective(bool countCasts) const {
  if (!countCasts)
    return {};
  // More than any assignment can have, so that one unit of cost outweighs all casts.
  Weight most = 1;
  for (const Value &value : source.values)
    most += value.constant ? 0 : value.casts.size();
  return {most, 1, 0};
}
