// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small graphs for tests: builders in the notation of the known answers, random graphs, brute
// force.

#ifndef MP_TEST_ASSIGNMENT_GRAPHS_H
#define MP_TEST_ASSIGNMENT_GRAPHS_H

#include "mp/Assignment/Solve.h"

#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <random>

namespace mpcore::assignment::test {

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

/// Calls `visit` with every assignment that respects pins and ties.
inline void forEachAssignment(const Problem &problem,
                              llvm::function_ref<void(const Labels &)> visit) {
  Labels labels(problem.nodes.size(), 0);
  while (true) {
    bool feasible = true;
    for (size_t i = 0; i < labels.size(); ++i)
      feasible &= problem.nodes[i].pinned.value_or(labels[i]) == labels[i];
    for (const auto &tie : problem.ties)
      for (NodeId n : tie)
        feasible &= labels[n] == labels[tie.front()];
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
  for (auto tie : problem.ties) {
    for (NodeId &n : tie)
      n = nodeAt[n];
    result.ties.push_back(tie);
  }
  return result;
}

/// Random graphs of three types and up to four variants, with any operands, ties, constants,
/// loops.
inline Problem randomManyTypes(std::mt19937 &random, int maxNodes, bool withError = false) {
  auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Problem p;
  for (llvm::StringRef name : {"f32", "bf16", "fp8"})
    p.addType(name);
  int n = pick(1, maxNodes);
  for (int i = 0; i < n; ++i) {
    Node node;
    node.name = "n" + std::to_string(i);
    for (int k = pick(0, std::min<int>(2, p.values.size())); k > 0; --k)
      node.operands.push_back(
          pick(std::max<int>(0, int(p.values.size()) - 6), p.values.size() - 1));
    llvm::SmallVector<CastCost> casts;
    for (TypeId s = 0; s < 3; ++s)
      for (TypeId t = 0; t < 3; ++t)
        if (s != t)
          casts.push_back({s, t, pick(0, 6)});
    node.results = {p.addValue("v" + std::to_string(i), casts, pick(0, 9) == 0)};
    node.frequency = pick(0, 5) == 0 ? 2 : 1;
    for (int k = pick(1, 4); k > 0; --k) {
      Variant v;
      v.name = std::to_string(k);
      for (size_t o = 0; o < node.operands.size(); ++o)
        v.in.push_back(pick(0, 5) == 0 ? anyType : TypeId(pick(0, 2)));
      v.out = {TypeId(pick(0, 2))};
      v.cost = pick(0, 15);
      v.error = withError ? pick(0, 8) : 0;
      node.variants.push_back(v);
    }
    if (pick(0, 7) == 0)
      node.pinned = pick(0, node.variants.size() - 1);
    p.addNode(node);
  }
  for (int tries = 0; tries < 2 && n >= 2; ++tries) {
    NodeId a = pick(0, n - 1), b = pick(0, n - 1);
    if (a != b && pick(0, 2) == 0 && p.nodes[a].variants.size() == p.nodes[b].variants.size() &&
        !p.nodes[a].pinned && !p.nodes[b].pinned)
      p.ties.push_back({a, b});
  }
  return p;
}

} // namespace mpcore::assignment::test

#endif // MP_TEST_ASSIGNMENT_GRAPHS_H
