// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Improves an assignment by moves that are minimum cuts each (alpha-expansion, Boykov, Veksler and
// Zabih 2001).

#include "Expansion.h"

#include "TwoLabel.h"

#include "llvm/ADT/STLExtras.h"

using namespace mpcore::assignment;

/// True if `to` differs from `from` only by operands that become `in` and results that become
/// `out`.
static bool changesOnlyTo(const Variant &from, const Variant &to, TypeId in, TypeId out) {
  for (auto [a, b] : llvm::zip_equal(from.in, to.in))
    if (a != b && b != in && b != anyType)
      return false;
  for (auto [a, b] : llvm::zip_equal(from.out, to.out))
    if (a != b && b != out)
      return false;
  return true;
}

Labels mpcore::assignment::improveByMoves(const IndexedProblem &indexed, const Objective &objective,
                                          Labels labels) {
  const Problem &problem = indexed.problem();
  Weight best = objective.of(evaluate(problem, labels));
  std::vector<unsigned> offers(indexed.numGroups());
  unsigned numTypes = problem.types.size();
  for (bool improved = true; improved;) {
    improved = false;
    for (unsigned kind = 0; kind < numTypes * numTypes; ++kind) {
      TypeId in = kind / numTypes, out = kind % numTypes;
      bool any = false;
      for (GroupId g = 0; g < indexed.numGroups(); ++g) {
        unsigned current = labels[indexed.membersOf(g).front()];
        std::optional<Weight> lightest;
        offers[g] = current;
        for (unsigned v : indexed.allowedInGroup(g)) {
          if (v == current || !llvm::all_of(indexed.membersOf(g), [&](NodeId n) {
                const auto &variants = problem.nodes[n].variants;
                return changesOnlyTo(variants[current], variants[v], in, out);
              }))
            continue;
          Weight weight = indexed.weight(objective, g, v);
          if (!lightest || weight < *lightest) {
            lightest = weight;
            offers[g] = v;
            any = true;
          }
        }
      }
      if (!any)
        continue;
      Labels moved = solveMove(indexed, objective, Preference::High, {&labels, offers});
      Weight weight = objective.of(evaluate(problem, moved));
      if (weight < best) {
        best = weight;
        labels = std::move(moved);
        improved = true;
      }
    }
  }
  return labels;
}

/// The optimum between the widest type and `type`, where that is a minimum cut.
static std::optional<Labels> solveBetween(const IndexedProblem &indexed, const Objective &objective,
                                          Preference prefer, TypeId type) {
  const Problem &problem = indexed.problem();
  IndexedProblem restricted = indexed;
  for (GroupId g = 0; g < indexed.numGroups(); ++g) {
    llvm::SmallVector<unsigned, 4> variants;
    auto fits = [&](TypeId t) { return t == 0 || t == type || t == anyType; };
    for (unsigned v : indexed.allowedInGroup(g))
      if (llvm::all_of(indexed.membersOf(g), [&](NodeId n) {
            const Variant &variant = problem.nodes[n].variants[v];
            return llvm::all_of(variant.in, fits) && llvm::all_of(variant.out, fits);
          }))
        variants.push_back(v);
    if (variants.empty())
      variants.push_back(indexed.allowedInGroup(g).front());
    restricted.setAllowed(g, variants);
  }
  if (std::optional<CutResult> cut = solveTwoLabel(restricted, objective, prefer))
    return std::move(cut->labels);
  return std::nullopt;
}

Labels mpcore::assignment::searchByExpansion(const IndexedProblem &indexed,
                                             const Objective &objective, Preference prefer) {
  const Problem &problem = indexed.problem();
  Labels safest(problem.nodes.size());
  for (NodeId n = 0; n < safest.size(); ++n)
    safest[n] = indexed.allowed(n).front();
  std::vector<Labels> starts = {safest};
  for (TypeId type = 1; type < problem.types.size(); ++type)
    if (std::optional<Labels> labels = solveBetween(indexed, objective, prefer, type))
      starts.push_back(std::move(*labels));
  Labels best;
  Weight bestWeight = 0;
  for (Labels &start : starts) {
    Labels labels = improveByMoves(indexed, objective, std::move(start));
    Weight weight = objective.of(evaluate(problem, labels));
    if (best.empty() || weight < bestWeight) {
      bestWeight = weight;
      best = std::move(labels);
    }
  }
  return best;
}
