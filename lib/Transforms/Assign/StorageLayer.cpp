// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where values are stored narrow, and so where casts stand: the optimum of the cost
// model among what is permitted (StoragePermission.h). The contractions' formats are
// decided by now.

#include "StorageProblem.h"
#include "mp/Assignment/ProblemJSON.h"
#include "mp/Assignment/Solve.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::mp;
namespace assignment = ::mp::assignment;

static Placement summarize(const StorageProblem &storage, const assignment::Solution &answer) {
  const assignment::Problem &problem = storage.get();
  Placement placement;
  placement.before = storage.costBefore();
  placement.after = answer.score.cost;
  placement.casts = answer.score.casts;
  placement.lowerBound = answer.lowerBound;
  placement.provenOptimal = answer.provenOptimal;
  placement.method = assignment::toString(answer.method);
  auto baseline = [&](StringRef name, const assignment::Score &score) {
    placement.baselines.emplace_back(name, score.cost);
  };
  baseline("Grappler", evaluate(problem, paintLikeGrappler(problem, storage.getPaints())));
  baseline("TVM", evaluatePerUse(problem, paintLikeTVM(problem, storage.getPaints())));
  baseline("XLA", evaluate(problem, paintLikeXLA(problem, storage.getPaints())));
  placement.assumedSizes = storage.getSizes().assumedSize();
  placement.assumedTrips = storage.getSizes().assumedTrips();
  return placement;
}

static LogicalResult dump(FunctionOpInterface function, const assignment::Problem &problem,
                          const assignment::Solution &answer, StringRef path) {
  llvm::Error error = llvm::writeToOutput(path, [&](raw_ostream &os) {
    assignment::writeProblem(problem, &answer, os);
    return llvm::Error::success();
  });
  if (error)
    return function.emitError() << "cannot write the assignment problem '" << path
                                << "': " << llvm::toString(std::move(error));
  return success();
}

/// `path`, with the function's name put in where the module has several.
static std::string nameDump(FunctionOpInterface function, const PlacementOptions &options) {
  if (!options.namesDumps)
    return options.dumpProblem;
  auto [stem, extension] = StringRef(options.dumpProblem).rsplit('.');
  return (stem + "." + function.getName() + (extension.empty() ? "" : ".") + extension).str();
}

LogicalResult mlir::mp::chooseStorage(FunctionDecisions &decisions, const AssignSettings &settings) {
  FunctionOpInterface function = decisions.getFunction();
  StoragePermissions permissions(decisions, settings);
  StorageProblem storage(decisions, permissions, settings);
  const PlacementOptions &options = settings.placement;
  assignment::SolveOptions solving;
  solving.certify = !options.dumpProblem.empty();
  llvm::Expected<assignment::Solution> answer = assignment::solve(storage.get(), solving);
  if (!answer)
    return function.emitError() << "no storage can be chosen: " << llvm::toString(answer.takeError());
  if (!options.dumpProblem.empty() &&
      failed(dump(function, storage.get(), *answer, nameDump(function, options))))
    return failure();
  Placement placement = summarize(storage, *answer);
  placement.function = function.getName();
  placement.part = settings.costs.part().name;
  placement.objective = options.memory ? "memory" : "time";
  placement.extraRoundings = storage.apply(answer->labels);
  decisions.placement = placement;
  return success();
}
