// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A training as it is saved, and as it goes on from what was saved.

#include "Training.h"

#include "mp/Support/ErrorCode.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::json::Object;

SavedState Training::pack() const {
  SavedState saved;
  saved.step = state.step;
  saved.arguments = state.arguments;
  for (const BatchedInput &batch : batches)
    saved.arguments[batch.argument] = Array(saved.arguments[batch.argument].type, {0});
  Object scales;
  for (const auto &[name, scale] : state.scales)
    scales[name] = scale;
  llvm::json::Array skipped;
  for (auto [from, to] : state.skipped)
    skipped.push_back(llvm::json::Array{from, to});
  saved.extra = Object{{"config", config.hash},
                       {"chosen", chosen},
                       {"strategy", state.strategy},
                       {"position", state.position},
                       {"scales", std::move(scales)},
                       {"skipped", std::move(skipped)},
                       {"wide_until", state.wideUntil},
                       {"rollbacks", state.rollbacks},
                       {"last_alarm", state.lastAlarm},
                       {"replayed", state.replayed},
                       {"quarantined", llvm::json::Array(state.quarantined)},
                       {"shadowed", llvm::json::Array(state.shadowed)},
                       {"skipped_steps", current->reader->skippedSoFar()},
                       {"watcher", watcher.toJSON()}};
  return saved;
}

static std::vector<std::string> namesIn(const Object &extra, StringRef key) {
  std::vector<std::string> names;
  if (const llvm::json::Array *list = extra.getArray(key))
    for (const llvm::json::Value &name : *list)
      names.push_back(name.getAsString().value_or("").str());
  return names;
}

llvm::Error Training::resume(const SavedState &saved) {
  const Object &extra = saved.extra;
  chosen = extra.getString("chosen").value_or("").str();
  state = State();
  state.step = saved.step;
  state.strategy = extra.getString("strategy").value_or("").str();
  if (!config.findStrategy(chosen) || !config.findStrategy(state.strategy))
    return createStringError("the state of step " + Twine(saved.step) +
                             " is of a strategy that there is not");
  state.position = extra.getInteger("position").value_or(0);
  state.wideUntil = extra.getInteger("wide_until").value_or(0);
  state.rollbacks = extra.getInteger("rollbacks").value_or(0);
  state.lastAlarm = extra.getInteger("last_alarm").value_or(-1);
  state.replayed = extra.getInteger("replayed").value_or(-1);
  if (const Object *scales = extra.getObject("scales"))
    for (const auto &[name, scale] : *scales)
      state.scales[name.str()] = scale.getAsNumber().value_or(1);
  if (const llvm::json::Array *skipped = extra.getArray("skipped"))
    for (const llvm::json::Value &range : *skipped)
      if (const llvm::json::Array *pair = range.getAsArray(); pair && pair->size() == 2)
        state.skipped.push_back(
            {(*pair)[0].getAsInteger().value_or(0), (*pair)[1].getAsInteger().value_or(0)});
  state.quarantined = namesIn(extra, "quarantined");
  state.shadowed = namesIn(extra, "shadowed");
  auto version = versionOf(state.strategy);
  if (!version)
    return version.takeError();
  current = *version;
  batches.clear();
  auto fresh = current->makeArguments(config.inputs, batches);
  if (!fresh)
    return fresh.takeError();
  if (fresh->size() != saved.arguments.size())
    return createStringError("the state of step " + Twine(saved.step) + " has " +
                             Twine(saved.arguments.size()) + " arrays, expected " +
                             Twine(fresh->size()));
  state.arguments = saved.arguments;
  for (const BatchedInput &batch : batches)
    state.arguments[batch.argument] = (*fresh)[batch.argument];
  current->reader->setSkippedSoFar(extra.getNumber("skipped_steps").value_or(0));
  watcher = watch::Watcher(current->rules);
  if (const llvm::json::Value *watched = extra.get("watcher"))
    return watcher.fromJSON(*watched);
  return llvm::Error::success();
}

llvm::Error Training::save(llvm::raw_ostream &os) {
  if (!folder)
    return llvm::Error::success();
  const SavedState packed = pack();
  llvm::Error error = folder->save(packed);
  if (error) {
    // A full disk: room is made once, then the training goes on without this state.
    folder->makeRoom();
    const std::string first = llvm::toString(std::move(error));
    if (llvm::Error again = folder->save(packed)) {
      const std::string reason = llvm::toString(std::move(again));
      llvm::errs() << "mp-train: alarm: step " << state.step
                   << ", the state was not saved: " << reason
                   << "; the training goes on, make room\n";
      log(Object{{"kind", "not-saved"}, {"reason", reason}});
      unsaved = reason;
      return llvm::Error::success();
    }
    log(Object{{"kind", "made-room"}, {"reason", first}});
  }
  unsaved.clear();
  log(Object{{"kind", "saved"}});
  // A rollback may need the newest that has been good for long enough, the first, and the one
  // before a canary.
  std::vector<int64_t> kept{0};
  if (auto canary = canaryAt(state.step))
    kept.push_back(canary->first);
  const std::vector<int64_t> all = folder->steps();
  for (int64_t at : llvm::reverse(all))
    if (at + config.goodAfter <= state.step) {
      kept.push_back(at);
      break;
    }
  folder->retain(size_t(config.keep), kept);
  return llvm::Error::success();
}

/// An error where the state that a training ends in found no room: whoever asked for states has not
/// got the one that counts.
llvm::Error Training::lacksLastState() const {
  if (unsaved.empty())
    return llvm::Error::success();
  const std::vector<int64_t> saved = folder->steps();
  const std::string newest = saved.empty() ? "none" : ("that of step " + Twine(saved.back())).str();
  return support::error(support::ErrorCode::CannotWrite,
                        "the state of step " + Twine(state.step) +
                            ", the last, was not saved: " + unsaved + "; expected room in '" +
                            config.folder + "', whose newest state is " + newest +
                            ": make room and run the same command, which goes on from there");
}
