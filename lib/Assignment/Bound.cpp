// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The independent checker. It reads the problem and the multipliers, nothing else.

#include "mp/Assignment/Bound.h"

#include <algorithm>
#include <numeric>

using namespace mpcore::assignment;

namespace {

/// A reader or the definition of a value: the types it may have, and what the value gains by each.
struct Port {
  uint32_t types = 0; ///< bit per type
  bool any = false;   ///< may read whatever is stored
  Weight gain[maxTypes] = {};
  Weight gainAny = 0;
};

class Checker {
public:
  Checker(const Problem &problem, const Objective &objective)
      : problem(problem), objective(objective) {
    leader.resize(problem.nodes.size());
    std::iota(leader.begin(), leader.end(), 0);
    for (const auto &tie : problem.ties)
      for (NodeId id : tie)
        leader[find(id)] = find(tie.front());
    definitions.resize(problem.values.size());
    frequency.resize(problem.values.size());
    readers.resize(problem.values.size());
    for (NodeId id = 0; id < problem.nodes.size(); ++id)
      addNode(id);
  }

  Weight bound(llvm::ArrayRef<Multiplier> multipliers) {
    std::vector<std::vector<Weight>> pay(problem.nodes.size()); // per variant of the leader
    for (NodeId id = 0; id < problem.nodes.size(); ++id)
      pay[find(id)].resize(problem.nodes[id].variants.size(), 0);
    for (NodeId id = 0; id < problem.nodes.size(); ++id)
      for (size_t v = 0; v < problem.nodes[id].variants.size(); ++v) {
        const Variant &variant = problem.nodes[id].variants[v];
        pay[find(id)][v] += objective.cost * variant.cost * problem.nodes[id].frequency +
                            objective.error * variant.error;
      }
    for (const Multiplier &m : multipliers) {
      const Node &node = problem.nodes[m.node];
      for (size_t v = 0; v < node.variants.size(); ++v) {
        const Variant &variant = node.variants[v];
        if ((m.isResult ? variant.out[m.index] : variant.in[m.index]) == m.type)
          pay[find(m.node)][v] += m.amount;
      }
      Port &port = m.isResult ? definitions[node.results[m.index]]
                              : readers[node.operands[m.index]][slot[m.node][m.index]];
      (m.type == anyType ? port.gainAny : port.gain[m.type]) += m.amount;
    }
    Weight total = 0;
    for (NodeId id = 0; id < problem.nodes.size(); ++id)
      if (find(id) == id)
        total += cheapestVariant(id, pay[id]);
    for (ValueId id = 0; id < problem.values.size(); ++id)
      total += cheapestValue(id);
    return total;
  }

private:
  NodeId find(NodeId id) {
    while (leader[id] != id)
      id = leader[id] = leader[leader[id]];
    return id;
  }

  /// Pins of any member bind the tie.
  bool isAllowed(NodeId id, size_t variant) {
    return problem.nodes[id].pinned.value_or(variant) == variant;
  }

  void addNode(NodeId id) {
    const Node &node = problem.nodes[id];
    for (size_t i = 0; i < node.results.size(); ++i) {
      frequency[node.results[i]] = node.frequency;
      for (size_t v = 0; v < node.variants.size(); ++v)
        if (isAllowed(id, v))
          definitions[node.results[i]].types |= 1u << node.variants[v].out[i];
    }
    slot.emplace_back();
    for (size_t i = 0; i < node.operands.size(); ++i) {
      auto &list = readers[node.operands[i]];
      slot[id].push_back(list.size());
      list.emplace_back();
      for (size_t v = 0; v < node.variants.size(); ++v) {
        if (!isAllowed(id, v))
          continue;
        TypeId type = node.variants[v].in[i];
        if (type == anyType)
          list.back().any = true;
        else
          list.back().types |= 1u << type;
      }
    }
  }

  Weight cheapestVariant(NodeId group, const std::vector<Weight> &pay) {
    if (blocked.empty()) {
      blocked.resize(problem.nodes.size());
      for (NodeId id = 0; id < problem.nodes.size(); ++id) {
        auto &list = blocked[find(id)];
        list.resize(problem.nodes[id].variants.size(), false);
        for (size_t v = 0; v < list.size(); ++v)
          if (!isAllowed(id, v))
            list[v] = true;
      }
    }
    std::optional<Weight> best;
    for (size_t v = 0; v < pay.size(); ++v)
      if (!blocked[group][v] && (!best || pay[v] < *best))
        best = pay[v];
    return best.value_or(0);
  }

  /// Tries every stored type with every set of copies; each reader takes its best among them.
  Weight cheapestValue(ValueId id) {
    const Value &value = problem.values[id];
    uint32_t wanted = 0;
    for (const Port &reader : readers[id])
      wanted |= reader.types;
    std::optional<Weight> best;
    for (unsigned stored = 0; stored < problem.types.size(); ++stored) {
      if (!(definitions[id].types >> stored & 1))
        continue;
      uint32_t options = wanted & ~(1u << stored);
      for (uint32_t made = options;; made = (made - 1) & options) { // all subsets
        Weight sum = castCost(value, id, stored, made) - definitions[id].gain[stored];
        bool feasible = true;
        for (const Port &reader : readers[id]) {
          std::optional<Weight> gain;
          if (reader.any)
            gain = reader.gainAny;
          for (unsigned t = 0; t < problem.types.size(); ++t)
            if ((reader.types & (made | 1u << stored)) >> t & 1)
              gain = std::max(gain.value_or(reader.gain[t]), reader.gain[t]);
          feasible &= gain.has_value();
          sum -= gain.value_or(0);
        }
        if (feasible && (!best || sum < *best))
          best = sum;
        if (made == 0)
          break;
      }
    }
    return best.value_or(0);
  }

  Weight castCost(const Value &value, ValueId id, unsigned from, uint32_t made) {
    Weight sum = 0;
    if (value.constant)
      return 0;
    for (const CastCost &cast : value.casts)
      if (cast.from == from && (made >> cast.to & 1))
        sum += objective.cost * cast.cost * frequency[id] + objective.casts;
    return sum;
  }

  const Problem &problem;
  Objective objective;
  std::vector<NodeId> leader;
  std::vector<Port> definitions;
  std::vector<int64_t> frequency;
  std::vector<std::vector<Port>> readers;
  std::vector<std::vector<uint32_t>> slot;
  std::vector<std::vector<bool>> blocked;
};

} // namespace

Weight mpcore::assignment::dualBound(const Problem &problem, const Objective &objective,
                                     llvm::ArrayRef<Multiplier> multipliers) {
  return Checker(problem, objective).bound(multipliers);
}

int64_t mpcore::assignment::certifiedLowerBound(const Problem &problem,
                                                const Certificate &certificate) {
  const Objective &objective = certificate.objective;
  Weight rest = dualBound(problem, objective, certificate.multipliers);
  for (const Value &value : problem.values)
    if (!value.constant)
      rest -= objective.casts * Weight(value.casts.size()); // as many casts as there could be
  if (problem.errorBudget)
    rest -= objective.error * *problem.errorBudget;
  if (problem.costBudget)
    rest -= objective.cost * *problem.costBudget;
  Weight unit = problem.costBudget ? objective.error : objective.cost;
  if (!problem.errorBudget && !problem.costBudget && objective.error != 0)
    return 0; // says nothing about cost alone
  return rest > 0 && unit > 0 ? (rest + unit - 1) / unit : 0;
}
