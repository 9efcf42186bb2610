// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches on the logarithm of the limit that the model is given: more error allowed, more narrow.

#include "Budget.h"

#include "mlir/IR/Diagnostics.h"
#include "mp/Report/Report.h"
#include "mp/Watch/Numbers.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using mpcore::watch::numberOrNull;

/// Limits of the model are not told apart below this ratio.
static constexpr double kCloseEnough = 1.25;
/// A round aims this much below what the one before measured.
static constexpr double kAim = 0.8;
/// The model allows everything where errors may be so many times the results.
static constexpr double kNoLimit = 4;
/// No round moves the limit by more.
static constexpr double kLargestMove = 16;

static llvm::Expected<double> largestError(const Trials &trials, ModuleOp program,
                                           const TrialRun &reference, int64_t first,
                                           int64_t count) {
  auto run = trials.run(program, first, count);
  if (!run)
    return run.takeError();
  if (!run->isFinite)
    return INFINITY;
  double largest = 0;
  for (auto [results, exact] :
       llvm::zip_equal(run->results, ArrayRef(reference.results).slice(first, count)))
    largest = std::max(largest, std::sqrt(meanSquareError(results, exact)));
  return largest;
}

namespace {
struct Conversion {
  BudgetRound round;
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// Converts within a limit of the model. There is no module where nothing keeps it.
static llvm::Expected<Conversion> convertWithin(const Trials &trials, MLIRContext *context,
                                                double modelled, int64_t &contractions) {
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  auto report = std::make_shared<Report>();
  auto module = trials.convertWithin(modelled, report);
  if (!module)
    return module.takeError();
  Conversion conversion;
  conversion.round.modelled = modelled;
  conversion.module = std::move(*module);
  if (!conversion.module)
    return conversion;
  conversion.round.report = report->toJSON();
  const llvm::json::Object *totals = conversion.round.report.getAsObject()->getObject("totals");
  conversion.round.narrowed = totals->getInteger("narrowed").value_or(0);
  contractions = totals->getInteger("contractions").value_or(0);
  if (!report->getPlacements().empty()) {
    const Placement sum = sumPlacements(report->getPlacements());
    conversion.round.estimate = sum.modelledError;
    conversion.round.picoseconds = sum.after;
  }
  return conversion;
}

/// The next limit to try between, or beyond, those known to be kept and missed.
static double nextLimit(const BudgetRound &last, std::optional<double> kept,
                        std::optional<double> missed, double limit) {
  if (kept && missed)
    return std::sqrt(*kept * *missed);
  const double move = last.measured > 0 ? kAim * limit / last.measured : kLargestMove;
  return kept ? last.modelled * std::clamp(move, kCloseEnough, kLargestMove)
              : last.modelled * std::clamp(move, 1 / kLargestMove, 1 / kCloseEnough);
}

/// The round that decided the same, whose measurement holds for this one as well.
static std::optional<size_t> findSame(ArrayRef<OwningOpRef<ModuleOp>> modules, ModuleOp module) {
  for (auto [number, other] : llvm::enumerate(modules))
    if (OperationEquivalence::isEquivalentTo(*other, module, OperationEquivalence::IgnoreLocations))
      return number;
  return std::nullopt;
}

llvm::Expected<BudgetReport> mlir::mp::keepBudget(const Trials &trials, ModuleOp source,
                                                  const TrialData &data,
                                                  const BudgetOptions &options) {
  BudgetReport report;
  report.heldBack =
      std::clamp<int64_t>(std::llround(double(data.draws) * options.heldBack), 1, data.draws - 1);
  report.draws = data.draws - report.heldBack;
  auto reference = trials.runReference();
  if (!reference)
    return reference.takeError();
  std::vector<OwningOpRef<ModuleOp>> modules;
  std::optional<double> kept, missed;
  double modelled = options.limit;
  while (report.rounds.size() < options.rounds) {
    auto conversion = convertWithin(trials, source->getContext(), modelled, report.contractions);
    if (!conversion)
      return conversion.takeError();
    if (!conversion->module)
      break; // the model knows nothing that is as exact
    if (auto same = findSame(modules, *conversion->module)) {
      conversion->round.measured = report.rounds[*same].measured;
    } else {
      auto error = largestError(trials, *conversion->module, *reference, 0, report.draws);
      if (!error)
        return error.takeError();
      conversion->round.measured = *error;
    }
    report.rounds.push_back(std::move(conversion->round));
    modules.push_back(std::move(conversion->module));
    const BudgetRound &round = report.rounds.back();
    (round.measured <= options.limit ? kept : missed) = modelled;
    const bool isClose = kept && missed && *missed < *kept * kCloseEnough;
    if (isClose || (round.measured <= options.limit && modelled > kNoLimit))
      break;
    modelled = nextLimit(round, kept, missed, options.limit);
  }
  std::vector<size_t> order;
  for (auto [number, round] : llvm::enumerate(report.rounds))
    if (round.measured <= options.limit)
      order.push_back(number);
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return report.rounds[a].picoseconds < report.rounds[b].picoseconds;
  });
  for (size_t number : order) {
    auto error = largestError(trials, *modules[number], *reference, report.draws, report.heldBack);
    if (!error)
      return error.takeError();
    report.rounds[number].heldBack = *error;
    if (*error <= options.limit) {
      report.chosen = number;
      break;
    }
  }
  return report;
}

void mlir::mp::printBudget(llvm::raw_ostream &os, const BudgetReport &report,
                           const BudgetOptions &options) {
  os << "   model's limit  estimated  measured, " << report.draws << " draws  held back, "
     << report.heldBack << "  narrow  modelled\n";
  auto number = [&](std::optional<double> value, int width) {
    if (value)
      os << llvm::format("%*.3g", width, *value);
    else
      os << llvm::right_justify("-", width);
  };
  for (auto [i, round] : llvm::enumerate(report.rounds)) {
    os << (report.chosen == i ? "->" : "  ");
    number(round.modelled, 14);
    number(round.estimate, 11);
    number(round.measured, 19);
    number(round.heldBack, 14);
    os << llvm::format("%8lld", static_cast<long long>(round.narrowed)) << "  "
       << formatTime(round.picoseconds) << "\n";
  }
  if (report.chosen) {
    const BudgetRound &round = report.rounds[*report.chosen];
    os << round.narrowed << " of " << report.contractions << " contractions narrow keep "
       << llvm::format("%g", options.limit) << ": measured " << llvm::format("%.3g", round.measured)
       << ", held back " << llvm::format("%.3g", *round.heldBack) << ", estimated ";
    number(round.estimate, 0);
    os << "\n";
  } else {
    os << "nothing that was tried keeps " << llvm::format("%g", options.limit)
       << (report.rounds.empty() ? ": the model knows no program as exact\n"
                                 : " on all draws; more of them tell more (--draws)\n");
  }
}

llvm::json::Object mlir::mp::budgetToJSON(const BudgetReport &report,
                                          const BudgetOptions &options) {
  llvm::json::Array rounds;
  for (const BudgetRound &round : report.rounds)
    rounds.push_back(llvm::json::Object{{"modelled_limit", round.modelled},
                                        {"estimated", numberOrNull(round.estimate)},
                                        {"measured", numberOrNull(round.measured)},
                                        {"held_back", numberOrNull(round.heldBack)},
                                        {"narrowed", round.narrowed},
                                        {"picoseconds", round.picoseconds}});
  return llvm::json::Object{
      {"version", 1},
      {"tool", "mp-run --budget"},
      {"limit", options.limit},
      {"draws", report.draws},
      {"held_back_draws", report.heldBack},
      {"contractions", report.contractions},
      {"rounds", std::move(rounds)},
      {"chosen", report.chosen ? llvm::json::Value(int64_t(*report.chosen)) : nullptr}};
}
