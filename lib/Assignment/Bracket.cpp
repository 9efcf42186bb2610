// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the vertices of the lower convex hull of (cost, error) beside a limit, one exact solve per
// step, by the recursion of Eisner and Severance (1976).

#include "Budget.h"

using namespace mpcore::assignment;

namespace {

/// Upper bounds on what any assignment scores.
struct Totals {
  Weight cost = 1, casts = 1, error = 1;
};

Totals totalsOf(const IndexedProblem &indexed) {
  Totals totals;
  const Problem &problem = indexed.problem();
  for (const Node &node : problem.nodes) {
    int64_t cost = 0, error = 0;
    for (const Variant &v : node.variants) {
      cost = std::max(cost, v.cost);
      error = std::max(error, v.error);
    }
    totals.cost += Weight(cost) * node.frequency;
    totals.error += error;
    for (ValueId value : node.results)
      if (!problem.values[value].constant)
        for (const CastCost &cast : problem.values[value].casts) {
          totals.cost += Weight(cast.cost) * node.frequency;
          totals.casts += 1;
        }
  }
  return totals;
}

bool productFits(Weight a, Weight b) { return a <= (Weight(1) << 116) / (b + 1); }

TradeoffPoint solveMix(const IndexedProblem &indexed, const Engine &engine,
                       const Tradeoff &tradeoff, Weight a, Weight b, Answer *answer = nullptr) {
  Answer found = engine.minimise(tradeoff.mix(a, b));
  Score score = evaluate(indexed.problem(), found.labels);
  TradeoffPoint point{found.labels, tradeoff.primary.of(score), tradeoff.resource.of(score),
                      found.exact()};
  if (answer)
    *answer = std::move(found);
  return point;
}

/// Weights under which the first objective decides and the second breaks ties.
std::pair<Weight, Weight> lexicographic(const IndexedProblem &indexed, const Objective &second) {
  Totals totals = totalsOf(indexed);
  return {second.cost * totals.cost + second.casts * totals.casts + second.error * totals.error + 1,
          1};
}

Weight divideUp(Weight a, Weight b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

} // namespace

llvm::Expected<Tradeoff> mpcore::assignment::makeTradeoff(const IndexedProblem &indexed,
                                                          bool countCasts, bool costIsResource) {
  Totals totals = totalsOf(indexed);
  Objective cost = indexed.costObjective(countCasts);
  Weight costTotal = cost.cost * totals.cost + cost.casts * totals.casts;
  if (!productFits(costTotal, totals.error)) {
    cost = {1, 0, 0};
    costTotal = totals.cost;
  }
  if (!productFits(costTotal, totals.error))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "costs and errors are too large to trade against each other; "
                                   "use coarser units");
  if (!costIsResource)
    return Tradeoff{cost, {0, 0, 1}, cost.cost};
  Weight unit = totals.cost + 1;
  if (productFits(unit * totals.error, totals.cost))
    return Tradeoff{{1, 0, unit}, {1, 0, 0}, unit};
  return Tradeoff{{0, 0, 1}, {1, 0, 0}, 1};
}

Bracket mpcore::assignment::bracketLimit(const IndexedProblem &indexed, const Engine &engine,
                                         const Tradeoff &tradeoff, Weight limit) {
  Bracket bracket;
  Answer answer;
  auto consider = [&](Weight a, Weight b) {
    TradeoffPoint point = solveMix(indexed, engine, tradeoff, a, b, &answer);
    bool first = bracket.effort == 0;
    bracket.effort += answer.effort + 1;
    bracket.method = std::max(bracket.method, answer.method);
    // a P + b R >= bound and R <= limit give a bound on P.
    Weight bound = divideUp(answer.bound - b * limit, a);
    if (first || bound > bracket.bound) {
      bracket.bound = bound;
      bracket.boundObjective = tradeoff.mix(a, b);
    }
    return point;
  };
  auto [a, b] = lexicographic(indexed, tradeoff.resource);
  TradeoffPoint cheapest = consider(a, b);
  if (cheapest.resource <= limit) {
    bracket.feasible = true;
    bracket.within = std::move(cheapest);
    // Its own optimality is sharper than the tie-broken mixture.
    if (bracket.within.exact)
      bracket.bound = std::max(bracket.bound, bracket.within.primary);
    return bracket;
  }
  auto [c, d] = lexicographic(indexed, tradeoff.primary);
  TradeoffPoint safest = consider(d, c);
  bracket.beyond = std::move(cheapest);
  bracket.within = std::move(safest);
  if (bracket.within.resource > limit)
    return bracket;
  bracket.feasible = true;
  while (true) {
    TradeoffPoint &in = bracket.within, &out = bracket.beyond;
    Weight p = in.primary - out.primary, r = out.resource - in.resource;
    if (p <= 0 || r <= 0)
      return bracket;
    TradeoffPoint point = consider(r, p);
    if (r * point.primary + p * point.resource >= r * in.primary + p * in.resource)
      return bracket;
    if (point.resource <= limit) {
      if (point.primary >= in.primary)
        return bracket;
      in = std::move(point);
    } else {
      if (point.resource >= out.resource)
        return bracket;
      out = std::move(point);
    }
  }
}
