// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small graphs for tests: builders in the notation of the known answers, random graphs, brute
// force.

#ifndef MP_TEST_ASSIGNMENT_GRAPHS_H
#define MP_TEST_ASSIGNMENT_GRAPHS_H

#include "mp/Assignment/Solve.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <random>

namespace mp::assignment::test {

/// Two types H and L; a node is H or L throughout.
struct TwoTypes {
  Problem problem;
  TypeId h = problem.addType("f32"), l = problem.addType("bf16");

  ValueId value(llvm::StringRef name, int64_t castHL, int64_t castLH) {
    return problem.addValue(name, {{h, l, castHL}, {l, h, castLH}});
  }
  ValueId value(llvm::StringRef name, int64_t cast) { return value(name, cast, cast); }

  /// name(costLow, costHigh), as the known answers write it.
  NodeId node(llvm::StringRef name, llvm::ArrayRef<ValueId> operands,
              llvm::ArrayRef<ValueId> results, int64_t costLow, int64_t costHigh) {
    return problem.addNode(variants(name, operands, results, {{h, costHigh}, {l, costLow}}));
  }
  NodeId pinnedHigh(llvm::StringRef name, llvm::ArrayRef<ValueId> operands,
                    llvm::ArrayRef<ValueId> results, int64_t cost = 0) {
    return problem.addNode(variants(name, operands, results, {{h, cost}}));
  }
  NodeId pinnedLow(llvm::StringRef name, llvm::ArrayRef<ValueId> operands,
                   llvm::ArrayRef<ValueId> results, int64_t cost = 0) {
    return problem.addNode(variants(name, operands, results, {{l, cost}}));
  }

  static Node variants(llvm::StringRef name, llvm::ArrayRef<ValueId> operands,
                       llvm::ArrayRef<ValueId> results,
                       llvm::ArrayRef<std::pair<TypeId, int64_t>> choices) {
    Node node;
    node.name = name.str();
    node.operands.assign(operands.begin(), operands.end());
    node.results.assign(results.begin(), results.end());
    for (auto [type, cost] : choices) {
      Variant v;
      v.in.assign(operands.size(), type);
      v.out.assign(results.size(), type);
      v.cost = cost;
      node.variants.push_back(v);
    }
    return node;
  }
};

/// Calls `visit` with every assignment that respects pins and gangs.
inline void forEachAssignment(const Problem &problem,
                              llvm::function_ref<void(const Labels &)> visit) {
  Labels labels(problem.nodes.size(), 0);
  while (true) {
    bool feasible = true;
    for (size_t i = 0; i < labels.size(); ++i)
      feasible &= problem.nodes[i].pinned.value_or(labels[i]) == labels[i];
    for (const auto &gang : problem.gangs)
      for (NodeId n : gang)
        feasible &= labels[n] == labels[gang.front()];
    if (feasible)
      visit(labels);
    size_t i = 0;
    while (i < labels.size() && ++labels[i] == problem.nodes[i].variants.size())
      labels[i++] = 0;
    if (i == labels.size())
      return;
  }
}

/// The definition of Score once more, value by value: brute force must not rely on evaluate().
inline int64_t plainCost(const Problem &problem, const Labels &labels, int64_t *casts = nullptr) {
  int64_t cost = 0;
  if (casts)
    *casts = 0;
  for (size_t v = 0; v < problem.values.size(); ++v) {
    TypeId stored = anyType;
    int64_t frequency = 0;
    std::vector<bool> wanted(problem.types.size(), false);
    for (size_t n = 0; n < problem.nodes.size(); ++n) {
      const Node &node = problem.nodes[n];
      for (size_t i = 0; i < node.results.size(); ++i)
        if (node.results[i] == v) {
          stored = node.variants[labels[n]].out[i];
          frequency = node.frequency;
        }
      for (size_t i = 0; i < node.operands.size(); ++i)
        if (TypeId t = node.variants[labels[n]].in[i]; node.operands[i] == v && t != anyType)
          wanted[t] = true;
    }
    for (const CastCost &cast : problem.values[v].casts)
      if (cast.from == stored && wanted[cast.to] && !problem.values[v].constant) {
        cost += cast.cost * frequency;
        if (casts)
          ++*casts;
      }
  }
  for (size_t n = 0; n < problem.nodes.size(); ++n)
    cost += problem.nodes[n].variants[labels[n]].cost * problem.nodes[n].frequency;
  return cost;
}

/// Node and value order shuffled; `nodeAt[i]` receives the new index of node i.
inline Problem shuffled(const Problem &problem, std::mt19937 &random, std::vector<NodeId> &nodeAt) {
  std::vector<NodeId> nodes(problem.nodes.size());
  std::vector<ValueId> values(problem.values.size()), valueAt(problem.values.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    nodes[i] = i;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i;
  std::shuffle(nodes.begin(), nodes.end(), random);
  std::shuffle(values.begin(), values.end(), random);
  Problem result;
  result.types = problem.types;
  result.errorBudget = problem.errorBudget;
  result.costBudget = problem.costBudget;
  nodeAt.resize(nodes.size());
  for (size_t i = 0; i < values.size(); ++i) {
    valueAt[values[i]] = i;
    result.values.push_back(problem.values[values[i]]);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodeAt[nodes[i]] = i;
    Node node = problem.nodes[nodes[i]];
    for (ValueId &v : node.operands)
      v = valueAt[v];
    for (ValueId &v : node.results)
      v = valueAt[v];
    result.nodes.push_back(std::move(node));
  }
  for (auto gang : problem.gangs) {
    for (NodeId &n : gang)
      n = nodeAt[n];
    result.gangs.push_back(gang);
  }
  return result;
}

} // namespace mp::assignment::test

#endif // MP_TEST_ASSIGNMENT_GRAPHS_H
