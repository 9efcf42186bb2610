// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds and validates assignment problems, one rule after another, and scores labels.

#include "mp/Assignment/Problem.h"

#include "IndexedProblem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::assignment;

TypeId Problem::addType(llvm::StringRef name) {
  types.push_back(name.str());
  return types.size() - 1;
}

ValueId Problem::addValue(llvm::StringRef name, llvm::ArrayRef<CastCost> casts, bool constant) {
  values.push_back({name.str(), {casts.begin(), casts.end()}, constant});
  return values.size() - 1;
}

NodeId Problem::addNode(Node node) {
  nodes.push_back(std::move(node));
  return nodes.size() - 1;
}

namespace {

llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// One error at a time, in a fixed order, each rule a function.
class Validator {
public:
  explicit Validator(const Problem &problem) : problem(problem) {}

  llvm::Error run() {
    if (problem.types.empty() || problem.types.size() > maxTypes)
      return error("expected 1 to " + llvm::Twine(maxTypes) + " types, found " +
                   llvm::Twine(problem.types.size()));
    for (NodeId id = 0; id < problem.nodes.size(); ++id)
      if (llvm::Error e = checkNode(id))
        return e;
    if (llvm::Error e = checkDefinitions())
      return e;
    if (llvm::Error e = checkTies())
      return e;
    IndexedProblem indexed(problem);
    if (llvm::Error e = checkPins(indexed))
      return e;
    if (llvm::Error e = checkCasts(indexed))
      return e;
    if (llvm::Error e = checkSums())
      return e;
    if (problem.errorBudget && problem.costBudget)
      return error("a problem has an error budget or a cost budget, not both");
    if (problem.errorBudget.value_or(0) < 0 || problem.costBudget.value_or(0) < 0)
      return error("budgets must not be negative");
    if (indexed.topologicalOrder().size() != problem.nodes.size())
      return error("operands form a cycle; carry values around loops with a tie instead");
    return llvm::Error::success();
  }

private:
  std::string describe(NodeId id) const {
    return "node " + std::to_string(id) + " '" + problem.nodes[id].name + "'";
  }
  std::string describeValue(ValueId id) const {
    return "value " + std::to_string(id) + " '" + problem.values[id].name + "'";
  }

  llvm::Error checkNode(NodeId id) const {
    const Node &node = problem.nodes[id];
    if (node.variants.empty())
      return error(describe(id) + " has no variant");
    if (node.pinned && *node.pinned >= node.variants.size())
      return error(describe(id) + " is pinned to variant " + llvm::Twine(*node.pinned) +
                   " but has " + llvm::Twine(node.variants.size()));
    if (node.frequency < 0)
      return error(describe(id) + " has a negative frequency");
    for (const auto *list : {&node.operands})
      for (ValueId value : *list)
        if (value >= problem.values.size())
          return error(describe(id) + " reads value " + llvm::Twine(value) +
                       ", which does not exist");
    for (ValueId value : node.results)
      if (value >= problem.values.size())
        return error(describe(id) + " defines value " + llvm::Twine(value) +
                     ", which does not exist");
    for (const Variant &variant : node.variants) {
      if (variant.in.size() != node.operands.size() || variant.out.size() != node.results.size())
        return error(describe(id) + " variant '" + variant.name + "': expected " +
                     llvm::Twine(node.operands.size()) + " operand and " +
                     llvm::Twine(node.results.size()) + " result types, found " +
                     llvm::Twine(variant.in.size()) + " and " + llvm::Twine(variant.out.size()));
      if (variant.cost < 0 || variant.error < 0)
        return error(describe(id) + " variant '" + variant.name + "' has a negative cost or error");
      for (TypeId type : variant.in)
        if (type != anyType && type >= problem.types.size())
          return error(describe(id) + " variant '" + variant.name + "' reads an unknown type");
      for (TypeId type : variant.out)
        if (type >= problem.types.size())
          return error(describe(id) + " variant '" + variant.name + "' stores an unknown type");
    }
    return llvm::Error::success();
  }

  llvm::Error checkDefinitions() const {
    std::vector<uint32_t> definitions(problem.values.size(), 0);
    for (const Node &node : problem.nodes)
      for (ValueId value : node.results)
        ++definitions[value];
    for (ValueId id = 0; id < problem.values.size(); ++id)
      if (definitions[id] != 1)
        return error(describeValue(id) + " is defined " + llvm::Twine(definitions[id]) +
                     " times, expected once");
    return llvm::Error::success();
  }

  llvm::Error checkCasts(const IndexedProblem &indexed) const {
    for (ValueId id = 0; id < problem.values.size(); ++id) {
      for (const CastCost &cast : problem.values[id].casts)
        if (cast.cost < 0)
          return error(describeValue(id) + " has a negative cast cost");
      if (problem.values[id].constant)
        continue;
      uint32_t stored = 0, wanted = 0;
      Use def = indexed.definition(id);
      for (unsigned v : indexed.allowed(def.node))
        stored |= 1u << problem.nodes[def.node].variants[v].out[def.index];
      for (Use use : indexed.uses(id))
        for (unsigned v : indexed.allowed(use.node))
          if (TypeId t = problem.nodes[use.node].variants[v].in[use.index]; t != anyType)
            wanted |= 1u << t;
      for (unsigned s = 0; s < problem.types.size(); ++s)
        for (unsigned t = 0; t < problem.types.size(); ++t)
          if (s != t && (stored >> s & 1) && (wanted >> t & 1) &&
              !llvm::any_of(problem.values[id].casts,
                            [&](auto &c) { return c.from == s && c.to == t; }))
            return error(describeValue(id) + " may be stored as " + problem.types[s] +
                         " and read as " + problem.types[t] + " but gives no cost for that cast");
    }
    return llvm::Error::success();
  }

  llvm::Error checkTies() const {
    for (const auto &tie : problem.ties)
      for (NodeId id : tie) {
        if (id >= problem.nodes.size())
          return error("a tie names node " + llvm::Twine(id) + ", which does not exist");
        if (problem.nodes[id].variants.size() != problem.nodes[tie.front()].variants.size())
          return error(describe(id) + " is in a tie with " + describe(tie.front()) +
                       " but has another number of variants");
      }
    return llvm::Error::success();
  }

  llvm::Error checkPins(const IndexedProblem &indexed) const {
    for (NodeId id = 0; id < problem.nodes.size(); ++id)
      if (indexed.allowed(id).empty())
        return error(describe(id) + " is in a tie whose members are pinned to different variants");
    return llvm::Error::success();
  }

  /// Every weight the solvers form is a sum of these, times a factor below 2^22 for counting casts.
  llvm::Error checkSums() const {
    int64_t sum = 0, errors = 0;
    bool overflow = false;
    auto add = [&](int64_t a, int64_t b) {
      int64_t product;
      overflow |=
          __builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &sum);
    };
    for (const Node &node : problem.nodes) {
      int64_t cost = 0, worst = 0;
      for (const Variant &variant : node.variants) {
        cost = std::max(cost, variant.cost);
        worst = std::max(worst, variant.error);
      }
      add(cost, node.frequency);
      overflow |= __builtin_add_overflow(errors, worst, &errors);
      for (ValueId value : node.results)
        for (const CastCost &cast : problem.values[value].casts)
          add(cast.cost, node.frequency);
    }
    if (overflow || sum > maxTotal || errors > maxTotal)
      return error("costs or errors add up to more than 2^60; use coarser units");
    return llvm::Error::success();
  }

  static constexpr int64_t maxTotal = int64_t(1) << 60;
  const Problem &problem;
};

} // namespace

llvm::Error Problem::validate() const { return Validator(*this).run(); }

Score mpcore::assignment::evaluate(const Problem &problem, const Labels &labels,
                                   std::vector<Copy> *copies) {
  assert(labels.size() == problem.nodes.size() && "one label per node");
  std::vector<uint16_t> wanted(problem.values.size(), 0);
  std::vector<TypeId> stored(problem.values.size(), 0);
  std::vector<NodeId> definition(problem.values.size(), 0);
  Score score;
  for (NodeId id = 0; id < problem.nodes.size(); ++id) {
    const Node &node = problem.nodes[id];
    const Variant &variant = node.variants[labels[id]];
    score.cost += variant.cost * node.frequency;
    score.error += variant.error;
    for (auto [value, type] : llvm::zip_equal(node.operands, variant.in))
      if (type != anyType)
        wanted[value] |= 1u << type;
    for (auto [value, type] : llvm::zip_equal(node.results, variant.out)) {
      stored[value] = type;
      definition[value] = id;
    }
  }
  if (copies)
    copies->clear();
  for (ValueId id = 0; id < problem.values.size(); ++id) {
    const Value &value = problem.values[id];
    for (TypeId type = 0; type < problem.types.size(); ++type) {
      if (!(wanted[id] >> type & 1) || type == stored[id])
        continue;
      if (copies)
        copies->push_back({id, stored[id], type});
      if (value.constant)
        continue;
      ++score.casts;
      for (const CastCost &cast : value.casts)
        if (cast.from == stored[id] && cast.to == type)
          score.cost += cast.cost * problem.nodes[definition[id]].frequency;
    }
  }
  return score;
}

llvm::Error mpcore::assignment::checkFeasible(const Problem &problem, const Labels &labels) {
  if (labels.size() != problem.nodes.size())
    return error("expected " + llvm::Twine(problem.nodes.size()) + " labels, found " +
                 llvm::Twine(labels.size()));
  for (NodeId id = 0; id < problem.nodes.size(); ++id) {
    const Node &node = problem.nodes[id];
    if (labels[id] >= node.variants.size())
      return error("label of node '" + node.name + "' is out of range");
    if (node.pinned && *node.pinned != labels[id])
      return error("node '" + node.name + "' is not labelled as pinned");
  }
  for (const auto &tie : problem.ties)
    for (NodeId id : tie)
      if (labels[id] != labels[tie.front()])
        return error("nodes '" + problem.nodes[tie.front()].name + "' and '" +
                     problem.nodes[id].name + "' of one tie differ");
  Score score = evaluate(problem, labels);
  if (problem.errorBudget && score.error > *problem.errorBudget)
    return error("error " + llvm::Twine(score.error) + " exceeds the budget " +
                 llvm::Twine(*problem.errorBudget));
  if (problem.costBudget && score.cost > *problem.costBudget)
    return error("cost " + llvm::Twine(score.cost) + " exceeds the budget " +
                 llvm::Twine(*problem.costBudget));
  return llvm::Error::success();
}
