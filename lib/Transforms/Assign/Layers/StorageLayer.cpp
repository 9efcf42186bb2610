// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides where values are stored narrow, and so where casts stand. It takes the optimum of the
// cost model among what is permitted (StoragePermission.h). The contractions' formats are decided
// by now.

#include "../Storage/StorageProblem.h"
#include "mp/Analysis/Locations.h"
#include "mp/Assignment/ProblemJSON.h"
#include "mp/Assignment/Solve.h"
#include "mp/Dialect/MP/ScaledError.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

static Placement summarize(const StorageProblem &storage, const StorageCosts &costs,
                           const assignment::Solution &answer) {
  const assignment::Problem &problem = storage.get();
  Placement placement;
  placement.before = storage.getCostBefore();
  placement.after = answer.score.cost;
  placement.casts = answer.score.casts;
  placement.lowerBound = answer.lowerBound;
  placement.provenOptimal = answer.provenOptimal;
  placement.method = assignment::toString(answer.method);
  placement.castBytes = storage.countCastBytes(answer.labels, /*perUse=*/false);
  auto baseline = [&](StringRef name, const assignment::Labels &labels, bool perUse) {
    assignment::Score score = perUse ? evaluatePerUse(problem, labels) : evaluate(problem, labels);
    placement.baselines.push_back(
        {name.str(), score.cost, score.casts, storage.countCastBytes(labels, perUse)});
  };
  baseline("Grappler", paintLikeGrappler(problem, storage.getPaints()), /*perUse=*/false);
  baseline("TVM", paintLikeTVM(problem, storage.getPaints()), /*perUse=*/true);
  baseline("XLA", paintLikeXLA(problem, storage.getPaints()), /*perUse=*/false);
  placement.assumedSizes = costs.getSizes().assumedSize();
  placement.assumedTrips = costs.getSizes().assumedTrips();
  return placement;
}

/// `path`, with the function's name put in where the module has several.
static std::string nameDump(FunctionOpInterface function, const PlacementOptions &options) {
  if (!options.namesDumps)
    return options.dumpProblem;
  auto [stem, extension] = StringRef(options.dumpProblem).rsplit('.');
  return (stem + "." + function.getName() + (extension.empty() ? "" : ".") + extension).str();
}

static LogicalResult dump(FunctionOpInterface function, const assignment::Problem &problem,
                          const assignment::Solution &answer, const PlacementOptions &options) {
  auto write = [&](raw_ostream &os) { assignment::writeProblem(problem, &answer, os); };
  std::string path = nameDump(function, options);
  llvm::Error error = options.namesDumps ? support::writeFile(path, "dump-problem=" + path, write)
                                         : options.problemFile->write(write);
  if (error)
    return function.emitError() << llvm::toString(std::move(error));
  return success();
}

static std::string print(double error) { return llvm::formatv("{0:E1}", error).str(); }

/// Costs in the units of the options, time in picoseconds; errors relative to the results.
static std::string describe(llvm::Error error, StringRef objective, const ErrorShares &errors) {
  std::string text;
  llvm::handleAllErrors(
      std::move(error),
      [&](const assignment::UnmetBudget &unmet) {
        auto amount = [&](int64_t units) {
          return unmet.isCost ? formatAmount(units, objective) : print(errors.toRelative(units));
        };
        text = (unmet.isCost ? "max-time is " : "the modelled error may be ") +
               amount(unmet.limit) +
               (unmet.isExact ? ", and the least possible is modelled as "
                              : ", and the least that was found is modelled as ") +
               amount(unmet.least);
      },
      [&](const llvm::ErrorInfoBase &other) { text = other.message(); });
  return text;
}

/// Describes what the answer would cost with `node` as `variant`, in a line; `answer` is of
/// `storage`.
static std::string describePrice(const StorageProblem &storage, const assignment::Solution &answer,
                                 assignment::NodeId node, const assignment::Variant &variant,
                                 StringRef objective, const ErrorShares &errors) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "  instead " << variant.name << ": ";
  llvm::Expected<assignment::Solution> other = assignment::solve(storage.force(node, variant));
  if (!other) {
    os << describe(other.takeError(), objective, errors) << "\n";
    return text;
  }
  int64_t price = other->score.cost - answer.score.cost;
  if (price == 0)
    os << "costs the same";
  else
    os << "would cost " << formatAmount(std::abs(price), objective)
       << (price > 0 ? " more" : " less");
  os << ", all else chosen anew"
     << (other->provenOptimal && answer.provenOptimal ? " (proven)" : "") << "\n";
  return text;
}

/// Explains why `op` is not otherwise: the price of each alternative, or what forbids it.
static std::string describeAlternatives(FunctionDecisions &decisions,
                                        const StoragePermissions &permissions,
                                        const StorageProblem &storage,
                                        const assignment::Solution &answer, assignment::NodeId node,
                                        const AssignSettings &settings, const ErrorShares &errors) {
  StringRef objective = support::spell(settings.placement.objective);
  const assignment::Node &found = storage.get().nodes[node];
  std::string text;
  for (auto [index, variant] : llvm::enumerate(found.variants))
    if (index != answer.labels[node])
      text += describePrice(storage, answer, node, variant, objective, errors);
  if (const assignment::Variant *wide = storage.getWideVariant(node))
    text += describePrice(storage, answer, node, *wide, objective, errors);
  llvm::raw_string_ostream os(text);
  for (OpResult result : storage.getOp(node)->getResults()) {
    if (!decisions.mayStoreNarrow(result) || permissions.getNarrow(result) ||
        settings.narrow.isTF32())
      continue;
    os << "  instead result " << result.getResultNumber() << " stored in " << settings.narrow
       << ": ";
    if (OpOperand *use = permissions.findWideUse(result, settings.narrow))
      os << "would lose what " << use->getOwner()->getName() << " at "
         << describeLocation(use->getOwner()->getLoc()) << " reads in full\n";
    else
      os << "nothing reads it\n";
  }
  return text;
}

/// Says where the model of sizes ends.
static LogicalResult reportUnsized(FunctionOpInterface function, Value value) {
  InFlightDiagnostic diagnostic = function.emitError()
                                  << "the error of the results cannot be limited: the modelled "
                                     "size of one is zero or infinite; "
                                     "state the ranges of arguments (mp.range)";
  diagnostic.attachNote(value.getLoc()) << "this value";
  return diagnostic;
}

/// No choice is accurate enough: says by how much, and which ops leave none that is exact.
static LogicalResult reportUnmetLimit(FunctionOpInterface function, const StorageProblem &storage,
                                      const ErrorShares &errors, const PlacementOptions &options) {
  SmallVector<std::pair<int64_t, Operation *>> inexact;
  for (auto [id, node] : llvm::enumerate(storage.get().nodes)) {
    int64_t least = node.variants.front().error;
    for (const assignment::Variant &variant : node.variants)
      least = std::min(least, variant.error);
    if (least > 0 && storage.getOp(id))
      inexact.push_back({least, storage.getOp(id)});
  }
  llvm::stable_sort(inexact, [](auto &a, auto &b) { return a.first > b.first; });
  InFlightDiagnostic diagnostic = function.emitError();
  diagnostic << "the error allowed (max-rel-error, min-sqnr), " << print(options.maxRelError)
             << ", cannot be kept: the least that pins, policies and layers leave is modelled as "
             << print(errors.findLeast(storage.get()))
             << ", and half of what is allowed may be modelled";
  constexpr unsigned shown = 3;
  for (auto &[error, op] : ArrayRef(inexact).take_front(shown))
    diagnostic.attachNote(op->getLoc())
        << "'" << op->getName() << "' cannot stay as it is found, which alone costs "
        << print(errors.toRelative(error));
  return failure();
}

/// The model lacks what mp-insert-scaling rounded: a limit would not hold.
static LogicalResult refuseScaled(FunctionOpInterface function) {
  Operation *scaled = nullptr;
  function->walk([&](Operation *op) {
    auto product = dyn_cast<ScaledMatmulOp>(op);
    auto restored = dyn_cast<DequantizeOp>(op);
    if ((product && product.getInserted()) || (restored && restored.getInserted()))
      scaled = op;
  });
  if (!scaled)
    return success();
  InFlightDiagnostic diagnostic =
      function.emitError()
      << "error or time is limited (max-rel-error, min-sqnr, max-time), but contractions are "
         "scaled already, "
         "which neither counts: expected a recipe that stores both factors as floats in its own "
         "format, "
         "without state and files of scales, so that being scaled is a choice within the limit";
  diagnostic.attachNote(scaled->getLoc()) << "the last one";
  return diagnostic;
}

/// Takes up what mp-insert-scaling has said of contractions that are not of this problem.
static void addScaledError(FloatAttr scaled, Placement &placement) {
  if (!scaled)
    return;
  const double error =
      std::sqrt(scaled.getValueAsDouble() + std::pow(placement.modelledError.value_or(0), 2));
  placement.hasUnmodelled = std::isnan(error);
  placement.modelledError = error < 1 ? std::optional(error) : std::nullopt;
}

/// Chooses by the optimum of the assignment problem; tells the placement to who wants to know.
static LogicalResult solveStorage(FunctionDecisions &decisions, const AssignSettings &settings,
                                  const StoragePermissions &permissions, StorageCosts &costs,
                                  ErrorShares &errors, const OperandSchemes *schemes,
                                  std::optional<Placement> &placement) {
  FunctionOpInterface function = decisions.getFunction();
  const PlacementOptions &options = settings.placement;
  StorageProblem storage(decisions, permissions, costs, errors, schemes, options);
  assignment::SolveOptions solving;
  solving.certify = !options.dumpProblem.empty();
  llvm::Expected<assignment::Solution> answer = assignment::solve(storage.get(), solving);
  if (!answer && options.maxRelError > 0 && errors.findLeast(storage.get()) > errors.getUsable()) {
    llvm::consumeError(answer.takeError());
    return reportUnmetLimit(function, storage, errors, options);
  }
  if (!answer)
    return function.emitError() << "no storage can be chosen: "
                                << describe(answer.takeError(), support::spell(options.objective),
                                            errors);
  if (!options.dumpProblem.empty() && failed(dump(function, storage.get(), *answer, options)))
    return failure();
  for (assignment::NodeId node = 0; node < storage.get().nodes.size(); ++node)
    if (Operation *op = storage.getOp(node); op && decisions.explained.contains(op))
      decisions.alternatives[op] =
          describeAlternatives(decisions, permissions, storage, *answer, node, settings, errors);
  if (options.summarizes) {
    placement = summarize(storage, costs, *answer);
    placement->function = function.getName();
    placement->part = settings.costs.part().name;
    placement->objective = support::spell(options.objective).str();
    placement->maxRelError = options.maxRelError;
    if (options.modelsError())
      placement->modelledError = errors.toRelative(answer->score.error);
  }
  storage.apply(answer->labels);
  return success();
}

LogicalResult mlir::mp::chooseStorage(FunctionDecisions &decisions,
                                      const AssignSettings &settings) {
  FunctionOpInterface function = decisions.getFunction();
  const PlacementOptions &options = settings.placement;
  auto scaled = dyn_cast_or_null<FloatAttr>(function->removeAttr(kScaledErrorAttrName));
  StoragePermissions permissions(decisions);
  StorageCosts costs(decisions, settings);
  if (options.modelsError() && failed(refuseScaled(function)))
    return failure();
  std::optional<OperandSchemes> schemes;
  if (options.recipe) {
    SmallVector<Operation *> contractions;
    for (auto &[op, decision] : decisions.getOps())
      if (decisions.canScale(op))
        contractions.push_back(op);
    schemes.emplace(function, contractions, *options.recipe);
    if (failed(checkOverflows(function, contractions, *options.recipe)))
      return failure();
  }
  ErrorShares errors(decisions, settings, schemes ? &*schemes : nullptr);
  if (!errors.canLimit())
    return reportUnsized(function, errors.getUnsized());
  std::optional<Placement> placement;
  if (failed(solveStorage(decisions, settings, permissions, costs, errors,
                          schemes ? &*schemes : nullptr, placement)))
    return failure();
  if (!placement)
    return success();
  // The error model takes as much memory as the problem, which is gone.
  if (!options.modelsError())
    placement->modelledError = errors.estimate();
  addScaledError(scaled, *placement);
  decisions.placement = std::move(placement);
  return success();
}
