// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches by dynamic programming over the states of the values that are live between two nodes.

#include "Frontier.h"

#include "Canonical.h"
#include "FrontierStates.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace mpcore::assignment;

namespace {

class FrontierSearch {
public:
  FrontierSearch(const IndexedProblem &indexed, const FrontierQuery &query,
                 const SolveOptions &options)
      : indexed(indexed), problem(indexed.problem()), query(query), options(options),
        usesResource(query.resource.cost || query.resource.casts || query.resource.error) {}

  FrontierResult run() {
    prepare();
    FrontierResult result;
    result.tooWide = isTooWide();
    if (result.tooWide)
      return result;
    table.reset(0);
    table.insert({}, Entry{0, 0, 0, 0, StateTable::none, StateTable::none, 0});
    for (NodeId node : order) {
      step(node);
      result.effort += table.size();
      if (table.size() > options.stateCap || result.effort > 100 * uint64_t(options.stateCap))
        return result;
    }
    result.complete = true;
    const Entry *best = nullptr;
    table.forEach([&](const Entry &e) {
      if (!best || e.isBetter(*best))
        best = &e;
    });
    if (!best)
      return result;
    result.found = true;
    result.value = best->weight;
    result.labels.resize(problem.nodes.size());
    uint32_t trail = best->trail;
    for (NodeId node : llvm::reverse(order)) {
      result.labels[node] = decisions[trail].variant;
      trail = decisions[trail].previous;
    }
    return result;
  }

private:
  /// A live value, or (with `isTie`) an open tie.
  struct Slot {
    uint32_t id;
    bool isTie;
    bool operator==(const Slot &) const = default;
  };

  void prepare() {
    keys = canonicalKeys(indexed);
    readersLeft.assign(problem.values.size() * problem.types.size(), 0);
    for (NodeId node = 0; node < problem.nodes.size(); ++node)
      countReads(node, +1);
    openMembers.resize(indexed.numGroups());
    chooseOrder();
    // The least that the nodes from position i on add.
    leastWeight.assign(order.size() + 1, 0);
    leastResource.assign(order.size() + 1, 0);
    for (size_t i = order.size(); i-- > 0;) {
      std::optional<Weight> weight, resource;
      for (unsigned v : indexed.allowed(order[i])) {
        Weight w = nodeWeight(query.objective, order[i], v);
        Weight r = nodeWeight(query.resource, order[i], v);
        weight = std::min(weight.value_or(w), w);
        resource = std::min(resource.value_or(r), r);
      }
      leastWeight[i] = leastWeight[i + 1] + weight.value_or(0);
      leastResource[i] = leastResource[i + 1] + resource.value_or(0);
    }
  }

  Weight nodeWeight(const Objective &objective, NodeId node, unsigned variant) const {
    const Variant &v = problem.nodes[node].variants[variant];
    return objective.cost * (v.cost * problem.nodes[node].frequency) + objective.error * v.error;
  }

  /// Greedy: of the nodes whose operands are ready, the one that leaves the fewest values live;
  /// ties by key.
  void chooseOrder() {
    std::vector<uint32_t> waiting(problem.nodes.size()), left(problem.values.size());
    for (ValueId v = 0; v < left.size(); ++v)
      left[v] = indexed.uses(v).size();
    std::vector<int> score(problem.nodes.size());
    std::set<std::tuple<int, uint64_t, NodeId>> ready;
    auto scoreOf = [&](NodeId n) {
      int s = 0;
      for (ValueId v : problem.nodes[n].results)
        s += !indexed.uses(v).empty();
      llvm::ArrayRef<ValueId> operands = problem.nodes[n].operands;
      for (size_t i = 0; i < operands.size(); ++i)
        if (!llvm::is_contained(operands.take_front(i), operands[i]))
          s -= left[operands[i]] == size_t(llvm::count(operands, operands[i]));
      return s;
    };
    auto push = [&](NodeId n) {
      score[n] = scoreOf(n);
      ready.insert({score[n], keys[n], n});
    };
    for (NodeId n = 0; n < problem.nodes.size(); ++n)
      if ((waiting[n] = problem.nodes[n].operands.size()) == 0)
        push(n);
    while (!ready.empty()) {
      NodeId n = std::get<2>(*ready.begin());
      ready.erase(ready.begin());
      order.push_back(n);
      for (ValueId v : problem.nodes[n].operands)
        if (--left[v] <= 2)
          for (Use use : indexed.uses(v))
            if (ready.erase({score[use.node], keys[use.node], use.node}))
              push(use.node);
      for (ValueId v : problem.nodes[n].results)
        for (Use use : indexed.uses(v))
          if (--waiting[use.node] == 0)
            push(use.node);
    }
  }

  /// Counts the operands that may want each type of each value.
  void countReads(NodeId node, int change) {
    for (auto [i, value] : llvm::enumerate(problem.nodes[node].operands)) {
      uint32_t types = 0;
      for (unsigned v : indexed.allowed(node))
        if (TypeId t = problem.nodes[node].variants[v].in[i]; t != anyType)
          types |= 1u << t;
      for (TypeId t = 0; types >> t; ++t)
        if (types >> t & 1)
          readersLeft[value * problem.types.size() + t] += change;
    }
  }

  /// With so many values live at once no search comes to an end: do not even start.
  bool isTooWide() {
    constexpr size_t most = 40;
    size_t live = 0;
    bool tooWide = false;
    for (NodeId node : order) {
      llvm::SmallVector<bool, 4> wasLive;
      llvm::ArrayRef<ValueId> operands = problem.nodes[node].operands;
      for (ValueId value : operands)
        wasLive.push_back(!isFree(value) && wantedLater(value));
      countReads(node, -1);
      for (size_t i = 0; i < operands.size(); ++i)
        if (wasLive[i] && !wantedLater(operands[i]) &&
            !llvm::is_contained(operands.take_front(i), operands[i]))
          --live;
      for (ValueId value : problem.nodes[node].results)
        live += !isFree(value) && wantedLater(value);
      tooWide |= live > most;
    }
    for (NodeId node : order)
      countReads(node, +1);
    return tooWide;
  }

  /// The types that readers of `value` not yet decided may want.
  uint32_t wantedLater(ValueId value) const {
    uint32_t wanted = 0;
    for (TypeId t = 0; t < problem.types.size(); ++t)
      wanted |= uint32_t(readersLeft[value * problem.types.size() + t] > 0) << t;
    return wanted;
  }

  bool isFree(ValueId value) const { return problem.values[value].constant; }

  static Code normalised(TypeId stored, uint32_t copies, uint32_t wanted) {
    copies &= wanted;
    return wanted & ~copies & ~(1u << stored) ? encode(stored, copies) : settled;
  }

  /// Holds what a step over one node needs to know of the states before and behind it.
  struct Step {
    NodeId node;
    llvm::ArrayRef<unsigned> allowed;
    llvm::SmallVector<std::pair<Weight, Weight>, 4>
        weights;                           ///< objective and resource, per variant
    llvm::SmallVector<int, 4> operandSlot; ///< in the old key
    int tieSlot;                           ///< in the old key
    bool tieOpen, tieOpens;                ///< before; from here on
    llvm::SmallVector<int, 16> kept;       ///< slots of the old key that stay
    llvm::SmallVector<uint32_t, 4> operandWanted, resultWanted;
    llvm::SmallVector<bool, 4> resultLive;
    size_t position;
  };

  /// Locates the operands and the tie of `node` in the old key, and lists the slots of the new one.
  Step planStep(NodeId node, std::vector<Slot> &newSlots) {
    const Node &n = problem.nodes[node];
    Step s;
    s.node = node;
    s.allowed = indexed.allowed(node);
    for (unsigned variant : s.allowed)
      s.weights.push_back(
          {nodeWeight(query.objective, node, variant), nodeWeight(query.resource, node, variant)});
    GroupId group = indexed.groupOf(node);
    s.tieOpen = openMembers[group] > 0;
    bool tieStays = ++openMembers[group] < indexed.membersOf(group).size();
    s.tieOpens = !s.tieOpen && tieStays;
    s.tieSlot = llvm::find(slots, Slot{group, true}) - slots.begin();
    for (ValueId v : n.operands) {
      s.operandSlot.push_back(llvm::find(slots, Slot{v, false}) - slots.begin());
      s.operandWanted.push_back(wantedLater(v));
    }
    for (auto [i, slot] : llvm::enumerate(slots)) {
      bool stays = slot.isTie ? slot.id != group || tieStays
                              : !llvm::is_contained(n.operands, slot.id) || wantedLater(slot.id);
      if (stays) {
        s.kept.push_back(i);
        newSlots.push_back(slot);
      }
    }
    for (ValueId v : n.results) {
      s.resultWanted.push_back(isFree(v) ? 0 : wantedLater(v));
      bool live = false;
      for (unsigned variant : s.allowed)
        live |= (s.resultWanted.back() & ~(1u << indexed.storedType(v, variant))) != 0;
      s.resultLive.push_back(live);
      if (live)
        newSlots.push_back({v, false});
    }
    if (s.tieOpens)
      newSlots.push_back({group, true});
    s.position = ++positionCounter;
    return s;
  }

  static TypeId storedOf(Code code) { return (code - 1) >> maxTypes; }
  static uint32_t copiesOf(Code code) { return (code - 1) & ((1u << maxTypes) - 1); }

  /// Adds the casts that `variant` needs to read its operands.
  void readOperands(const Step &s, unsigned variant, llvm::MutableArrayRef<Code> key,
                    Entry &entry) const {
    const Node &n = problem.nodes[s.node];
    for (auto [k, value] : llvm::enumerate(n.operands)) {
      TypeId type = n.variants[variant].in[k];
      if (size_t(s.operandSlot[k]) == slots.size())
        continue;
      Code &code = key[s.operandSlot[k]];
      if (code == settled)
        continue;
      TypeId stored = storedOf(code);
      uint32_t copies = copiesOf(code);
      if (type != anyType && type != stored && !(copies >> type & 1)) {
        entry.weight += indexed.castWeight(query.objective, value, stored, type);
        if (usesResource)
          entry.resource += indexed.castWeight(query.resource, value, stored, type);
        copies |= 1u << type;
      }
      // A later operand of this node may read the same value, so normalise only at the end.
      code = encode(stored, copies);
    }
  }

  /// The key behind the step, of the old one after its operands were read.
  void buildKey(const Step &s, unsigned variant, llvm::MutableArrayRef<Code> changed,
                llvm::SmallVectorImpl<Code> &key) const {
    for (auto [k, wanted] : llvm::enumerate(s.operandWanted))
      if (size_t(s.operandSlot[k]) != slots.size() && changed[s.operandSlot[k]] != settled) {
        Code &code = changed[s.operandSlot[k]];
        code = normalised(storedOf(code), copiesOf(code), wanted);
      }
    key.clear();
    for (int k : s.kept)
      key.push_back(changed[k]);
    for (auto [k, live] : llvm::enumerate(s.resultLive))
      if (live)
        key.push_back(
            normalised(problem.nodes[s.node].variants[variant].out[k], 0, s.resultWanted[k]));
    if (s.tieOpens)
      key.push_back(1 + variant);
  }

  void step(NodeId node) {
    countReads(node, -1);
    std::vector<Slot> newSlots;
    const Step s = planStep(node, newSlots);
    previous = std::move(table);
    table.reset(newSlots.size());
    llvm::SmallVector<Code, 32> key, changed;
    size_t firstDecision = decisions.size();
    previous.forEach([&](const Entry &state) {
      llvm::ArrayRef<Code> old = previous.key(state.key);
      for (auto [i, variant] : llvm::enumerate(s.allowed)) {
        if (s.tieOpen && old[s.tieSlot] != 1 + variant)
          continue;
        Entry entry = state;
        entry.weight += s.weights[i].first;
        entry.resource += s.weights[i].second;
        changed.assign(old.begin(), old.end());
        readOperands(s, variant, changed, entry);
        if (isHopeless(entry, s.position))
          continue;
        buildKey(s, variant, changed, key);
        entry.indexSum += options.prefer == Preference::High ? int64_t(variant) : -int64_t(variant);
        entry.hash += mix(keys[node], variant);
        if (!usesResource)
          entry.resource = 0;
        entry.trail = decisions.size();
        decisions.push_back({state.trail, uint32_t(variant)});
        table.insert(key, entry);
      }
    });
    compactDecisions(firstDecision);
    slots = std::move(newSlots);
  }

  /// Keeps only the decisions of states that survived the step.
  void compactDecisions(size_t first) {
    std::vector<Decision> survivors;
    table.forEach([&](Entry &e) {
      survivors.push_back(decisions[e.trail]);
      e.trail = first + survivors.size() - 1;
    });
    decisions.resize(first);
    decisions.insert(decisions.end(), survivors.begin(), survivors.end());
  }

  bool isHopeless(const Entry &entry, size_t position) const {
    if (query.upperBound && entry.weight + leastWeight[position] > *query.upperBound)
      return true;
    return usesResource && entry.resource + leastResource[position] > query.limit;
  }

  static uint64_t mix(uint64_t key, uint64_t variant) {
    uint64_t words[] = {key, variant};
    return llvm::xxh3_64bits(
        llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(words), sizeof(words)));
  }

  const IndexedProblem &indexed;
  const Problem &problem;
  const FrontierQuery &query;
  const SolveOptions &options;
  bool usesResource;

  std::vector<uint64_t> keys;
  std::vector<NodeId> order;
  std::vector<Weight> leastWeight, leastResource;
  std::vector<uint32_t> readersLeft, openMembers;
  std::vector<Slot> slots;
  std::vector<Decision> decisions;
  StateTable table, previous;
  size_t positionCounter = 0;
};

} // namespace

FrontierResult mpcore::assignment::searchFrontier(const IndexedProblem &indexed,
                                                  const FrontierQuery &query,
                                                  const SolveOptions &options) {
  return FrontierSearch(indexed, query, options).run();
}
