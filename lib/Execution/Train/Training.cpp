// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop: switch if it is due, feed, run, judge, go back or go on, save.

#include "Training.h"

#include "llvm/Support/Format.h"

#include <chrono>
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::json::Object;

llvm::Error Training::start(llvm::raw_ostream &os) {
  state.strategy = strategyAt(0);
  auto version = versionOf(state.strategy);
  if (!version)
    return version.takeError();
  current = *version;
  auto arguments = current->makeArguments(config.inputs, batches);
  if (!arguments)
    return arguments.takeError();
  state.arguments = std::move(*arguments);
  watcher = watch::Watcher(current->rules);
  log(Object{{"kind", "start"}, {"strategy", state.strategy}, {"config", config.hash}});
  return save(os);
}

int64_t Training::skipLeftOut(int64_t position) const {
  for (auto [from, to] : state.skipped)
    if (position >= from && position < to)
      position = to;
  return position;
}

llvm::Expected<Training::MadeStep> Training::stepOn(Version &version, std::vector<Array> &arguments,
                                                    int64_t position, int64_t step,
                                                    llvm::raw_ostream &os) {
  if (llvm::Error error = version.loop->feed(arguments, batches, position))
    return std::move(error);
  const auto begin = std::chrono::steady_clock::now();
  auto results = compute(version, arguments, os);
  if (!results)
    return results.takeError();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  MadeStep made{version.reader->read(step, *results, step % 100 == 99), seconds,
                version.reader->metrics(*results)};
  version.loop->advance(arguments, *results);
  version.loop->tellMeasured(arguments, seconds);
  return made;
}

llvm::Expected<std::vector<watch::Alert>> Training::makeStep(llvm::raw_ostream &os) {
  state.position = skipLeftOut(state.position);
  auto made = stepOn(*current, state.arguments, state.position, state.step, os);
  if (!made)
    return made.takeError();
  const watch::StepReading &reading = made->reading;
  if (reading.loss) {
    if (!firstLoss)
      firstLoss = reading.loss;
    lastLoss = reading.loss;
  }
  std::vector<watch::Alert> alarms;
  for (const watch::Alert &alert : watcher.judge(reading)) {
    Object event = alert.toJSON();
    event["kind"] = "alert";
    log(std::move(event));
    if (alert.grade == watch::Grade::Alarm)
      alarms.push_back(alert);
  }
  logStep(*made);
  if (state.step == state.replayed && alarms.empty())
    tellFault("the alarm of step " + std::to_string(state.step) + " did not come again",
              "the training goes on with what was computed now", os);
  ++state.step;
  ++state.position;
  return alarms;
}

/// Opens the folder of states; returns the newest of this training, if there is one.
llvm::Expected<std::optional<SavedState>> Training::openFolder(llvm::raw_ostream &os) {
  if (config.folder.empty())
    return std::nullopt;
  auto opened = CheckpointFolder::open(config.folder);
  if (!opened)
    return opened.takeError();
  folder.emplace(std::move(*opened));
  std::vector<std::string> notes;
  auto isOurs = [&](const SavedState &one) {
    return one.extra.getString("config") == StringRef(config.hash);
  };
  auto found = folder->load(isOurs, notes);
  if (!found)
    return found.takeError();
  for (const std::string &note : notes)
    os << note << "\n";
  if (!*found && !folder->steps().empty())
    return createStringError("'" + config.folder +
                             "' has states, but none to go on from (the "
                             "lines above say why); name another folder");
  return std::move(*found);
}

/// Goes on from the saved state, or begins.
llvm::Error Training::begin(const std::optional<SavedState> &saved, llvm::raw_ostream &os) {
  if (!saved) {
    if (llvm::Error error = chooseStrategy(os))
      return error;
    return start(os);
  }
  if (llvm::Error error = resume(*saved))
    return error;
  os << "going on from step " << state.step << " in " << state.strategy << "\n";
  log(Object{{"kind", "resume"}, {"strategy", state.strategy}});
  return llvm::Error::success();
}

/// Tries what the schedule begins, saves what an alarm goes back to, and switches where the
/// schedule or an alarm says so.
llvm::Error Training::prepareStep(llvm::raw_ostream &os) {
  auto scheduled = newestScheduled(state.step);
  if (config.shadowSteps && scheduled && scheduled->second != state.strategy &&
      state.step >= state.wideUntil && !llvm::is_contained(state.shadowed, scheduled->second))
    if (llvm::Error error = tryInShadow(scheduled->second, os))
      return error;
  if (auto canary = canaryAt(state.step); canary && canary->first == state.step)
    if (llvm::Error error = save(os))
      return error;
  const std::string due = strategyAt(state.step);
  if (due == state.strategy)
    return llvm::Error::success();
  return switchTo(due, state.step < state.wideUntil ? "an alarm" : "the schedule");
}

/// Validates and saves where that is due.
llvm::Error Training::finishStep(llvm::raw_ostream &os) {
  if (config.validateEvery && state.step % config.validateEvery == 0)
    if (llvm::Error error = validate(os))
      return error;
  if (state.step % config.saveEvery == 0 || state.step == config.steps)
    return save(os);
  return llvm::Error::success();
}

/// Prints how far the training came, and what its state is.
void Training::printEnd(llvm::raw_ostream &os) {
  int64_t peak = 0;
  for (const auto &[name, version] : versions)
    peak = std::max(peak, version->program->peakBytes());
  log(Object{{"kind", "end"}, {"peak_bytes", peak}});
  os << "trained " << state.step << " steps, " << state.rollbacks << " rollbacks, ends in "
     << state.strategy;
  if (firstLoss)
    os << "; loss " << llvm::format("%.6g", *firstLoss) << " to "
       << llvm::format("%.6g", *lastLoss);
  if (validationLoss)
    os << ", held out " << llvm::format("%.6g", *validationLoss);
  std::vector<Array> own(state.arguments.begin(), state.arguments.begin() + current->own);
  for (const BatchedInput &batch : batches)
    own[batch.argument] = Array(own[batch.argument].type, {0});
  os << "\nstate: " << hashOfArrays(own) << "\n";
}

llvm::Expected<bool> Training::train(llvm::raw_ostream &os) {
  if (llvm::Error error = openLog())
    return std::move(error);
  auto saved = openFolder(os);
  if (!saved)
    return saved.takeError();
  if (llvm::Error error = begin(*saved, os))
    return std::move(error);
  while (state.step < config.steps) {
    if (llvm::Error error = prepareStep(os))
      return std::move(error);
    auto alarms = makeStep(os);
    if (!alarms)
      return alarms.takeError();
    if (!alarms->empty()) {
      auto goesOn = rollBack(alarms->front(), os);
      if (!goesOn || !*goesOn)
        return goesOn;
      continue;
    }
    if (llvm::Error error = finishStep(os))
      return std::move(error);
  }
  printEnd(os);
  if (llvm::Error error = lacksLastState())
    return std::move(error);
  if (logError)
    return support::cannotWrite(config.log, logError);
  return true;
}
