// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the strategy by which a training computes its steps, tells which one is due, and changes
// from one to the next.

#include "Training.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::json::Object;

/// Steps by which strategies are tried before one is chosen.
static constexpr int64_t kTrialSteps = 4;

llvm::Expected<Version *> Training::versionOf(StringRef name) {
  std::unique_ptr<Version> &version = versions[name.str()];
  if (!version) {
    auto created =
        Version::create(step, config.entry, *config.findStrategy(name), config.place, config.steps);
    if (!created)
      return created.takeError();
    version = std::move(*created);
    Object event = version->costs.toJSON();
    event["kind"] = "version";
    event["strategy"] = name;
    log(std::move(event));
  }
  return version.get();
}

llvm::Expected<std::pair<std::vector<double>, int64_t>> Training::tryOut(Version &version,
                                                                         llvm::raw_ostream &os) {
  std::vector<BatchedInput> batches;
  auto arguments = version.makeArguments(config.inputs, batches);
  if (!arguments)
    return arguments.takeError();
  int64_t bytes = 0;
  for (const Array &argument : *arguments)
    bytes += int64_t(argument.data.size());
  std::vector<double> losses;
  for (int64_t step = 0; step < kTrialSteps; ++step) {
    if (llvm::Error error = version.loop->feed(*arguments, batches, step))
      return std::move(error);
    auto results = compute(version, *arguments, os);
    if (!results)
      return results.takeError();
    auto metrics = version.reader->metrics(*results);
    losses.push_back(metrics.empty() ? 0 : metrics.front().second);
    version.loop->advance(*arguments, *results);
  }
  return std::pair(losses, bytes + version.program->peakBytes());
}

/// Measures how far the losses of the first steps are off those of the step as given.
static double largestLossError(ArrayRef<double> losses, ArrayRef<double> exact) {
  double error = 0;
  for (auto [loss, wide] : llvm::zip_equal(losses, exact))
    error =
        std::max(error, std::isfinite(loss) ? std::fabs(loss - wide) / std::fabs(wide) : INFINITY);
  return error;
}

/// Says which requirement is broken, with both numbers; empty if none is.
static std::string brokenBy(const TrainConfig &config, int64_t bytes, double error, double micro) {
  auto text = [](double number) {
    return llvm::formatv("{0}", llvm::format("%.3g", number)).str();
  };
  if (config.maxBytes && bytes > config.maxBytes)
    return llvm::formatv("{0} bytes, limit {1}", bytes, config.maxBytes);
  if (config.maxMicroseconds > 0 && micro > config.maxMicroseconds)
    return text(micro) + " us a step are modelled, limit " + text(config.maxMicroseconds);
  if (config.maxError > 0 && !(error <= config.maxError))
    return "losses are off by " + text(error) + ", limit " + text(config.maxError);
  return "";
}

llvm::Error Training::chooseStrategy(llvm::raw_ostream &os) {
  const bool takesFastest = config.strategy == "fastest";
  if (!config.chooses()) {
    chosen = config.strategy;
    return llvm::Error::success();
  }
  // Errors are measured against the step as given.
  auto reference = Version::create(step, config.entry, {"as given", ""}, config.place, kTrialSteps);
  if (!reference)
    return reference.takeError();
  auto exact = tryOut(**reference, os);
  if (!exact)
    return exact.takeError();
  double least = INFINITY;
  for (const Strategy &strategy : config.strategies) {
    auto version = versionOf(strategy.name);
    if (!version)
      return version.takeError();
    auto tried = tryOut(**version, os);
    if (!tried)
      return tried.takeError();
    const double error = largestLossError(tried->first, exact->first),
                 micro = (*version)->costs.time();
    const std::string broken = brokenBy(config, tried->second, error, micro);
    os << "strategy " << strategy.name << ": " << llvm::format("%.3g", micro)
       << " us a step (modelled, " << (*version)->costs.part << "), " << tried->second
       << " bytes, losses of " << kTrialSteps << " steps within " << llvm::format("%.3g", error)
       << " of the step as given" << (broken.empty() ? "" : "; refused: " + broken) << "\n";
    log(Object{{"kind", "strategy"},
               {"name", strategy.name},
               {"modelled_us", micro},
               {"bytes", tried->second},
               {"error", watch::numberOrNull(error)},
               {"refused", broken}});
    if (!broken.empty() || !(micro < least))
      continue;
    chosen = strategy.name;
    least = micro;
    if (!takesFastest)
      break;
  }
  if (least == INFINITY)
    return createStringError("no strategy keeps the requirements; the lines above say which broke "
                             "what");
  os << "chosen: " << chosen << ", the " << (takesFastest ? "fastest" : "first")
     << " that keeps the requirements\n";
  return llvm::Error::success();
}

std::string Training::strategyAt(int64_t at) const {
  if (at < state.wideUntil)
    return config.strategies.back().name;
  std::string name = chosen;
  for (const auto &[from, scheduled] : config.schedule)
    if (from <= at && !isQuarantined(scheduled) && config.canaryHas(at - from))
      name = scheduled;
  return name;
}

llvm::Expected<std::vector<Array>> Training::handOver(Version &to) {
  auto known = state.scales.find(to.name);
  return to.takeOver(state.arguments,
                     known == state.scales.end() ? std::nullopt : std::optional(known->second));
}

llvm::Error Training::switchTo(StringRef name, StringRef cause) {
  auto version = versionOf(name);
  if (!version)
    return version.takeError();
  if (auto scale = current->scaleOf(state.arguments))
    state.scales[state.strategy] = *scale;
  auto taken = handOver(**version);
  if (!taken)
    return taken.takeError();
  log(Object{{"kind", "switch"}, {"from", state.strategy}, {"to", name}, {"cause", cause}});
  state.arguments = std::move(*taken);
  state.strategy = name.str();
  current = *version;
  current->reader->setSkippedSoFar(0);
  // A canary has to be judged from its first step on.
  if (!canaryAt(state.step))
    watcher.noteChange(state.step);
  return llvm::Error::success();
}
