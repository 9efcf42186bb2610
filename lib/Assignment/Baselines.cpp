// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Paints nodes as Grappler, TVM and XLA do, and scores the result with a cast per use.

#include "mp/Assignment/Baselines.h"

#include "IndexedProblem.h"

#include "llvm/ADT/STLExtras.h"

using namespace mpcore::assignment;

namespace {

using Set = std::vector<bool>;

class Painter {
public:
  Painter(const Problem &problem, llvm::ArrayRef<Paint> paints)
      : problem(problem), paints(paints), indexed(problem) {}

  /// Nodes reached from `seeds` along operands or results, through nodes that `through` accepts.
  /// The seeds themselves are not members unless reached.
  template <typename Fn> Set reach(const Set &seeds, bool downstream, Fn through) const {
    Set seen(problem.nodes.size(), false);
    std::vector<NodeId> work;
    for (NodeId n = 0; n < seeds.size(); ++n)
      if (seeds[n])
        work.push_back(n);
    auto visit = [&](NodeId n) {
      if (!seen[n] && through(n)) {
        seen[n] = true;
        work.push_back(n);
      }
    };
    while (!work.empty()) {
      NodeId n = work.back();
      work.pop_back();
      if (downstream) {
        for (ValueId value : problem.nodes[n].results)
          for (Use use : indexed.uses(value))
            visit(use.node);
      } else {
        for (ValueId value : problem.nodes[n].operands)
          visit(indexed.definition(value).node);
      }
    }
    return seen;
  }

  Set listed(Paint paint) const {
    Set set(problem.nodes.size());
    for (NodeId n = 0; n < set.size(); ++n)
      set[n] = paints[n] == paint;
    return set;
  }
  bool isClearOrInfer(NodeId n) const {
    return paints[n] == Paint::Clear || paints[n] == Paint::Infer;
  }

  /// A tie is narrow only if all its members are; pins hold.
  Labels labels(const Set &narrow) const {
    Labels result(problem.nodes.size());
    for (GroupId g = 0; g < indexed.numGroups(); ++g) {
      bool all = llvm::all_of(indexed.membersOf(g), [&](NodeId n) { return narrow[n]; });
      for (NodeId n : indexed.membersOf(g))
        result[n] = all ? indexed.allowed(n).back() : indexed.allowed(n).front();
    }
    return result;
  }

  const Problem &problem;
  llvm::ArrayRef<Paint> paints;
  IndexedProblem indexed;
};

} // namespace

Labels mpcore::assignment::paintLikeGrappler(const Problem &problem, llvm::ArrayRef<Paint> paints) {
  Painter painter(problem, paints);
  auto follows = [&](NodeId n) { return painter.isClearOrInfer(n); };

  Set deny = painter.listed(Paint::Deny);
  Set aboveDeny = painter.reach(deny, /*downstream=*/false, follows);
  Set betweenDeny =
      painter.reach(deny, /*downstream=*/true, [&](NodeId n) { return bool(aboveDeny[n]); });

  Set allow = painter.listed(Paint::Allow);
  auto open = [&](NodeId n) { return follows(n) && !betweenDeny[n]; };
  Set belowAllow = painter.reach(allow, /*downstream=*/true, open);
  Set aboveAllow = painter.reach(allow, /*downstream=*/false, open);
  for (NodeId n = 0; n < allow.size(); ++n)
    if (belowAllow[n] && aboveAllow[n])
      allow[n] = true;

  auto clear = [&](NodeId n) { return paints[n] == Paint::Clear && !betweenDeny[n]; };
  Set belowClear = painter.reach(allow, /*downstream=*/true, clear);
  Set aboveClear = painter.reach(allow, /*downstream=*/false, clear);
  for (NodeId n = 0; n < allow.size(); ++n)
    if (belowClear[n] || aboveClear[n])
      allow[n] = true;
  return painter.labels(allow);
}

Labels mpcore::assignment::paintLikeTVM(const Problem &problem, llvm::ArrayRef<Paint> paints) {
  Painter painter(problem, paints);
  Set narrow = painter.listed(Paint::Allow);
  for (NodeId n : painter.indexed.topologicalOrder()) {
    if (!painter.isClearOrInfer(n) || problem.nodes[n].operands.empty())
      continue;
    narrow[n] = llvm::all_of(problem.nodes[n].operands, [&](ValueId value) {
      return problem.values[value].constant || narrow[painter.indexed.definition(value).node];
    });
  }
  return painter.labels(narrow);
}

Labels mpcore::assignment::paintLikeXLA(const Problem &problem, llvm::ArrayRef<Paint> paints) {
  Painter painter(problem, paints);
  Set narrow(problem.nodes.size());
  for (NodeId n = 0; n < narrow.size(); ++n)
    narrow[n] = paints[n] != Paint::Deny;
  while (true) {
    Labels labels = painter.labels(narrow);
    std::vector<Copy> copies;
    evaluate(problem, labels, &copies);
    bool raised = false;
    auto raise = [&](NodeId n) {
      raised |= narrow[n];
      narrow[n] = false;
    };
    for (const Copy &copy : copies) {
      if (problem.values[copy.value].constant)
        continue;
      raise(painter.indexed.definition(copy.value).node);
      for (Use use : painter.indexed.uses(copy.value))
        raise(use.node);
    }
    if (!raised)
      return labels;
  }
}

Score mpcore::assignment::evaluatePerUse(const Problem &problem, const Labels &labels) {
  IndexedProblem indexed(problem);
  Score score;
  for (NodeId n = 0; n < problem.nodes.size(); ++n) {
    const Variant &variant = problem.nodes[n].variants[labels[n]];
    score.cost += variant.cost * problem.nodes[n].frequency;
    score.error += variant.error;
    for (auto [value, type] : llvm::zip_equal(problem.nodes[n].operands, variant.in)) {
      NodeId def = indexed.definition(value).node;
      TypeId stored = indexed.storedType(value, labels[def]);
      if (type == anyType || type == stored || problem.values[value].constant)
        continue;
      ++score.casts;
      score.cost += int64_t(indexed.castWeight({1, 0, 0}, value, stored, type));
    }
  }
  return score;
}
