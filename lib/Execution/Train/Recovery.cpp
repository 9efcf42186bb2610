// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strategy that the schedule begins gets a share of the steps first; at an alarm the training
// goes back to the state before it, and never takes it again.

#include "Training.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::json::Object;

bool Training::isQuarantined(StringRef name) const {
  return llvm::is_contained(state.quarantined, name);
}

std::optional<std::pair<int64_t, std::string>> Training::newestScheduled(int64_t at) const {
  std::optional<std::pair<int64_t, std::string>> newest;
  for (const auto &[from, name] : config.schedule)
    if (from <= at && !isQuarantined(name))
      newest = {from, name};
  return newest;
}

std::optional<std::pair<int64_t, std::string>> Training::canaryAt(int64_t at) const {
  auto newest = newestScheduled(at);
  if (!newest || config.canaryShares.empty() || at < state.wideUntil ||
      at >= newest->first + config.canarySteps() + config.goodAfter)
    return std::nullopt;
  return newest;
}

llvm::Error Training::goBack(llvm::function_ref<bool(const SavedState &)> accepts) {
  std::vector<std::string> notes;
  auto isGood = [&](const SavedState &saved) {
    return saved.extra.getString("config") == StringRef(config.hash) && accepts(saved);
  };
  auto good = folder->load(isGood, notes);
  if (!good)
    return good.takeError();
  if (!*good)
    return createStringError("no state to go back to: " + llvm::join(notes, "; "));
  return resume(**good);
}

llvm::Error Training::quarantine(int64_t from, StringRef name, StringRef cause,
                                 llvm::raw_ostream &os) {
  const int64_t rollbacks = state.rollbacks;
  if (llvm::Error error = goBack([&](const SavedState &saved) { return saved.step <= from; }))
    return error;
  state.rollbacks = rollbacks;
  state.quarantined.push_back(name.str());
  os << "canary " << name << " is given up: " << cause << "; back to step " << state.step
     << ", and on without it\n";
  log(Object{{"kind", "canary"}, {"strategy", name}, {"cause", cause}, {"to", state.step}});
  folder->removeAfter(state.step);
  return save(os);
}

/// Goes back to the newest state that had been good for long enough, and leaves out the batches
/// before the alarm; from the second time on it widens, too. False where the budget is used up.
llvm::Expected<bool> Training::rollBack(const watch::Alert &alert, llvm::raw_ostream &os) {
  if (auto replayed = replay(alert, os); !replayed || *replayed)
    return replayed;
  const int64_t rollbacks = state.rollbacks + 1, sick = alert.step, sickPosition = state.position;
  std::string cause = alert.rule + (alert.place.empty() ? "" : " of " + alert.place) + " at step " +
                      std::to_string(sick) + ": " + alert.reason;
  if (auto canary = canaryAt(sick)) {
    if (llvm::Error error = quarantine(canary->first, canary->second, cause, os))
      return std::move(error);
    return true;
  }
  if (!folder || rollbacks > config.maxRollbacks) {
    os << "given up: " << cause << "; "
       << (folder ? std::to_string(config.maxRollbacks) + " rollbacks are used up"
                  : "no states are kept to go back to")
       << "; try: " << alert.advice << "\n";
    log(Object{{"kind", "given-up"}, {"cause", cause}});
    return false;
  }
  auto isGood = [&](const SavedState &saved) {
    return saved.step == 0 || saved.step + config.goodAfter <= sick;
  };
  if (llvm::Error error = goBack(isGood))
    return std::move(error);
  state.rollbacks = rollbacks;
  state.lastAlarm = sick;
  state.skipped.push_back(
      {std::max(state.position, sickPosition - config.skipBefore), sickPosition});
  if (rollbacks > 1)
    state.wideUntil = state.step + config.wideFor;
  watcher.noteChange(state.step);
  os << "rollback " << rollbacks << ": " << cause << "; back to step " << state.step << ", batches "
     << state.skipped.back().first << " to " << state.skipped.back().second - 1 << " left out"
     << (rollbacks > 1 ? ", " + config.strategies.back().name + " until step " +
                             std::to_string(state.wideUntil)
                       : "")
     << "\n";
  log(Object{
      {"kind", "rollback"},
      {"cause", cause},
      {"to", state.step},
      {"left_out", llvm::json::Array{state.skipped.back().first, state.skipped.back().second}},
      {"wide_until", state.wideUntil}});
  // Younger states are sick, and a kill from here on must come back to here.
  folder->removeAfter(state.step);
  if (llvm::Error error = save(os))
    return std::move(error);
  return true;
}
