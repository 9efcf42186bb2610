// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Assignment/Solve.h"

#include "TwoLabel.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mp::assignment;

llvm::StringRef mp::assignment::toString(Method method) {
  switch (method) {
  case Method::MinCut:
    return "min-cut";
  case Method::Frontier:
    return "frontier";
  case Method::Expansion:
    return "expansion";
  }
  llvm_unreachable("unknown method");
}

llvm::Expected<Solution> mp::assignment::solve(const Problem &problem,
                                               const SolveOptions &options) {
  if (llvm::Error e = problem.validate())
    return std::move(e);
  Flat flat(problem);
  Objective objective = flat.costObjective(options.countCasts);
  Solution solution;
  if (std::optional<CutResult> cut = solveTwoLabel(flat, objective, options.prefer)) {
    solution.labels = std::move(cut->labels);
    solution.score = evaluate(problem, solution.labels, &solution.copies);
    solution.method = Method::MinCut;
    solution.provenOptimal = true;
    solution.lowerBound = solution.score.cost;
    return solution;
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "the problem does not have the two-label form");
}
