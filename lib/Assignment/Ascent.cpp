// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements max-product linear programming (Globerson and Jaakkola 2007): value by value, ports
// hand over their prices and share the answer.

#include "Ascent.h"

#include "Canonical.h"

#include "llvm/ADT/STLExtras.h"

using namespace mpcore::assignment;

namespace {

/// `W` is int64_t where all sums fit, which halves the time.
template <typename W> class AscentIn : public Ascent {
public:
  AscentIn(const IndexedProblem &indexed, const Objective &scaled, Weight fine)
      : Ascent(indexed, scaled, fine) {
    variantStart.resize(indexed.numGroups() + 1);
    for (GroupId g = 0; g < indexed.numGroups(); ++g) {
      variantStart[g + 1] = variantStart[g] + indexed.allowedInGroup(g).size();
      for (unsigned v : indexed.allowedInGroup(g))
        total.push_back(W(indexed.weight(objective, g, v)));
    }
    for (NodeId n : canonicalOrder(indexed))
      for (ValueId value : problem.nodes[n].results)
        if (!problem.values[value].constant && !indexed.uses(value).empty())
          addStar(value);
  }

  bool run(unsigned rounds) override {
    bool changed = true;
    for (unsigned round = 0; round < rounds && changed; ++round) {
      changed = false;
      for (const Star &star : stars)
        changed |= visit(star);
      for (const Star &star : llvm::reverse(stars))
        changed |= visit(star);
    }
    return changed;
  }

  std::vector<Multiplier> multipliers() const override {
    std::vector<Multiplier> list;
    for (const Port &port : ports)
      for (uint32_t s = port.slots; s < port.slots + port.numSlots; ++s)
        if (paid[s] != 0)
          list.push_back({port.node, port.isResult, port.index, typeOfSlot[s], paid[s]});
    return list;
  }

  Labels cheapestVariants() const override {
    Labels labels(problem.nodes.size());
    for (NodeId n = 0; n < problem.nodes.size(); ++n) {
      GroupId g = indexed.groupOf(n);
      llvm::ArrayRef<W> weights =
          llvm::ArrayRef(total).slice(variantStart[g], indexed.allowedInGroup(g).size());
      labels[n] = indexed.allowedInGroup(g)[llvm::min_element(weights) - weights.begin()];
    }
    return labels;
  }

private:
  /// A definition or a reader. It has one slot per type that it may have.
  struct Port {
    NodeId node;
    uint32_t index;
    bool isResult;
    uint32_t slots, numSlots; ///< into paid and the scratch arrays
    uint32_t variants;        ///< into slotOfVariant, one per allowed variant of the group
  };
  /// A value: its definition, then its readers, and the casts between their types.
  struct Star {
    uint32_t ports, numPorts;
    uint32_t casts;  ///< into castWeights, one row per slot of the definition
    uint32_t wanted; ///< types that readers may ask for
  };

  void addStar(ValueId value) {
    Star star{uint32_t(ports.size()), 1, uint32_t(castWeights.size()), 0};
    Use def = indexed.definition(value);
    addPort(def.node, def.index, /*isResult=*/true);
    for (Use use : indexed.uses(value)) {
      addPort(use.node, use.index, /*isResult=*/false);
      ++star.numPorts;
    }
    for (uint32_t s = ports[star.ports].slots + ports[star.ports].numSlots; s < paid.size(); ++s)
      star.wanted |= typeOfSlot[s] == anyType ? 0 : 1u << typeOfSlot[s];
    for (uint32_t s = 0; s < ports[star.ports].numSlots; ++s)
      for (TypeId t = 0; t < problem.types.size(); ++t) {
        TypeId stored = typeOfSlot[ports[star.ports].slots + s];
        bool used = stored != t && (star.wanted >> t & 1);
        castWeights.push_back(used ? W(indexed.castWeight(objective, value, stored, t)) : W(0));
      }
    stars.push_back(star);
  }

  void addPort(NodeId node, uint32_t index, bool isResult) {
    Port port{node, index, isResult, uint32_t(paid.size()), 0, uint32_t(slotOfVariant.size())};
    for (unsigned v : indexed.allowed(node)) {
      const Variant &variant = problem.nodes[node].variants[v];
      TypeId type = isResult ? variant.out[index] : variant.in[index];
      uint32_t s = port.slots;
      while (s < typeOfSlot.size() && typeOfSlot[s] != type)
        ++s;
      if (s == typeOfSlot.size()) {
        typeOfSlot.push_back(type);
        paid.push_back(0);
        ++port.numSlots;
      }
      slotOfVariant.push_back(s);
    }
    ports.push_back(port);
    before.resize(paid.size());
    known.resize(paid.size());
    answers.resize(paid.size());
  }

  /// Adds to the node's variants what `port` pays now, or takes it away.
  void charge(const Port &port, int sign) {
    GroupId g = indexed.groupOf(port.node);
    uint32_t count = variantStart[g + 1] - variantStart[g];
    for (uint32_t k = 0; k < count; ++k)
      total[variantStart[g] + k] += sign * paid[slotOfVariant[port.variants + k]];
  }

  bool visit(const Star &star) {
    llvm::ArrayRef<Port> list = llvm::ArrayRef(ports).slice(star.ports, star.numPorts);
    // Each port hands over the least its node can cost per type; the node keeps nothing.
    for (const Port &port : list) {
      charge(port, -1);
      for (uint32_t s = port.slots; s < port.slots + port.numSlots; ++s) {
        before[s] = paid[s];
        known[s] = unreachable;
      }
      GroupId g = indexed.groupOf(port.node);
      for (uint32_t k = 0; k < variantStart[g + 1] - variantStart[g]; ++k) {
        W &least = known[slotOfVariant[port.variants + k]];
        least = std::min(least, total[variantStart[g] + k]);
      }
      for (uint32_t s = port.slots; s < port.slots + port.numSlots; ++s)
        paid[s] = -known[s];
      charge(port, +1);
    }
    minimise(star, list);
    bool changed = false;
    W count = star.numPorts;
    for (const Port &port : list) {
      charge(port, -1);
      for (uint32_t s = port.slots; s < port.slots + port.numSlots; ++s) {
        // Rounds down: the remainder stays with the value, which keeps the bound sound.
        W share = answers[s] >= 0 ? answers[s] / count : -((-answers[s] + count - 1) / count);
        paid[s] = share - known[s];
        changed |= paid[s] != before[s];
      }
      charge(port, +1);
    }
    return changed;
  }

  /// For every port and type, the least that value and neighbours cost together.
  void minimise(const Star &star, llvm::ArrayRef<Port> list) {
    const Port &def = list.front();
    std::fill(answers.begin() + def.slots,
              answers.begin() + list.back().slots + list.back().numSlots, unreachable);
    best.resize(list.size());
    for (uint32_t d = 0; d < def.numSlots; ++d) {
      TypeId stored = typeOfSlot[def.slots + d];
      const W *casts = &castWeights[star.casts + d * problem.types.size()];
      uint32_t options = star.wanted & ~(1u << stored);
      for (uint32_t made = options;; made = (made - 1) & options) { // all subsets
        W sum = known[def.slots + d];
        for (TypeId t = 0; made >> t; ++t)
          sum += made >> t & 1 ? casts[t] : 0;
        uint32_t readable = made | 1u << stored;
        auto canRead = [&](uint32_t s) {
          return typeOfSlot[s] == anyType || (readable >> typeOfSlot[s] & 1);
        };
        bool feasible = true;
        for (size_t i = 1; i < list.size() && feasible; ++i) {
          best[i] = unreachable;
          for (uint32_t s = list[i].slots; s < list[i].slots + list[i].numSlots; ++s)
            if (canRead(s))
              best[i] = std::min(best[i], known[s]);
          feasible = best[i] != unreachable;
          sum += best[i];
        }
        if (feasible) {
          answers[def.slots + d] = std::min(answers[def.slots + d], sum);
          for (size_t i = 1; i < list.size(); ++i)
            for (uint32_t s = list[i].slots; s < list[i].slots + list[i].numSlots; ++s)
              if (canRead(s))
                answers[s] = std::min(answers[s], sum - best[i] + known[s]);
        }
        if (made == 0)
          break;
      }
    }
  }

  /// Above every weight that occurs, and far from overflow.
  static constexpr W unreachable = W(1) << (sizeof(W) * 8 - 3);

  std::vector<uint32_t> variantStart;
  std::vector<W> total; ///< per group and allowed variant: its weight and what its ports pay
  std::vector<Port> ports;
  std::vector<Star> stars;
  std::vector<W> paid, before, known, answers; ///< per slot
  std::vector<TypeId> typeOfSlot;
  std::vector<uint32_t> slotOfVariant;
  std::vector<W> castWeights, best;
};

} // namespace

std::unique_ptr<Ascent> Ascent::create(const IndexedProblem &indexed, const Objective &objective) {
  const Problem &problem = indexed.problem();
  Weight total = 0, ports = 1;
  for (GroupId g = 0; g < indexed.numGroups(); ++g) {
    Weight most = 0;
    for (unsigned v : indexed.allowedInGroup(g))
      most = std::max(most, indexed.weight(objective, g, v));
    total += most;
  }
  for (ValueId value = 0; value < problem.values.size(); ++value) {
    ports += 1 + indexed.uses(value).size();
    if (!problem.values[value].constant)
      for (const CastCost &cast : problem.values[value].casts)
        total += indexed.castWeight(objective, value, cast.from, cast.to);
  }
  // Finer units, so that sharing by integer division costs less than a unit of the objective.
  Weight unit = std::max<Weight>(1, std::max(objective.cost, objective.error));
  Weight fine = std::max<Weight>(16, 16 * ports / unit);
  Objective scaled{objective.cost * fine, objective.casts * fine, objective.error * fine};
  if (total < (Weight(1) << 52) / fine)
    return std::make_unique<AscentIn<int64_t>>(indexed, scaled, fine);
  return std::make_unique<AscentIn<Weight>>(indexed, scaled, fine);
}

Certificate Ascent::certificate() const {
  Certificate certificate{objective, multipliers(), 0};
  certificate.bound = dualBound(problem, objective, certificate.multipliers);
  return certificate;
}

Weight Ascent::bound() const {
  Weight bound = dualBound(problem, objective, multipliers());
  return bound > 0 ? (bound + fine - 1) / fine : 0;
}
