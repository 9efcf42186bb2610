// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recomputes the score and the bound of an answer.

#include "mp/Assignment/Explain.h"

#include "llvm/ADT/Twine.h"

using namespace mpcore::assignment;

static llvm::Error error(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
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
