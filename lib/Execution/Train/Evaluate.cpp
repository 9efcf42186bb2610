// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A log has a line an event; a step that was made again after a rollback counts as it was last.

#include "Evaluate.h"
#include "../Watch/LastTenth.h"

#include "mp/Support/Files.h"
#include "mp/Support/JSON.h"
#include "mp/Watch/Numbers.h"
#include "mp/Watch/Window.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;
using llvm::json::Object;
using mpcore::watch::shortNumber;

/// Above the loss of A's last tenth by so much, a run has reached it.
static constexpr double kReached = 1.02;
static constexpr size_t kReachedMean = 50, kBlock = 16;
/// Series hold a number for each step.
static constexpr int64_t kMostSteps = 100'000'000;

static void keep(std::vector<double> &series, size_t step, const llvm::json::Value *value) {
  series.resize(std::max(series.size(), step + 1), NAN);
  series[step] = value ? value->getAsNumber().value_or(NAN) : NAN;
}

void LoggedRun::readStep(const Object &event, size_t step) {
  keep(losses, step, event.get("loss"));
  keep(norms, step, event.get("gradient_norm"));
  if (const Object *further = event.getObject("metrics"))
    for (const auto &[name, value] : *further)
      keep(metrics[name.str()], step, &value);
  if (auto took = event.getNumber("seconds"))
    seconds.push_back(*took);
  const std::string strategy = event.getString("strategy").value_or("").str();
  ++computed[strategy];
  strategies.resize(losses.size());
  strategies[step] = strategy;
  const llvm::json::Array *rows = event.getArray("gradients");
  if (!rows)
    return;
  GradientRow &row = gradients.emplace_back();
  for (const llvm::json::Value &value : *rows)
    if (const Object *gradient = value.getAsObject()) {
      row.norms.push_back(gradient->getNumber("norm").value_or(NAN));
      row.zeros.push_back(gradient->getNumber("zeros").value_or(NAN));
    }
}

llvm::Expected<LoggedRun> LoggedRun::read(llvm::StringRef path) {
  auto buffer = mpcore::support::readFile(path, path);
  if (!buffer)
    return buffer.takeError();
  LoggedRun run;
  run.path = path.str();
  std::vector<bool> skips;
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (size_t number = 0; number < lines.size(); ++number) {
    auto value = mpcore::support::parseJSON(lines[number]);
    const Object *event = value ? value->getAsObject() : nullptr;
    auto kind = event ? event->getString("kind") : std::nullopt;
    auto step = event ? event->getInteger("step") : std::nullopt;
    if (!kind || !step || *step < 0) {
      if (!value)
        llvm::consumeError(value.takeError());
      return createStringError("'" + path + "': line " + llvm::Twine(number + 1) +
                               ": expected an event of mp-train's log, with 'kind' and 'step'");
    }
    if (*step > kMostSteps)
      return createStringError("'" + path + "': line " + llvm::Twine(number + 1) + ": step " +
                               llvm::Twine(*step) + ", expected at most " +
                               llvm::Twine(kMostSteps));
    if (*kind == "step") {
      run.readStep(*event, size_t(*step));
      skips.resize(run.losses.size());
      skips[size_t(*step)] = event->getBoolean("skipped").value_or(false);
    } else if (*kind == "version") {
      run.costs[event->getString("strategy").value_or("").str()] = StepCosts::fromJSON(*event);
    } else if (*kind == "rollback") {
      ++run.rollbacks;
    } else if (*kind == "canary") {
      ++run.canaries;
    } else if (*kind == "alert") {
      run.alarms += event->getString("grade") == llvm::StringRef("alarm");
    } else if (*kind == "validation") {
      run.validation = event->getNumber("loss");
      if (const Object *metrics = event->getObject("metrics"))
        for (const auto &[name, value] : *metrics)
          run.heldOut[name.str()] = value.getAsNumber().value_or(NAN);
    } else if (*kind == "end") {
      run.peakBytes = event->getInteger("peak_bytes");
    }
  }
  if (run.losses.empty())
    return createStringError("'" + path + "': expected the log of a training, found no step");
  run.skipped = llvm::count(skips, true);
  return run;
}

double LoggedRun::tailLoss() const { return meanOfLastTenth(losses); }

std::optional<double> LoggedRun::tailOf(llvm::StringRef metric) const {
  auto series = metrics.find(metric.str());
  return series == metrics.end() ? std::nullopt : std::optional(meanOfLastTenth(series->second));
}

double LoggedRun::fluctuation() const {
  double squares = 0;
  size_t count = 0;
  for (size_t from = 0; from + kBlock <= losses.size(); from += kBlock) {
    std::vector<double> logs;
    for (size_t i = from; i < from + kBlock; ++i)
      if (losses[i] > 0)
        logs.push_back(std::log(losses[i]));
    const double middle = watch::median(logs);
    for (double log : logs)
      squares += (log - middle) * (log - middle);
    count += logs.size();
  }
  return count ? std::sqrt(squares / double(count)) : NAN;
}

std::optional<int64_t> LoggedRun::stepsTo(double target) const {
  double sum = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    sum += losses[i] - (i >= kReachedMean ? losses[i - kReachedMean] : 0);
    if (i + 1 >= kReachedMean && sum / double(kReachedMean) <= target)
      return int64_t(i) + 1;
  }
  return std::nullopt;
}

std::optional<double>
LoggedRun::meanCost(llvm::function_ref<double(const StepCosts &)> cost) const {
  double sum = 0;
  for (const std::string &strategy : strategies) {
    auto known = costs.find(strategy);
    if (known == costs.end())
      return std::nullopt;
    sum += cost(known->second) / double(strategies.size());
  }
  return sum;
}

std::optional<double> LoggedRun::energy(const EnergyTable &table) const {
  double sum = 0;
  for (const auto &[strategy, steps] : computed) {
    auto known = costs.find(strategy);
    if (known == costs.end())
      return std::nullopt;
    sum += table.of(known->second) * double(steps);
  }
  return sum;
}

std::optional<double> LoggedRun::gradientSlope() const {
  std::vector<double> slopes;
  for (const GradientRow &row : gradients) {
    // Least squares over those that are not zero.
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (auto [depth, norm] : llvm::enumerate(row.norms))
      if (norm > 0 && std::isfinite(norm)) {
        const double at = double(depth), bits = std::log2(norm);
        n += 1, x += at, y += bits, xx += at * at, xy += at * bits;
      }
    if (n * xx > x * x)
      slopes.push_back((n * xy - x * y) / (n * xx - x * x));
  }
  return slopes.empty() ? std::nullopt : std::optional(watch::median(slopes));
}

std::optional<double> LoggedRun::zeroShare() const {
  std::vector<double> shares;
  for (const GradientRow &row : gradients)
    if (!row.zeros.empty())
      shares.push_back(*llvm::max_element(row.zeros));
  return shares.empty() ? std::nullopt : std::optional(watch::median(shares));
}

using RowFn =
    llvm::function_ref<void(llvm::StringRef, std::optional<double>, std::optional<double>)>;

/// The rows of speed, traffic and energy.
static void addCosts(RowFn row, const LoggedRun &a, const LoggedRun &b) {
  auto both = [&](llvm::StringRef name, llvm::function_ref<double(const StepCosts &)> cost) {
    row(name, a.meanCost(cost), b.meanCost(cost));
  };
  auto milliseconds = [](const LoggedRun &run) {
    return run.seconds.empty() ? std::nullopt : std::optional(1e3 * watch::median(run.seconds));
  };
  auto millijoules = [](const LoggedRun &run, const EnergyTable &table) {
    auto joules = run.energy(table);
    return joules ? std::optional(1e3 * *joules) : std::nullopt;
  };
  row("ms a step, measured, median", milliseconds(a), milliseconds(b));
  both("us a step, modelled", [](const StepCosts &costs) { return costs.time(); });
  both("  of kernels bound by launches", [](const StepCosts &costs) { return costs.launchTime; });
  both("  of those bound by memory", [](const StepCosts &costs) { return costs.memoryTime; });
  both("  of those bound by arithmetic",
       [](const StepCosts &costs) { return costs.arithmeticTime; });
  both("kernels a step, modelled", [](const StepCosts &costs) { return costs.kernels; });
  both("bytes moved a step, modelled", [](const StepCosts &costs) { return costs.bytes; });
  for (const EnergyTable &table : energyTables())
    row(("mJ of all steps, " + table.name + ", modelled").str(), millijoules(a, table),
        millijoules(b, table));
}

/// Tells what the modelled rows rest on.
static void printSources(llvm::raw_ostream &os, const LoggedRun &a, const LoggedRun &b) {
  if (a.costs.empty() || b.costs.empty())
    return;
  os << "times are modelled for:";
  for (const LoggedRun *run : {&a, &b}) {
    std::set<std::string> parts;
    for (const auto &[strategy, costs] : run->costs)
      parts.insert(costs.part);
    os << (run == &a ? " A " : ", B ") << llvm::join(parts, " and ");
  }
  os << "\n";
  for (const EnergyTable &table : energyTables())
    os << "energy, " << table.name << ": " << table.source << "\n";
  os << "  no table is of a GPU, and control, caches and idle time are left out: compare, do not "
        "add up\n";
}

/// The rows of what the step returns beside its loss, such as an accuracy.
static void addMetrics(RowFn row, const LoggedRun &a, const LoggedRun &b) {
  std::set<std::string> names, held;
  for (const LoggedRun *run : {&a, &b}) {
    for (const auto &[name, series] : run->metrics)
      names.insert(name);
    for (const auto &[name, mean] : run->heldOut)
      held.insert(name);
  }
  for (const std::string &name : names)
    row(name + ", mean of the last tenth", a.tailOf(name), b.tailOf(name));
  auto heldOut = [](const LoggedRun &run, const std::string &name) {
    auto found = run.heldOut.find(name);
    return found == run.heldOut.end() ? std::nullopt : std::optional(found->second);
  };
  for (const std::string &name : held)
    row("held-out " + name, heldOut(a, name), heldOut(b, name));
}

/// A row of the report: a figure of both runs, and their ratio where that means something.
static void addRow(llvm::raw_ostream &os, Object &json, llvm::StringRef name,
                   std::optional<double> a, std::optional<double> b) {
  auto cell = [](std::optional<double> x) { return x ? shortNumber(*x) : std::string("none"); };
  os << llvm::formatv("{0,-36} {1,12} {2,12}", name, cell(a), cell(b));
  if (a && b && *a > 0)
    os << llvm::formatv(" {0,8}", llvm::formatv("x {0}", llvm::format("%.3f", *b / *a)).str());
  os << "\n";
  json[name.str()] = llvm::json::Array{watch::numberOrNull(a), watch::numberOrNull(b)};
}

llvm::Expected<Object> mlir::mp::evaluateRuns(llvm::ArrayRef<llvm::StringRef> logs, double margin,
                                              llvm::raw_ostream &os) {
  if (logs.empty() || logs.size() % 2)
    return createStringError("--evaluate compares pairs: expected logs A B, or A1 B1 A2 B2 and so "
                             "on, found " +
                             llvm::Twine(logs.size()));
  std::vector<LoggedRun> runs;
  for (llvm::StringRef path : logs) {
    auto run = LoggedRun::read(path);
    if (!run)
      return run.takeError();
    runs.push_back(std::move(*run));
  }
  const LoggedRun &a = runs[0], &b = runs[1];
  Object json;
  os << llvm::formatv("{0,-36} {1,12} {2,12}\n", "", "A", "B");
  auto row = [&](llvm::StringRef name, std::optional<double> x, std::optional<double> y) {
    addRow(os, json, name, x, y);
  };
  auto optional = [](std::optional<int64_t> x) {
    return x ? std::optional<double>(double(*x)) : std::nullopt;
  };
  row("steps", a.losses.size(), b.losses.size());
  row("loss, mean of the last tenth", a.tailLoss(), b.tailLoss());
  row("steps to A's, within 2 %", optional(a.stepsTo(kReached * a.tailLoss())),
      optional(b.stepsTo(kReached * a.tailLoss())));
  row("held-out loss", a.validation, b.validation);
  addMetrics(row, a, b);
  row("fluctuation of the log loss", a.fluctuation(), b.fluctuation());
  row("gradient norm, median", watch::median(a.norms), watch::median(b.norms));
  row("steps skipped", a.skipped, b.skipped);
  row("alarms", a.alarms, b.alarms);
  row("rollbacks", a.rollbacks, b.rollbacks);
  row("canaries given up", a.canaries, b.canaries);
  row("bytes of buffers, at most", optional(a.peakBytes), optional(b.peakBytes));
  row("log2 of gradient norms, a parameter", a.gradientSlope(), b.gradientSlope());
  row("zeros in a gradient, at most", a.zeroShare(), b.zeroShare());
  addCosts(row, a, b);
  printSources(os, a, b);
  std::vector<double> lossesA, lossesB;
  double mean = 0;
  for (size_t i = 0; i < runs.size(); i += 2) {
    lossesA.push_back(runs[i].tailLoss());
    lossesB.push_back(runs[i + 1].tailLoss());
    mean += lossesA.back() / double(runs.size() / 2);
  }
  watch::PairedOptions options;
  options.margin = margin * std::fabs(mean);
  const watch::PairedResult result = watch::comparePairs(lossesA, lossesB, options);
  os << result.pairs << (result.pairs == 1 ? " pair: " : " pairs: ")
     << watch::toString(result.verdict);
  if (result.verdict == watch::Verdict::Identical)
    os << ", the losses of every pair are equal\n";
  else
    os << "; B's loss is off by " << shortNumber(result.mean) << ", "
       << watch::describeInterval(result, options) << ", margin " << shortNumber(options.margin)
       << "\n";
  json["paired"] = result.toJSON();
  return json;
}
