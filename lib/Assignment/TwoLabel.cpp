// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a problem of two types as a graph whose minimum cut is an optimal assignment.

#include "TwoLabel.h"

#include "MaxFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace mpcore::assignment;

namespace {

constexpr uint32_t noVariable = ~0u;

/// The dependence of one port on its group's variables: its type on the H and on the L side.
struct PortTypes {
  uint32_t variable = noVariable;
  TypeId high, low; ///< equal when there is no variable
};

/// A group as zero, one or two binary variables: the lightest variant per pair of sides.
struct GroupModel {
  uint32_t first = noVariable, second = noVariable;
  int variant[2][2] = {{-1, -1}, {-1, -1}}; ///< [first is L][second is L]
};

class Builder {
public:
  Builder(const IndexedProblem &indexed, const Objective &objective, Preference prefer,
          const Move *move = nullptr)
      : indexed(indexed), problem(indexed.problem()), objective(objective), prefer(prefer),
        move(move) {}

  /// False if some group or value has no two-label form.
  bool build() {
    groups.resize(indexed.numGroups());
    portStart.resize(problem.nodes.size() + 1);
    for (NodeId id = 0; id < problem.nodes.size(); ++id)
      portStart[id + 1] =
          portStart[id] + problem.nodes[id].operands.size() + problem.nodes[id].results.size();
    ports.resize(portStart.back());
    for (GroupId id = 0; id < indexed.numGroups(); ++id)
      if (!addGroup(id))
        return false;
    for (ValueId id = 0; id < problem.values.size(); ++id)
      if (!addValue(id))
        return false;
    return true;
  }

  CutResult solve(std::vector<Multiplier> *multipliers) {
    Weight total = 1;
    for (Weight s : surplus)
      total += s < 0 ? -s : s;
    for (const Term &arc : arcs)
      total += arc.infinite ? 0 : arc.amount;
    constexpr Weight fits = Weight(1) << 61;
    return total < fits ? run<int64_t>(total, multipliers) : run<Weight>(total, multipliers);
  }

private:
  /// Paid when `from` is on the H side and `to` on the L side.
  struct Term {
    uint32_t from, to;
    Weight amount;
    bool infinite;
    uint32_t fromPort, toPort; ///< ports through which a value's gadget touches variables
  };
  static constexpr uint32_t noPort = ~0u;
  /// Costs of a value's gadget that depend on one variable only.
  struct PortCost {
    uint32_t port;
    Weight high, low;
  };

  uint32_t addVertex() {
    surplus.push_back(0);
    return surplus.size() - 1;
  }
  void addUnary(uint32_t v, Weight high, Weight low) { surplus[v] += low - high; }
  void addArc(uint32_t from, uint32_t to, Weight amount, bool infinite = false,
              uint32_t fromPort = noPort, uint32_t toPort = noPort) {
    if (from != to && (infinite || amount > 0))
      arcs.push_back({from, to, amount, infinite, fromPort, toPort});
  }

  uint32_t operandPort(Use use) const { return portStart[use.node] + use.index; }
  uint32_t resultPort(Use def) const {
    return portStart[def.node] + problem.nodes[def.node].operands.size() + def.index;
  }

  bool addGroup(GroupId id) {
    signatures.clear();
    llvm::SmallVector<unsigned, 4> variants(indexed.allowedInGroup(id));
    if (move)
      variants = {(*move->current)[indexed.membersOf(id).front()], move->alternative[id]};
    for (unsigned v : variants) {
      Signature s{{}, v, indexed.weight(objective, id, v)};
      for (NodeId n : indexed.membersOf(id)) {
        const Variant &variant = problem.nodes[n].variants[v];
        s.types.append(variant.in.begin(), variant.in.end());
        s.types.append(variant.out.begin(), variant.out.end());
      }
      auto *same = llvm::find_if(signatures, [&](auto &o) { return o.types == s.types; });
      if (same == signatures.end())
        signatures.push_back(std::move(s));
      else if (s.weight < same->weight || (s.weight == same->weight && prefer == Preference::Low))
        *same = std::move(s);
    }
    return signatures.size() <= 4 && addVariables(id) && addChoiceCosts(id);
  }

  /// Makes ports that always change together one variable; false if more than two are needed.
  bool addVariables(GroupId id) {
    GroupModel &model = groups[id];
    llvm::SmallVector<std::pair<uint32_t, uint32_t>, 2>
        columns; // pattern over signatures, variable
    uint32_t everything = (1u << signatures.size()) - 1;
    size_t position = 0;
    for (NodeId n : indexed.membersOf(id))
      for (uint32_t port = portStart[n]; port < portStart[n + 1]; ++port, ++position) {
        PortTypes &types = ports[port];
        types.high = types.low = signatures[0].types[position];
        if (move)
          types.low = signatures.back().types[position];
        for (const Signature &s :
             move ? llvm::ArrayRef<Signature>() : llvm::ArrayRef<Signature>(signatures)) {
          types.high = std::min(types.high, s.types[position]);
          types.low = std::max(types.low, s.types[position]);
        }
        if (types.high == types.low)
          continue;
        uint32_t pattern = 0; // the signatures in which the port has its low type
        for (auto [i, s] : llvm::enumerate(signatures)) {
          if (s.types[position] != types.high && s.types[position] != types.low)
            return false;
          pattern |= uint32_t(s.types[position] == types.low) << i;
        }
        for (auto [known, variable] : columns)
          if (known == pattern || known == (pattern ^ everything)) {
            types.variable = variable;
            if (known != pattern)
              std::swap(types.high, types.low);
          }
        if (types.variable != noVariable)
          continue;
        if (columns.size() == 2)
          return false;
        types.variable = addVertex();
        columns.push_back({pattern, types.variable});
      }
    model.first = columns.size() > 0 ? columns[0].second : noVariable;
    model.second = columns.size() > 1 ? columns[1].second : noVariable;
    for (auto [i, s] : llvm::enumerate(signatures)) {
      unsigned a = columns.size() > 0 ? columns[0].first >> i & 1 : 0;
      unsigned b = columns.size() > 1 ? columns[1].first >> i & 1 : 0;
      model.variant[a][b] = i;
    }
    return true;
  }

  /// Adds the weights of the group's variants; false if they are not submodular.
  bool addChoiceCosts(GroupId id) {
    GroupModel &model = groups[id];
    auto weight = [&](int a, int b) { return signatures[model.variant[a][b]].weight; };
    bool ok = true;
    if (model.second != noVariable) {
      bool hl = model.variant[0][1] >= 0, lh = model.variant[1][0] >= 0;
      if (model.variant[0][0] < 0 || model.variant[1][1] < 0) {
        ok = false;
      } else if (lh) { // E = HH + [a=L](LH-HH) + [b=L](LL-LH) + [a=H,b=L](HL+LH-HH-LL)
        Weight mixed = hl ? weight(0, 1) + weight(1, 0) - weight(0, 0) - weight(1, 1) : 0;
        ok = mixed >= 0;
        addUnary(model.first, 0, weight(1, 0) - weight(0, 0));
        addUnary(model.second, 0, weight(1, 1) - weight(1, 0));
        addArc(model.first, model.second, mixed, /*infinite=*/!hl);
      } else { // the same with a and b exchanged
        addUnary(model.second, 0, weight(0, 1) - weight(0, 0));
        addUnary(model.first, 0, weight(1, 1) - weight(0, 1));
        addArc(model.second, model.first, 0, /*infinite=*/true);
      }
    } else if (model.first != noVariable) {
      addUnary(model.first, weight(0, 0), weight(1, 0));
    }
    for (auto &row : model.variant)
      for (int &v : row)
        v = v < 0 ? -1 : int(signatures[v].variant);
    return ok;
  }

  /// The ports that want type `t`, by the side on which they do.
  struct Demand {
    bool always = false;
    llvm::SmallVector<uint32_t, 4> onHigh, onLow;
  };

  bool addValue(ValueId id) {
    if (problem.values[id].constant)
      return true;
    uint32_t wanted = 0;
    for (Use use : indexed.uses(id))
      for (TypeId t : {ports[operandPort(use)].high, ports[operandPort(use)].low})
        wanted |= t == anyType ? 0 : 1u << t;
    for (TypeId t = 0; wanted >> t; ++t) {
      if (!(wanted >> t & 1))
        continue;
      Demand demand;
      for (Use use : indexed.uses(id)) {
        const PortTypes &types = ports[operandPort(use)];
        if (types.high == t && types.low == t)
          demand.always = true;
        else if (types.high == t)
          demand.onHigh.push_back(operandPort(use));
        else if (types.low == t)
          demand.onLow.push_back(operandPort(use));
      }
      if (!addDemand(id, t, demand))
        return false;
    }
    return true;
  }

  bool addDemand(ValueId id, TypeId t, const Demand &demand) {
    uint32_t port = resultPort(indexed.definition(id));
    const PortTypes &def = ports[port];
    Weight high = indexed.castWeight(objective, id, def.high, t);
    Weight low = indexed.castWeight(objective, id, def.low, t);
    if (high == 0 && low == 0)
      return true;
    if (demand.always) {
      addPortCost(port, high, low);
      return true;
    }
    if (!demand.onHigh.empty() && !demand.onLow.empty()) {
      // "Some port is H or some other is L" is not submodular; for now a port is H, so it holds.
      if (move)
        addPortCost(port, high, low);
      return move;
    }
    bool onLow = demand.onHigh.empty();
    llvm::ArrayRef<uint32_t> readers = onLow ? demand.onLow : demand.onHigh;
    // With the demand on one side, a definition on the other side must not be cheaper.
    if (move) {
      (onLow ? high : low) = std::max(high, low); // never paid, or exact, while all is kept
    }
    Weight atSameSide = onLow ? low : high, excess = onLow ? high - low : low - high;
    if (def.variable == noVariable)
      excess = 0;
    if (excess < 0)
      return false;

    uint32_t vertex, vertexPort = noPort;
    if (readers.size() == 1) {
      vertexPort = readers[0];
      vertex = ports[vertexPort].variable;
      addPortCost(vertexPort, onLow ? 0 : atSameSide, onLow ? atSameSide : 0);
    } else {
      vertex = addVertex();
      addUnary(vertex, onLow ? 0 : atSameSide, onLow ? atSameSide : 0);
      for (uint32_t reader : readers) {
        if (onLow)
          addArc(vertex, ports[reader].variable, 0, true, noPort, reader);
        else
          addArc(ports[reader].variable, vertex, 0, true, reader, noPort);
      }
    }
    if (def.variable != noVariable) {
      if (onLow)
        addArc(def.variable, vertex, excess, false, port, vertexPort);
      else
        addArc(vertex, def.variable, excess, false, vertexPort, port);
    }
    return true;
  }

  void addPortCost(uint32_t port, Weight high, Weight low) {
    if (ports[port].variable == noVariable)
      return;
    addUnary(ports[port].variable, high, low);
    portCosts.push_back({port, high, low});
  }

  template <typename Cap> CutResult run(Weight infinity, std::vector<Multiplier> *multipliers) {
    MaxFlow<Cap> graph(surplus.size());
    for (auto [v, amount] : llvm::enumerate(surplus))
      graph.addSurplus(v, Cap(amount));
    for (const Term &arc : arcs)
      graph.addArc(arc.from, arc.to, Cap(arc.infinite ? infinity : arc.amount));
    graph.run();
    std::vector<bool> isLow =
        prefer == Preference::High ? graph.reachingSink() : graph.reachableFromSource();
    if (prefer == Preference::Low)
      isLow.flip();

    CutResult result;
    result.labels.resize(problem.nodes.size());
    for (GroupId id = 0; id < indexed.numGroups(); ++id) {
      const GroupModel &model = groups[id];
      bool a = model.first != noVariable && isLow[model.first];
      bool b = model.second != noVariable && isLow[model.second];
      for (NodeId n : indexed.membersOf(id))
        result.labels[n] = model.variant[a][b];
    }
    result.value = objective.of(evaluate(problem, result.labels));
    if (multipliers)
      collectMultipliers(graph, *multipliers);
    return result;
  }

  /// The flow from a variable into a value's gadget is the price of being H there.
  template <typename Cap>
  void collectMultipliers(const MaxFlow<Cap> &graph, std::vector<Multiplier> &multipliers) const {
    std::vector<std::pair<Weight, Weight>> amounts(ports.size(), {0, 0});
    for (const PortCost &cost : portCosts) {
      amounts[cost.port].first += cost.high;
      amounts[cost.port].second += cost.low;
    }
    for (auto [i, arc] : llvm::enumerate(arcs)) {
      Weight flow = graph.flow(2 * i);
      if (arc.fromPort != noPort)
        amounts[arc.fromPort].first += flow;
      if (arc.toPort != noPort)
        amounts[arc.toPort].first -= flow;
    }
    multipliers.clear();
    for (NodeId n = 0; n < problem.nodes.size(); ++n)
      for (uint32_t port = portStart[n]; port < portStart[n + 1]; ++port) {
        uint32_t index = port - portStart[n], operands = problem.nodes[n].operands.size();
        bool isResult = index >= operands;
        index -= isResult ? operands : 0;
        if (amounts[port].first != 0)
          multipliers.push_back({n, isResult, index, ports[port].high, amounts[port].first});
        if (amounts[port].second != 0)
          multipliers.push_back({n, isResult, index, ports[port].low, amounts[port].second});
      }
  }

  struct Signature {
    llvm::SmallVector<TypeId, 8> types;
    unsigned variant;
    Weight weight;
  };

  const IndexedProblem &indexed;
  const Problem &problem;
  Objective objective;
  Preference prefer;
  const Move *move;
  llvm::SmallVector<Signature, 4> signatures; ///< of the group being added
  std::vector<GroupModel> groups;
  std::vector<uint32_t> portStart;
  std::vector<PortTypes> ports;
  std::vector<Weight> surplus;
  std::vector<Term> arcs;
  std::vector<PortCost> portCosts;
};

} // namespace

std::optional<CutResult> mpcore::assignment::solveTwoLabel(const IndexedProblem &indexed,
                                                           const Objective &objective,
                                                           Preference prefer,
                                                           std::vector<Multiplier> *multipliers) {
  Builder builder(indexed, objective, prefer);
  if (!builder.build())
    return std::nullopt;
  return builder.solve(multipliers);
}

Labels mpcore::assignment::solveMove(const IndexedProblem &indexed, const Objective &objective,
                                     Preference prefer, const Move &move) {
  Builder builder(indexed, objective, prefer, &move);
  [[maybe_unused]] bool built = builder.build();
  assert(built && "moves always have the two-label form");
  return builder.solve(nullptr).labels;
}
