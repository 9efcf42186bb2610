// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Ascent.h"

#include "Canonical.h"

#include "llvm/ADT/STLExtras.h"

using namespace mp::assignment;

namespace {

/// Above every weight that occurs, far below overflow.
constexpr Weight unreachable = Weight(1) << 120;

/// Amounts per type; the last slot is anyType.
struct Amounts {
  Weight of[maxTypes + 1] = {};
  Weight &operator[](TypeId t) { return of[t == anyType ? maxTypes : t]; }
};

struct Port {
  NodeId node;
  bool isResult;
  uint32_t index;
};

class Ascent {
public:
  Ascent(const Flat &flat, const Objective &objective)
      : flat(flat), problem(flat.problem()), objective(objective) {
    portStart.resize(problem.nodes.size() + 1);
    for (NodeId n = 0; n < problem.nodes.size(); ++n)
      portStart[n + 1] =
          portStart[n] + problem.nodes[n].operands.size() + problem.nodes[n].results.size();
    stride = problem.types.size() + 1;
    paid.assign(portStart.back() * stride, 0);
    variantStart.resize(flat.numGroups() + 1);
    for (GroupId g = 0; g < flat.numGroups(); ++g)
      variantStart[g + 1] = variantStart[g] + flat.allowedInGroup(g).size();
    total.resize(variantStart.back());
    for (GroupId g = 0; g < flat.numGroups(); ++g)
      for (auto [i, v] : llvm::enumerate(flat.allowedInGroup(g)))
        total[variantStart[g] + i] = flat.weight(objective, g, v);
    for (NodeId n : canonicalOrder(flat))
      for (ValueId value : problem.nodes[n].results)
        if (!problem.values[value].constant && !flat.uses(value).empty())
          order.push_back(value);
  }

  /// One sweep down and up again. Returns false when nothing changed.
  bool sweep() {
    bool changed = false;
    for (ValueId value : order)
      changed |= visit(value);
    for (ValueId value : llvm::reverse(order))
      changed |= visit(value);
    return changed;
  }

  std::vector<Multiplier> multipliers() {
    std::vector<Multiplier> list;
    for (NodeId n = 0; n < problem.nodes.size(); ++n)
      for (uint32_t i = portStart[n]; i < portStart[n + 1]; ++i) {
        uint32_t operands = problem.nodes[n].operands.size(), index = i - portStart[n];
        bool isResult = index >= operands;
        for (unsigned t = 0; t < stride; ++t)
          if (Weight amount = paid[i * stride + t])
            list.push_back({n, isResult, isResult ? index - operands : index,
                            t + 1 == stride ? anyType : TypeId(t), amount});
      }
    return list;
  }

  Labels cheapestVariants() const {
    Labels labels(problem.nodes.size());
    for (NodeId n = 0; n < problem.nodes.size(); ++n) {
      GroupId g = flat.groupOf(n);
      llvm::ArrayRef<Weight> weights =
          llvm::ArrayRef(total).slice(variantStart[g], flat.allowedInGroup(g).size());
      labels[n] = flat.allowedInGroup(g)[llvm::min_element(weights) - weights.begin()];
    }
    return labels;
  }

private:
  TypeId typeOf(const Port &port, unsigned variant) const {
    const Variant &v = problem.nodes[port.node].variants[variant];
    return port.isResult ? v.out[port.index] : v.in[port.index];
  }
  Weight &paidAt(const Port &port, TypeId t) {
    uint32_t operands = problem.nodes[port.node].operands.size();
    uint32_t index = portStart[port.node] + port.index + (port.isResult ? operands : 0);
    return paid[index * stride + (t == anyType ? stride - 1 : t)];
  }

  /// Sets what the port pays.
  void setPaid(const Port &port, llvm::ArrayRef<TypeId> types, Amounts amounts) {
    Amounts change;
    for (TypeId t : types) {
      change[t] = amounts[t] - paidAt(port, t);
      paidAt(port, t) = amounts[t];
    }
    GroupId g = flat.groupOf(port.node);
    for (auto [i, v] : llvm::enumerate(flat.allowedInGroup(g)))
      total[variantStart[g] + i] += change[typeOf(port, v)];
  }

  bool visit(ValueId value) {
    ports.clear();
    Use def = flat.definition(value);
    ports.push_back({def.node, true, def.index});
    for (Use use : flat.uses(value))
      ports.push_back({use.node, false, use.index});
    types.assign(ports.size(), {});
    known.assign(ports.size(), {});
    answers.assign(ports.size(), {});

    before.assign(ports.size(), {});

    // Each port hands over the least its node can cost per type; the node keeps nothing.
    for (auto [i, port] : llvm::enumerate(ports)) {
      GroupId g = flat.groupOf(port.node);
      for (unsigned v : flat.allowedInGroup(g))
        if (TypeId t = typeOf(port, v); !llvm::is_contained(types[i], t))
          types[i].push_back(t);
      for (TypeId t : types[i])
        before[i][t] = paidAt(port, t);
      setPaid(port, types[i], {});
      llvm::fill(known[i].of, unreachable);
      for (auto [k, v] : llvm::enumerate(flat.allowedInGroup(g))) {
        TypeId t = typeOf(port, v);
        known[i][t] = std::min(known[i][t], total[variantStart[g] + k]);
      }
      Amounts taken;
      for (TypeId t : types[i])
        taken[t] = -known[i][t];
      setPaid(port, types[i], taken);
    }
    minimise(value);
    bool changed = false;
    for (auto [i, port] : llvm::enumerate(ports)) {
      Amounts shared;
      for (TypeId t : types[i]) {
        // Rounds down: the remainder stays with the value, which keeps the bound sound.
        Weight answer = answers[i][t], count = ports.size();
        Weight share = answer >= 0 ? answer / count : -((-answer + count - 1) / count);
        shared[t] = share - known[i][t];
        changed |= shared[t] != before[i][t];
      }
      setPaid(port, types[i], shared);
    }
    return changed;
  }

  /// For every port and type, the least that value and neighbours cost together.
  void minimise(ValueId value) {
    for (Amounts &a : answers)
      llvm::fill(a.of, unreachable);
    uint32_t wanted = 0;
    for (size_t i = 1; i < ports.size(); ++i)
      for (TypeId t : types[i])
        wanted |= t == anyType ? 0 : 1u << t;
    llvm::SmallVector<Weight, 8> best(ports.size());
    for (TypeId stored : types[0]) {
      uint32_t options = wanted & ~(1u << stored);
      for (uint32_t made = options;; made = (made - 1) & options) {
        Weight sum = known[0][stored];
        for (TypeId t = 0; made >> t; ++t)
          if (made >> t & 1)
            sum += flat.castWeight(objective, value, stored, t);
        uint32_t readable = made | 1u << stored;
        auto canRead = [&](TypeId t) { return t == anyType || (readable >> t & 1); };
        bool feasible = true;
        for (size_t i = 1; i < ports.size(); ++i) {
          best[i] = unreachable;
          for (TypeId t : types[i])
            if (canRead(t))
              best[i] = std::min(best[i], known[i][t]);
          feasible &= best[i] != unreachable;
          sum += best[i];
        }
        if (feasible) {
          answers[0][stored] = std::min(answers[0][stored], sum);
          for (size_t i = 1; i < ports.size(); ++i)
            for (TypeId t : types[i])
              if (canRead(t))
                answers[i][t] = std::min(answers[i][t], sum - best[i] + known[i][t]);
        }
        if (made == 0)
          break;
      }
    }
  }

  const Flat &flat;
  const Problem &problem;
  Objective objective;
  std::vector<uint32_t> portStart, variantStart;
  size_t stride;
  std::vector<Weight> paid;  ///< per port and type
  std::vector<Weight> total; ///< per group and allowed variant: its weight and what its ports pay
  std::vector<ValueId> order;
  llvm::SmallVector<Port, 8> ports; ///< of the value being visited, its definition first
  llvm::SmallVector<llvm::SmallVector<TypeId, 4>, 8> types;
  llvm::SmallVector<Amounts, 8> before, known, answers;
};

} // namespace

AscentResult mp::assignment::ascend(const Flat &flat, const Objective &objective, unsigned rounds) {
  // Finer units, so that sharing by integer division loses little.
  constexpr Weight fine = 1024;
  Objective scaled{objective.cost * fine, objective.casts * fine, objective.error * fine};
  Ascent ascent(flat, scaled);
  for (unsigned round = 0; round < rounds && ascent.sweep(); ++round)
    ;
  AscentResult result;
  result.certificate.objective = scaled;
  result.certificate.multipliers = ascent.multipliers();
  result.certificate.bound = dualBound(flat.problem(), scaled, result.certificate.multipliers);
  Weight bound = result.certificate.bound;
  result.bound = bound > 0 ? (bound + fine - 1) / fine : 0;
  result.labels = ascent.cheapestVariants();
  return result;
}
