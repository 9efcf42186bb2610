// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what was read and what the rules said of it.

#include "Monitor.h"
#include "StepCosts.h"

#include "mp/Support/Files.h"
#include "mp/Support/Memory.h"
#include "mp/Watch/Numbers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using mpcore::watch::shortNumber;
using JSONValue = llvm::json::Value;

/// Steps between two looks at all elements of the state, and seconds between two pages.
static constexpr int64_t kStateEvery = 100;
static constexpr double kPageSeconds = 2;
/// Losses that a trend is taken of: its cost is their square.
static constexpr size_t kTrendSamples = 200;

Monitor::Monitor(func::FuncOp step, const Signature &signature, size_t results,
                 MonitorOptions options, watch::AlarmOptions rules)
    : options(std::move(options)), reader(step, signature, results), watcher(rules) {}

llvm::Expected<std::unique_ptr<Monitor>> Monitor::open(func::FuncOp step,
                                                       const Signature &signature, size_t results,
                                                       MonitorOptions options) {
  watch::AlarmOptions rules;
  StepReader::readScaleRule(step, rules);
  rules.memoryLimit = double(support::residentMemory()) + double(support::availableMemory());
  std::unique_ptr<Monitor> monitor(
      new Monitor(step, signature, results, std::move(options), rules));
  std::error_code error;
  monitor->log =
      std::make_unique<llvm::raw_fd_ostream>(monitor->options.path, error, llvm::sys::fs::OF_Text);
  if (error)
    return support::cannotWrite(monitor->options.path, error);
  llvm::json::Array stored;
  for (const StoredShare &share : monitor->reader.stored())
    stored.push_back(llvm::json::Object{{"role", share.role},
                                        {"type", share.type},
                                        {"elements", int64_t(share.elements)},
                                        {"bytes", int64_t(share.bytes)}});
  // Bytes are the same for every target.
  auto costs = countStepCosts(step->getParentOfType<ModuleOp>(), "sm_80");
  if (!costs)
    return costs.takeError();
  monitor->traffic = costs->traffic;
  *monitor->log << JSONValue(llvm::json::Object{{"kind", "start"},
                                                {"version", 1},
                                                {"program", monitor->options.label},
                                                {"stored", std::move(stored)},
                                                {"traffic", numbersToJSON(monitor->traffic)},
                                                {"rules", rules.toJSON()}})
                << "\n";
  return monitor;
}

void Monitor::keepCurves(const watch::StepReading &reading) {
  auto keep = [&](const std::string &name, double value) {
    JSONValue &curve = curves.try_emplace(name, llvm::json::Array()).first->second;
    // Values that are not probed in every step leave gaps.
    llvm::json::Array &list = *curve.getAsArray();
    while (int64_t(list.size()) < steps)
      list.push_back(nullptr);
    list.push_back(watch::numberOrNull(value));
  };
  if (reading.loss)
    keep("loss", *reading.loss);
  if (reading.gradientNorm)
    keep("gradient norm", *reading.gradientNorm);
  if (reading.scale)
    keep("loss scale", *reading.scale);
  for (const watch::ValueReading &value : reading.values) {
    keep("norm of " + value.name, value.norm);
    for (const watch::FormatShares &shares : value.formats)
      if (shares.inUse)
        keep("flushed of " + value.name + ", " + shares.format, shares.flushed);
  }
}

llvm::Error Monitor::add(int64_t step, ArrayRef<Array> results, double took) {
  watch::StepReading reading = reader.read(step, results, step % kStateEvery == kStateEvery - 1);
  reading.seconds = took;
  reading.bytes = double(support::residentMemory());
  seconds += took;
  skips += reading.skipped;
  flow.add(reading, [&](StringRef parameter) { return reader.placeOf(parameter); });
  if (reading.loss)
    losses.push_back(*reading.loss);
  if (!options.page.empty())
    keepCurves(reading);
  ++steps;
  llvm::json::Array told;
  for (const watch::Alert &alert : watcher.judge(reading)) {
    llvm::errs() << "mp-run: " << watch::toString(alert.grade) << ": step " << step << ", "
                 << alert.rule << (alert.place.empty() ? "" : " of " + alert.place) << ": "
                 << alert.reason << "; try: " << alert.advice << "\n";
    told.push_back(alert.toJSON());
    alerts.push_back(alert);
  }
  llvm::json::Object metrics;
  for (const auto &[name, value] : reader.metrics(results))
    metrics[name] = watch::numberOrNull(value);
  llvm::json::Object line{{"kind", "step"},
                          {"step", step},
                          {"metrics", std::move(metrics)},
                          {"skipped", reading.skipped},
                          {"seconds", took},
                          {"resident_bytes", *reading.bytes},
                          {"values", reader.recordsToJSON(results)},
                          {"alerts", std::move(told)}};
  for (auto [key, value] : {std::pair("loss", reading.loss),
                            {"gradient_norm", reading.gradientNorm},
                            {"loss_scale", reading.scale}})
    if (value)
      line[key] = watch::numberOrNull(*value);
  *log << JSONValue(std::move(line)) << "\n";
  log->flush();
  if (log->has_error()) {
    std::error_code code = log->error();
    log->clear_error();
    return support::cannotWrite(options.path, code);
  }
  const auto now = std::chrono::steady_clock::now();
  if (options.page.empty() || std::chrono::duration<double>(now - lastPage).count() < kPageSeconds)
    return llvm::Error::success();
  lastPage = now;
  return writePage(/*isRunning=*/true);
}

llvm::Error Monitor::writePage(bool isRunning) {
  WatchedRun watched{isRunning, steps, alerts, {}};
  for (const StoredShare &share : reader.stored())
    watched.figures.push_back(
        {share.role + " in " + share.type,
         std::to_string(share.elements) + " elements, " + std::to_string(share.bytes) + " bytes"});
  if (!isRunning)
    llvm::append_range(watched.figures, flow.rows());
  const std::string page = trainingPage({{options.label, &curves, seconds, peakBytes}}, &watched);
  // In one piece, by renaming: whoever looks meanwhile sees the page before or this one.
  return llvm::writeToOutput(options.page, [&](llvm::raw_ostream &os) {
    os << page;
    return llvm::Error::success();
  });
}

llvm::json::Array Monitor::countsToJSON() const {
  llvm::json::Array list;
  for (const auto &[key, count] : watcher.counts()) {
    llvm::json::Object object = count.first.toJSON();
    object["last_told"] = count.last;
    object["count"] = count.count;
    object["worst"] = watch::numberOrNull(count.worst);
    list.push_back(std::move(object));
  }
  return list;
}

unsigned Monitor::alarms() const {
  return llvm::count_if(watcher.counts(), [](const auto &entry) {
    return entry.second.first.grade == watch::Grade::Alarm;
  });
}

/// Prints what share of the bytes that kernels move is of which format.
static void printTraffic(llvm::raw_ostream &os, const std::map<std::string, double> &traffic) {
  double all = 0;
  for (const auto &[format, bytes] : traffic)
    all += bytes;
  if (all == 0)
    return;
  os << "kernels move " << shortNumber(all * 1e-6) << " MB a step, modelled:";
  StringRef separator = " ";
  for (const auto &[format, bytes] : traffic) {
    os << separator << shortNumber(100 * bytes / all) << " % " << format;
    separator = ", ";
  }
  os << "\n";
}

llvm::Error Monitor::finish(llvm::raw_ostream &os, int64_t peak) {
  peakBytes = peak;
  std::vector<double> sampled;
  const size_t stride = std::max<size_t>(1, losses.size() / kTrendSamples);
  for (size_t i = 0; i < losses.size(); i += stride)
    if (std::isfinite(losses[i]))
      sampled.push_back(losses[i]);
  os << "watched " << steps << " steps, " << skips << " skipped";
  llvm::json::Object summary{{"kind", "summary"},  {"steps", steps},
                             {"skipped", skips},   {"seconds", seconds},
                             {"peak_bytes", peak}, {"alerts", countsToJSON()}};
  if (sampled.size() >= 3) {
    const watch::Slope slope = watch::theilSen(sampled, 1.96);
    const double perThousand = 1000.0 / double(stride);
    os << "; loss " << shortNumber(losses.front()) << " to " << shortNumber(losses.back())
       << ", slope " << shortNumber(slope.value * perThousand)
       << " per 1000 steps (95 %: " << shortNumber(slope.low * perThousand) << " to "
       << shortNumber(slope.high * perThousand) << ")";
    summary["loss"] =
        llvm::json::Array{watch::numberOrNull(losses.front()), watch::numberOrNull(losses.back())};
    summary["slope_per_1000"] = llvm::json::Array{
        slope.low * perThousand, slope.value * perThousand, slope.high * perThousand};
  }
  os << "\n";
  for (const auto &[key, count] : watcher.counts())
    os << (count.first.grade == watch::Grade::Alarm ? "alarm " : "note ") << key.first
       << (key.second.empty() ? "" : " of " + key.second) << ": " << count.count
       << (count.count == 1 ? " time" : " times") << " from step " << count.first.step << ", worst "
       << shortNumber(count.worst) << "; try: " << count.first.advice << "\n";
  if (watcher.counts().empty())
    os << "no notes and no alarms\n";
  printTraffic(os, traffic);
  for (const auto &[name, figures] : flow.rows())
    os << name << ": " << figures << "\n";
  summary["gradient_flow"] = flow.toJSON();
  *log << JSONValue(std::move(summary)) << "\n";
  log->close();
  if (log->has_error()) {
    std::error_code code = log->error();
    log->clear_error();
    return support::cannotWrite(options.path, code);
  }
  return options.page.empty() ? llvm::Error::success() : writePage(/*isRunning=*/false);
}
