// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks contractions by the error of their results in one lockstep run, then searches.

#include "Bisect.h"
#include "mp/Support/ScratchFile.h"
#include "mp/Watch/Numbers.h"

#include "Lockstep.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Program.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

/// An op is wrong of itself if its error is so many times what it inherits.
static constexpr double kJump = 4;

llvm::Expected<KeepCriterion> KeepCriterion::parse(StringRef text) {
  KeepCriterion criterion;
  criterion.text = text.str();
  auto [name, detail] = text.split(':');
  if (text == "finite")
    return criterion;
  if (name == "error" && !detail.getAsDouble(criterion.limit) && criterion.limit > 0) {
    criterion.kind = Error;
    return criterion;
  }
  if (name == "script" && !detail.empty()) {
    criterion.kind = Script;
    criterion.command = detail.str();
    return criterion;
  }
  return createStringError("--keep=" + text +
                           ": expected finite, error:X with a positive limit, or script:COMMAND");
}

/// Runs the command on the converted program; status 0 is good.
static llvm::Expected<bool> askScript(const std::string &command, ModuleOp program) {
  auto file =
      support::ScratchFile::create("mp-trial", "mlir", [&](raw_ostream &os) { program.print(os); });
  if (!file)
    return file.takeError();
  auto found = llvm::sys::findProgramByName(command);
  if (!found)
    return createStringError("--keep=script:" + command + ": " + found.getError().message());
  std::string message;
  const int status =
      llvm::sys::ExecuteAndWait(*found, {command, file->path()}, std::nullopt, {}, 0, 0, &message);
  if (status < 0)
    return createStringError("--keep=script:" + command + ": " + message);
  return status == 0;
}

/// Asks whether the run with `wide` wide keeps the criterion; `error` is what one of error found.
static llvm::Expected<bool> holds(const Trials &trials, const KeepCriterion &criterion,
                                  ArrayRef<unsigned> wide, const TrialRun &reference,
                                  std::optional<double> &error) {
  auto program = trials.convertWith(wide);
  if (!program)
    return program.takeError();
  if (criterion.kind == KeepCriterion::Script)
    return askScript(criterion.command, **program);
  auto run = trials.run(**program);
  if (!run)
    return run.takeError();
  if (!run->isFinite)
    return false;
  if (criterion.kind == KeepCriterion::Finite)
    return true;
  error = 0;
  for (auto [results, exact] : llvm::zip_equal(run->results, reference.results)) {
    const double found = std::sqrt(meanSquareError(results, exact));
    error = std::max(*error, std::isnan(found) ? INFINITY : found);
  }
  return *error <= criterion.limit;
}

llvm::Expected<BisectReport> mlir::mp::bisect(const Trials &trials, StringRef entry,
                                              const KeepCriterion &criterion, size_t maxRuns) {
  auto reference = trials.runReference();
  if (!reference)
    return reference.takeError();
  auto narrow = trials.convertWith({});
  if (!narrow)
    return narrow.takeError();
  auto values = runInLockstep(trials, **narrow, trials.reference(), entry);
  if (!values)
    return values.takeError();
  BisectReport report;
  report.lockstep = std::move(*values);
  report.firstWrong = findFirstWrong(
      report.lockstep, kJump, criterion.kind == KeepCriterion::Error ? criterion.limit : 0.1);
  std::vector<double> suspicion(trials.contractions().size(), 0);
  for (const LockstepValue &value : report.lockstep)
    if (value.contraction)
      suspicion[*value.contraction] = value.isFinite ? value.error : INFINITY;
  auto ask = [&](ArrayRef<unsigned> wide) {
    std::optional<double> error;
    auto kept = holds(trials, criterion, wide, *reference, error);
    if (wide.size() == trials.contractions().size())
      report.errorWithAll = error;
    return kept;
  };
  auto search = watch::findSmallestSet(suspicion, ask, maxRuns);
  if (!search)
    return search.takeError();
  report.search = std::move(*search);
  auto policy = trials.policyWith(report.search.members);
  if (!policy)
    return policy.takeError();
  report.policy = std::move(*policy);
  return report;
}

static void printPlace(llvm::raw_ostream &os, const TrialContraction &place) {
  os << place.op << " at " << place.location;
  if (!place.name.empty() && place.name != place.location)
    os << " (" << place.name << ")";
}

void mlir::mp::printBisect(llvm::raw_ostream &os, const Trials &trials,
                           const KeepCriterion &criterion, const BisectReport &report) {
  const watch::SetSearch &search = report.search;
  if (report.firstWrong) {
    const LockstepValue &value = report.lockstep[*report.firstWrong];
    os << "first to go wrong: " << value.label << " at " << value.location << ": "
       << (value.isFinite ? "" : "not finite, ") << "error " << llvm::format("%.3g", value.error)
       << ", of what it reads " << llvm::format("%.3g", value.inherited) << "\n";
  }
  if (!search.holdsWithAll) {
    os << "--keep=" << criterion.text << " does not hold with all " << trials.contractions().size()
       << " contractions wide";
    if (report.errorWithAll)
      os << " (error " << llvm::format("%.3g", *report.errorWithAll) << ")";
    os << "; nothing was looked for\n";
    return;
  }
  os << search.members.size() << " of " << trials.contractions().size()
     << " contractions wide keep " << criterion.text << ", after " << search.runs << " runs"
     << (!search.isMinimal        ? "; runs have run out"
         : search.members.empty() ? ""
                                  : "; it fails without any one of them")
     << "\n";
  for (unsigned member : search.members) {
    os << "  ";
    printPlace(os, trials.contractions()[member]);
    os << "\n";
  }
  if (!search.failing.empty())
    os << "note: the criterion is not monotone: it holds with " << search.passing.size()
       << " wide and fails with these and " << search.failing.size() - search.passing.size()
       << " more; there may be smaller sets\n";
}

llvm::json::Object mlir::mp::bisectToJSON(const Trials &trials, const KeepCriterion &criterion,
                                          const BisectReport &report) {
  llvm::json::Array wide, lockstep;
  for (unsigned member : report.search.members) {
    const TrialContraction &place = trials.contractions()[member];
    wide.push_back(llvm::json::Object{{"function", llvm::json::fixUTF8(place.function)},
                                      {"contraction", place.ordinal},
                                      {"op", place.op},
                                      {"location", place.location},
                                      {"name", place.name}});
  }
  for (const LockstepValue &value : report.lockstep)
    lockstep.push_back(llvm::json::Object{{"value", value.label},
                                          {"location", value.location},
                                          {"error", watch::numberOrNull(value.error)},
                                          {"inherited", watch::numberOrNull(value.inherited)},
                                          {"finite", value.isFinite}});
  return llvm::json::Object{
      {"version", 1},
      {"tool", "mp-run --bisect"},
      {"keep", criterion.text},
      {"holds_with_all", report.search.holdsWithAll},
      {"wide", std::move(wide)},
      {"contractions", int64_t(trials.contractions().size())},
      {"runs", int64_t(report.search.runs)},
      {"minimal", report.search.isMinimal},
      {"monotone", report.search.failing.empty()},
      {"first_wrong", report.firstWrong ? llvm::json::Value(int64_t(*report.firstWrong)) : nullptr},
      {"lockstep", std::move(lockstep)}};
}
