// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picks the method for a problem and turns its answer into a solution with a certificate.

#include "mp/Assignment/Solve.h"

#include "Budget.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mpcore::assignment;

llvm::StringRef mpcore::assignment::toString(Method method) {
  switch (method) {
  case Method::MinCut: return "min-cut";
  case Method::Frontier: return "frontier";
  case Method::Expansion: return "expansion";
  }
  llvm_unreachable("unknown method");
}

llvm::Expected<Solution> mpcore::assignment::solve(const Problem &problem,
                                                   const SolveOptions &options) {
  if (llvm::Error e = problem.validate())
    return e;
  IndexedProblem indexed(problem);
  if (problem.errorBudget || problem.costBudget)
    return solveBudgeted(indexed, options);
  Solution solution;
  if (options.certify)
    solution.certificate.emplace();
  Objective objective = indexed.costObjective(options.countCasts);
  Answer answer = Engine(indexed, options)
                      .minimise(objective, options.certify ? &*solution.certificate : nullptr);
  solution.labels = std::move(answer.labels);
  solution.score = evaluate(problem, solution.labels, &solution.copies);
  solution.method = answer.method;
  // Casts weigh less than one unit of cost, so rounding down bounds the cost alone.
  solution.lowerBound = std::min<Weight>(answer.bound / objective.cost, solution.score.cost);
  solution.provenOptimal = solution.lowerBound == solution.score.cost;
  return solution;
}
