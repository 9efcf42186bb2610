// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks every rule about a step, and counts what they say by rule and place.

#include "mp/Watch/Alarms.h"
#include "mp/Watch/Numbers.h"

#include "ShiftRule.h"
#include "SkipRule.h"
#include "ValueRules.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mpcore;
using namespace mpcore::watch;

/// Steps between two alerts of one rule at one place.
static constexpr int64_t kSpacing = 50;
static constexpr size_t kMemorySamples = 64, kSecondsSamples = 128;
/// Between steps; within one the process holds more.
static constexpr double kNearLimit = 0.8;
static constexpr double kNinetyNinePercent = 2.576;

llvm::json::Object AlarmOptions::toJSON() const {
  return llvm::json::Object{{"warmup", warmup},
                            {"after_change", afterChange},
                            {"least_loss", leastLoss},
                            {"least_deviation", leastDeviation},
                            {"shift_z", shiftZ},
                            {"shift_ratio", shiftRatio},
                            {"spike_z", spikeZ},
                            {"skip_chance", skipChance},
                            {"scale_interval", scaleInterval},
                            {"scale_floor", scaleFloor},
                            {"flushed_share", flushedShare},
                            {"lost_norm", lostNorm},
                            {"vanished_bits", vanishedBits},
                            {"memory_limit", memoryLimit}};
}

llvm::json::Object Alert::toJSON() const {
  return llvm::json::Object{
      {"grade", toString(grade)},     {"rule", rule},     {"place", place},  {"step", step},
      {"value", numberOrNull(value)}, {"reason", reason}, {"advice", advice}};
}

struct Watcher::State {
  AlarmOptions options;
  ShiftRule loss, norm;
  SkipRule skips;
  std::map<std::string, ValueRules> values;
  Window bytes{kMemorySamples}, seconds{kSecondsSamples}, slow{8};
  int64_t changed = 0; ///< the step at which shifts are looked for again
  std::map<std::pair<std::string, std::string>, AlertCount> counts;

  void judgeFinite(const StepReading &reading, std::vector<Alert> &alerts);
  void judgeShifts(const StepReading &reading, std::vector<Alert> &alerts);
  void judgeSkips(const StepReading &reading, std::vector<Alert> &alerts);
  void judgeValues(const StepReading &reading, std::vector<Alert> &alerts);
  void judgeMachine(const StepReading &reading, std::vector<Alert> &alerts);
  bool count(const Alert &alert);
};

Watcher::Watcher(AlarmOptions options) : state(std::make_unique<State>()) {
  state->options = options;
  state->changed = options.warmup;
}
Watcher::~Watcher() = default;
Watcher::Watcher(Watcher &&) = default;
Watcher &Watcher::operator=(Watcher &&) = default;

const std::map<std::pair<std::string, std::string>, AlertCount> &Watcher::counts() const {
  return state->counts;
}
const AlarmOptions &Watcher::options() const { return state->options; }

void Watcher::noteChange(int64_t step) {
  state->changed = std::max(state->changed, step + state->options.afterChange);
}

void Watcher::State::judgeFinite(const StepReading &reading, std::vector<Alert> &alerts) {
  auto bad = [](std::optional<double> value) { return value && !std::isfinite(*value); };
  const std::string advice = adviceOf("non-finite", {"trace", "bisect"});
  if (!reading.skipped)
    for (auto [place, value] : {std::pair("loss", reading.loss), {"norm", reading.gradientNorm}})
      if (bad(value))
        alerts.push_back({Grade::Alarm, "non-finite", place, 0, *value,
                          "it is infinite or NaN in a step that was not skipped", advice});
  if (!reading.isStateFinite)
    alerts.push_back({Grade::Alarm, "non-finite", "state", 0, 0,
                      "an element of the state is infinite or NaN", advice});
}

void Watcher::State::judgeShifts(const StepReading &reading, std::vector<Alert> &alerts) {
  const bool isSettled = reading.step >= changed;
  const std::tuple<std::string, ShiftRule *, std::optional<double>> series[] = {
      {"loss", &loss, reading.loss}, {"gradient", &norm, reading.gradientNorm}};
  for (const auto &[name, rule, value] : series) {
    if (!value || !std::isfinite(*value) || reading.skipped)
      continue;
    const ShiftRule::Finding finding = rule->add(*value, isSettled, options);
    const std::string z =
        shortNumber(finding.z) + " deviations above the median of 128 steps before";
    if (finding.shifted)
      alerts.push_back({Grade::Alarm, name + "-shift", "", 0, *value,
                        shortNumber(*value) + " is " + z + ", 5 of the last 8 above " +
                            shortNumber(options.shiftZ) + ", and the median of 16 is " +
                            shortNumber(finding.ratio) + " times its least, limit " +
                            shortNumber(options.shiftRatio),
                        adviceOf(name + "-shift")});
    else if (finding.spiked)
      alerts.push_back({Grade::Note, name + "-spike", "", 0, *value,
                        shortNumber(*value) + " is " + z + ", limit " +
                            shortNumber(options.spikeZ) + ", and more than twice the median",
                        adviceOf(name + "-spike")});
  }
}

void Watcher::State::judgeSkips(const StepReading &reading, std::vector<Alert> &alerts) {
  skips.add(reading.skipped, reading.scale);
  if (auto excess = skips.findExcess(options))
    alerts.push_back({Grade::Alarm, "skips", "", 0, double(excess->first),
                      std::to_string(excess->first) + " of the last " +
                          std::to_string(excess->second) +
                          " steps were skipped; chance explains as many with probability below " +
                          shortNumber(options.skipChance),
                      adviceOf("skips")});
  if (skips.isAtFloor(options))
    alerts.push_back({Grade::Alarm, "scale-floor", "", 0, reading.scale.value_or(0),
                      "the loss scale is " + shortNumber(reading.scale.value_or(0)) + ", floor " +
                          shortNumber(options.scaleFloor) + ", and gradients still overflow",
                      adviceOf("scale-floor")});
}

void Watcher::State::judgeValues(const StepReading &reading, std::vector<Alert> &alerts) {
  if (reading.skipped) // what is probed explains the skip; it is no training
    return;
  double total = 0;
  for (const ValueReading &value : reading.values)
    if (value.isGradient && std::isfinite(value.norm))
      total += value.norm * value.norm;
  for (const ValueReading &value : reading.values)
    for (Alert &alert : values[value.name].add(value, std::sqrt(total), options))
      alerts.push_back(std::move(alert));
}

void Watcher::State::judgeMachine(const StepReading &reading, std::vector<Alert> &alerts) {
  if (reading.bytes && options.memoryLimit > 0) {
    bytes.add(*reading.bytes);
    if (bytes.full()) {
      const Slope slope = theilSen(bytes.list(), kNinetyNinePercent);
      const double soon = *reading.bytes + 1000 * slope.value;
      if (slope.low > 0 && soon > options.memoryLimit)
        alerts.push_back({Grade::Alarm, "memory", reading.growing, 0, *reading.bytes,
                          shortNumber(*reading.bytes) + " bytes grow by " +
                              shortNumber(slope.value) + " a step and pass " +
                              shortNumber(options.memoryLimit) + " within 1000 steps" +
                              (reading.growing.empty() ? "; no state has grown in this step" : ""),
                          adviceOf("memory")});
    }
    if (*reading.bytes > kNearLimit * options.memoryLimit)
      alerts.push_back({Grade::Note, "memory-near", "", 0, *reading.bytes,
                        shortNumber(*reading.bytes) + " bytes are more than 80 % of the " +
                            shortNumber(options.memoryLimit) + " that there are",
                        adviceOf("memory-near")});
  }
  if (reading.seconds) {
    const bool isSlow = seconds.full() && *reading.seconds > 3 * seconds.median();
    slow.add(isSlow);
    seconds.add(*reading.seconds);
    if (slow.countAbove(0.5) >= 5)
      alerts.push_back({Grade::Note, "stall", "", 0, *reading.seconds,
                        shortNumber(*reading.seconds) +
                            " seconds are more than three times the median "
                            "of 128 steps, 5 of the last 8",
                        adviceOf("stall")});
  }
}

/// True if the alert is to be told; counts it in any case.
bool Watcher::State::count(const Alert &alert) {
  auto [it, isNew] = counts.try_emplace({alert.rule, alert.place});
  AlertCount &counted = it->second;
  if (isNew)
    counted = {alert, alert.step, 1, alert.value};
  const bool tells = isNew || alert.step - counted.last >= kSpacing;
  if (!isNew) {
    ++counted.count;
    counted.worst = std::fmax(counted.worst, alert.value);
  }
  if (tells)
    counted.last = alert.step;
  return tells;
}

std::vector<Alert> Watcher::judge(const StepReading &reading) {
  std::vector<Alert> alerts, told;
  state->judgeFinite(reading, alerts);
  state->judgeShifts(reading, alerts);
  state->judgeSkips(reading, alerts);
  state->judgeValues(reading, alerts);
  state->judgeMachine(reading, alerts);
  for (Alert &alert : alerts) {
    alert.step = reading.step;
    if (state->count(alert))
      told.push_back(std::move(alert));
  }
  return told;
}

llvm::json::Value Watcher::toJSON() const {
  llvm::json::Object values;
  for (const auto &[name, rules] : state->values)
    values[name] = rules.toJSON();
  llvm::json::Array counts;
  for (const auto &[key, count] : state->counts) {
    llvm::json::Object object = count.first.toJSON();
    object["last"] = count.last;
    object["count"] = count.count;
    object["worst"] = numberOrNull(count.worst);
    counts.push_back(std::move(object));
  }
  return llvm::json::Object{{"counts", std::move(counts)},        {"loss", state->loss.toJSON()},
                            {"norm", state->norm.toJSON()},       {"skips", state->skips.toJSON()},
                            {"values", std::move(values)},        {"bytes", state->bytes.toJSON()},
                            {"seconds", state->seconds.toJSON()}, {"changed", state->changed},
                            {"options", state->options.toJSON()}};
}

static Alert alertFrom(const llvm::json::Object &object) {
  auto text = [&](const char *key) { return object.getString(key).value_or("").str(); };
  return {text("grade") == "note" ? Grade::Note : Grade::Alarm,
          text("rule"),
          text("place"),
          object.getInteger("step").value_or(0),
          object.getNumber("value").value_or(NAN),
          text("reason"),
          text("advice")};
}

llvm::Error Watcher::fromJSON(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  for (const char *key : {"loss", "norm", "skips", "values"})
    if (!object || !object->getObject(key))
      return llvm::createStringError("the state of the watcher: expected an object '" +
                                     llvm::Twine(key) + "', found none");
  state->loss.fromJSON(*object->getObject("loss"));
  state->norm.fromJSON(*object->getObject("norm"));
  state->skips.fromJSON(*object->getObject("skips"));
  for (const auto &[name, rules] : *object->getObject("values"))
    if (auto *inner = rules.getAsObject())
      state->values[name.str()].fromJSON(*inner);
  if (auto *array = object->getArray("bytes"))
    state->bytes.fromJSON(*array);
  if (auto *array = object->getArray("seconds"))
    state->seconds.fromJSON(*array);
  if (auto *array = object->getArray("counts"))
    for (const llvm::json::Value &entry : *array)
      if (auto *count = entry.getAsObject()) {
        const Alert first = alertFrom(*count);
        state->counts[{first.rule, first.place}] = {first, count->getInteger("last").value_or(0),
                                                    count->getInteger("count").value_or(1),
                                                    count->getNumber("worst").value_or(NAN)};
      }
  state->changed = object->getInteger("changed").value_or(state->changed);
  return llvm::Error::success();
}
