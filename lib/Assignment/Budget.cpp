// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solves a problem with a budget: by neighbours on the hull, then by a frontier search with a
// resource, then by branch and bound.

#include "Budget.h"

#include "Canonical.h"
#include "Frontier.h"

#include "llvm/ADT/STLExtras.h"

using namespace mpcore::assignment;

namespace {

/// Depth-first branch and bound; each node of the tree is bounded by its own bracket.
class ClosingSearch {
public:
  ClosingSearch(IndexedProblem &indexed, const Engine &engine, const Tradeoff &tradeoff,
                Weight limit, uint64_t maxEffort)
      : indexed(indexed), engine(engine), tradeoff(tradeoff), limit(limit), maxEffort(maxEffort),
        keys(canonicalKeys(indexed)) {}

  TradeoffPoint incumbent;

  /// Searches below a node whose bracket is known. Returns a bound on what is there, given that
  /// nothing above the incumbent matters.
  Weight search(const Bracket &bracket) {
    if (!bracket.feasible)
      return infinity;
    if (bracket.within.primary < incumbent.primary)
      incumbent = bracket.within;
    if (bracket.bound >= incumbent.primary || bracket.beyond.labels.empty() || effort >= maxEffort)
      return bracket.bound;
    std::optional<GroupId> group = chooseGroup(bracket);
    if (!group)
      return bracket.bound;
    llvm::SmallVector<unsigned, 4> all(indexed.allowedInGroup(*group)), rest = all;
    unsigned bold = bracket.beyond.labels[indexed.membersOf(*group).front()];
    llvm::erase(rest, bold);
    Weight bound = infinity;
    for (llvm::ArrayRef<unsigned> half : {llvm::ArrayRef<unsigned>(rest), llvm::ArrayRef(bold)}) {
      indexed.setAllowed(*group, half);
      Bracket child = bracketLimit(indexed, engine, tradeoff, limit);
      effort += child.effort;
      bound = std::min(bound, search(child));
    }
    indexed.setAllowed(*group, all);
    return std::max(bound, bracket.bound);
  }

private:
  /// Among the groups that the neighbours decide differently, chooses the one that frees most of
  /// the resource.
  std::optional<GroupId> chooseGroup(const Bracket &bracket) const {
    std::optional<GroupId> best;
    std::pair<Weight, uint64_t> bestScore;
    for (GroupId g = 0; g < indexed.numGroups(); ++g) {
      NodeId n = indexed.membersOf(g).front();
      unsigned in = bracket.within.labels[n], out = bracket.beyond.labels[n];
      if (in == out)
        continue;
      std::pair<Weight, uint64_t> score = {indexed.weight(tradeoff.resource, g, out) -
                                               indexed.weight(tradeoff.resource, g, in),
                                           keys[n]};
      if (!best || score > bestScore) {
        best = g;
        bestScore = score;
      }
    }
    return best;
  }

  static constexpr Weight infinity = Weight(1) << 125;
  IndexedProblem &indexed;
  const Engine &engine;
  const Tradeoff &tradeoff;
  Weight limit;
  uint64_t effort = 0, maxEffort;
  std::vector<uint64_t> keys;
};

} // namespace

char UnmetBudget::ID = 0;

void UnmetBudget::log(llvm::raw_ostream &os) const {
  os << (isExact ? "no assignment has " : "no assignment was found that has ")
     << (isCost ? "cost" : "error") << " at most " << limit << "; the least is " << least;
}

llvm::Expected<Solution> mpcore::assignment::solveBudgeted(IndexedProblem &indexed,
                                                           const SolveOptions &options) {
  const Problem &problem = indexed.problem();
  bool costIsResource = problem.costBudget.has_value();
  int64_t limit = costIsResource ? *problem.costBudget : *problem.errorBudget;
  Engine engine(indexed, options);
  llvm::Expected<Tradeoff> tradeoff = makeTradeoff(indexed, options.countCasts, costIsResource);
  if (!tradeoff)
    return tradeoff.takeError();

  Bracket bracket = bracketLimit(indexed, engine, *tradeoff, limit);
  if (!bracket.feasible)
    return llvm::make_error<UnmetBudget>(costIsResource, limit, int64_t(bracket.within.resource),
                                         bracket.within.exact);

  Solution solution;
  solution.method = bracket.method;
  Weight bound = bracket.bound;
  TradeoffPoint best = bracket.within;
  if (bound < best.primary) {
    FrontierQuery query{tradeoff->primary, tradeoff->resource, limit, best.primary};
    FrontierResult frontier = searchFrontier(indexed, query, options);
    if (frontier.complete && frontier.found) {
      best.labels = std::move(frontier.labels);
      bound = best.primary = frontier.value;
      solution.method = Method::Frontier;
    } else {
      SolveOptions rough = options;
      rough.boundRounds = std::min(options.boundRounds, 16u);
      rough.stateCap = std::min(options.stateCap, 2000u);
      Engine roughEngine(indexed, rough);
      ClosingSearch search(indexed, roughEngine, *tradeoff, limit, options.searchCap);
      search.incumbent = best;
      bound = std::max(bound, search.search(bracket));
      best = search.incumbent;
    }
  }
  solution.labels = std::move(best.labels);
  solution.score = evaluate(problem, solution.labels, &solution.copies);
  Weight units = bound > 0 ? bound / tradeoff->unit : 0;
  int64_t reached = costIsResource ? solution.score.error : solution.score.cost;
  solution.lowerBound = std::min<Weight>(units, reached);
  solution.provenOptimal = solution.lowerBound == reached;
  if (options.certify) {
    solution.certificate.emplace();
    engine.minimise(bracket.boundObjective, &*solution.certificate);
  }
  return solution;
}
