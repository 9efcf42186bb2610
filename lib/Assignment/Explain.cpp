// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prices other choices by solving again, and recomputes the score and the bound of an answer.

#include "mp/Assignment/Explain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::assignment;

static llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

llvm::Expected<Price> mpcore::assignment::priceOfVariant(const Problem &problem,
                                                         const Solution &answer, NodeId node,
                                                         unsigned variant,
                                                         const SolveOptions &options) {
  const Node &target = problem.nodes[node];
  if (variant >= target.variants.size())
    return error("node '" + target.name + "' has no variant " + llvm::Twine(variant));
  if (target.pinned && *target.pinned != variant)
    return error("node '" + target.name + "' is pinned to '" +
                 target.variants[*target.pinned].name + "'");
  Problem forced = problem;
  forced.nodes[node].pinned = variant;
  llvm::Expected<Solution> other = solve(forced, options);
  if (!other)
    return error("'" + target.variants[variant].name + "' for node '" + target.name +
                 "' is impossible: " + llvm::toString(other.takeError()));
  return Price{other->score.cost - answer.score.cost, other->score.error - answer.score.error,
               answer.provenOptimal && other->provenOptimal};
}

std::vector<llvm::SmallVector<int64_t, 4>> mpcore::assignment::leastPrices(const Problem &problem,
                                                                           const Solution &answer) {
  std::vector<llvm::SmallVector<int64_t, 4>> prices(problem.nodes.size());
  for (NodeId n = 0; n < problem.nodes.size(); ++n)
    prices[n].assign(problem.nodes[n].variants.size(), 0);
  if (!answer.certificate)
    return prices;
  const Certificate &certificate = *answer.certificate;
  const Objective &objective = certificate.objective;

  // The price that each variant and its ports pay; members of a tie pay together.
  std::vector<llvm::SmallVector<Weight, 4>> paid(problem.nodes.size());
  for (NodeId n = 0; n < problem.nodes.size(); ++n)
    for (const Variant &v : problem.nodes[n].variants)
      paid[n].push_back(objective.cost * v.cost * problem.nodes[n].frequency +
                        objective.error * v.error);
  for (const Multiplier &m : certificate.multipliers)
    for (auto [k, v] : llvm::enumerate(problem.nodes[m.node].variants))
      if ((m.isResult ? v.out[m.index] : v.in[m.index]) == m.type)
        paid[m.node][k] += m.amount;
  std::vector<bool> isTied(problem.nodes.size(), false);
  for (const auto &tie : problem.ties)
    for (NodeId n : tie)
      isTied[n] = true;

  // Everything but this node still costs at least what the bound says, so the difference to the
  // node's cheapest variant is extra, less the gap between answer and bound.
  Score score = evaluate(problem, answer.labels);
  Weight unit = problem.costBudget ? objective.error : objective.cost;
  Weight gap = objective.of(score) - certificate.bound;
  if (problem.errorBudget)
    gap += objective.error * (*problem.errorBudget - score.error);
  if (problem.costBudget)
    gap += objective.cost * (*problem.costBudget - score.cost);
  Weight castSlack = 0;
  for (const Value &value : problem.values)
    castSlack += value.constant ? 0 : objective.casts * Weight(value.casts.size());
  if (unit <= 0)
    return prices;
  for (NodeId n = 0; n < problem.nodes.size(); ++n) {
    const Node &node = problem.nodes[n];
    if (isTied[n] || node.pinned)
      continue;
    Weight least = *llvm::min_element(paid[n]);
    for (unsigned v = 0; v < node.variants.size(); ++v) {
      // Casts count too, but less than one unit in all.
      Weight extra = paid[n][v] - least - gap - castSlack;
      if (v != answer.labels[n] && extra > 0)
        prices[n][v] = int64_t((extra + unit - 1) / unit);
    }
  }
  return prices;
}

llvm::Expected<CheckedAnswer> mpcore::assignment::checkAnswer(const Problem &problem,
                                                              const Solution &answer) {
  if (llvm::Error e = checkFeasible(problem, answer.labels))
    return e;
  CheckedAnswer checked;
  std::vector<Copy> copies;
  checked.score = evaluate(problem, answer.labels, &copies);
  auto compare = [](llvm::StringRef what, int64_t expected, int64_t found) {
    return expected == found ? llvm::Error::success()
                             : error("the answer claims " + what + " " + llvm::Twine(found) +
                                     "; its labels give " + llvm::Twine(expected));
  };
  if (llvm::Error e = compare("cost", checked.score.cost, answer.score.cost))
    return e;
  if (llvm::Error e = compare("casts", checked.score.casts, answer.score.casts))
    return e;
  if (llvm::Error e = compare("error", checked.score.error, answer.score.error))
    return e;
  if (copies != answer.copies)
    return error("the answer lists other casts than its labels need");
  int64_t reached = problem.costBudget ? checked.score.error : checked.score.cost;
  if (answer.lowerBound > reached)
    return error("the answer claims a lower bound of " + llvm::Twine(answer.lowerBound) +
                 " above what it reaches, " + llvm::Twine(reached));
  if (answer.certificate)
    checked.certifiedBound = certifiedLowerBound(problem, *answer.certificate);
  if (checked.certifiedBound > reached)
    return error("the certificate proves " + llvm::Twine(checked.certifiedBound) +
                 ", more than an assignment reaches: the checker is at fault");
  checked.certifiedOptimal = checked.certifiedBound == reached;
  return checked;
}
