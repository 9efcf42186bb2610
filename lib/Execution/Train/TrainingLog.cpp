// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what happens in a training to its log, a line of JSON an event.

#include "Training.h"

#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::json::Object;

llvm::Error Training::openLog() {
  if (config.log.empty())
    return llvm::Error::success();
  if (llvm::Error taken = logName.claim(config.log, "'log' " + config.log))
    return taken;
  std::error_code error;
  events =
      std::make_unique<llvm::raw_fd_ostream>(config.log, error, llvm::sys::fs::CD_OpenAlways,
                                             llvm::sys::fs::FA_Write, llvm::sys::fs::OF_Append);
  return error ? support::cannotWrite(config.log, error) : llvm::Error::success();
}

void Training::log(Object event) {
  if (!events)
    return;
  event["step"] = state.step;
  *events << llvm::json::Value(std::move(event)) << "\n";
  events->flush();
  if (!events->has_error())
    return;
  if (!logError)
    llvm::errs() << "mp-train: warning: '" << config.log << "' lacks events from step "
                 << state.step << " on: " << events->error().message() << "\n";
  logError = events->error();
  events->clear_error();
}

/// The scalars beside the loss.
static Object furtherMetrics(ArrayRef<std::pair<std::string, double>> metrics) {
  Object object;
  for (const auto &[name, value] : metrics.drop_front(std::min<size_t>(1, metrics.size())))
    object[name] = watch::numberOrNull(value);
  return object;
}

/// Gradients one by one are told in every hundredth step, in the order of parameters.
void Training::logStep(const MadeStep &made) {
  const watch::StepReading &reading = made.reading;
  Object event{{"kind", "step"},
               {"loss", watch::numberOrNull(reading.loss)},
               {"gradient_norm", watch::numberOrNull(reading.gradientNorm)},
               {"loss_scale", watch::numberOrNull(reading.scale)},
               {"skipped", reading.skipped},
               {"position", state.position},
               {"seconds", made.seconds},
               {"strategy", state.strategy}};
  if (made.metrics.size() > 1)
    event["metrics"] = furtherMetrics(made.metrics);
  if (state.step % 100 == 99) {
    std::vector<const watch::ValueReading *> values;
    for (const watch::ValueReading &value : reading.values)
      if (value.isGradient)
        values.push_back(&value);
    llvm::stable_sort(values, [&](auto *one, auto *other) {
      return current->reader->placeOf(one->name) < current->reader->placeOf(other->name);
    });
    llvm::json::Array gradients;
    for (const watch::ValueReading *value : values)
      gradients.push_back(Object{{"name", value->name},
                                 {"norm", watch::numberOrNull(value->norm)},
                                 {"zeros", value->zeroShare}});
    event["gradients"] = std::move(gradients);
  }
  log(std::move(event));
}

llvm::Error Training::validate(llvm::raw_ostream &os) {
  InputOptions inputs = config.inputs;
  inputs.inputs = config.validationInputs;
  std::vector<BatchedInput> held;
  auto fresh = current->makeArguments(inputs, held);
  if (!fresh)
    return fresh.takeError();
  Metrics means; // of the batches
  for (int64_t batch = 0; batch < config.validationBatches; ++batch) {
    std::vector<Array> arguments = state.arguments;
    if (llvm::Error error = current->loop->feed(arguments, held, batch))
      return error;
    auto results = compute(*current, arguments, os);
    if (!results)
      return results.takeError();
    Metrics metrics = current->reader->metrics(*results);
    means.resize(metrics.size());
    for (auto [mean, metric] : llvm::zip_equal(means, metrics))
      mean = {metric.first, mean.second + metric.second};
  }
  for (auto &[name, value] : means)
    value /= double(config.validationBatches);
  validationLoss = means.empty() ? 0 : means.front().second;
  log(Object{{"kind", "validation"},
             {"loss", watch::numberOrNull(*validationLoss)},
             {"metrics", furtherMetrics(means)}});
  return llvm::Error::success();
}
