// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judges a training step by step: what is read of a step goes in, notes and alarms come out, each
// with the rule, the numbers and what could be done. docs/guides/WatchTraining.md has the rules
// and the rates of false alarms that they were simulated to have.

#ifndef MP_WATCH_ALARMS_H
#define MP_WATCH_ALARMS_H

#include "mp/Watch/Rules.h"
#include "mp/Watch/Window.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mpcore::watch {

/// Holds what a probe counted of one value in a format, as shares: overflow of finite elements,
/// flushed of those that are not zero.
struct FormatShares {
  std::string format;
  double overflow = 0, flushed = 0;
  double lost = 1;       ///< of the norm, by the flushed elements, at most
  bool inUse = false;    ///< the program stores values in it; else a question, never an alarm
  bool isScaled = false; ///< overflow is expected: values are scaled, or casts saturate
};

/// A gradient, or another probed value.
struct ValueReading {
  std::string name;
  bool isGradient = true;
  double norm = 0;      ///< of the finite elements, the loss scale taken out
  double zeroShare = 0; ///< of the finite elements
  double nonFinite = 0; ///< elements
  std::vector<FormatShares> formats;
};

/// One step as it was read.
struct StepReading {
  int64_t step = 0;
  std::optional<double> loss, gradientNorm, scale;
  bool skipped = false;
  bool isStateFinite = true;
  std::vector<ValueReading> values;
  std::optional<double> bytes;   ///< resident on the host
  std::string growing;           ///< state whose size has grown since the step before, if any
  std::optional<double> seconds; ///< that the step took
};

/// Parameters of the rules, echoed where their alarms are written.
struct AlarmOptions {
  int64_t warmup = 200;         ///< steps before shifts are looked for
  int64_t afterChange = 128;    ///< and after a change of rate or version
  double leastLoss = 1e-6;      ///< losses and norms below it count as it
  double leastDeviation = 0.05; ///< of logarithms
  double shiftZ = 3;            ///< 5 of 8 above it, and
  double shiftRatio = 1.5;      ///< the median of 16 over its least so far
  double spikeZ = 6;            ///< one value above it is a note
  double skipChance = 1e-6;     ///< of a binomial count of skips
  int64_t scaleInterval = 2000; ///< clean steps after which the loss scale grows
  double scaleFloor = 0;        ///< its least value; 0 for none
  double flushedShare = 0.05;   ///< of a value in a format in use, and
  double lostNorm = 0.01;       ///< of its norm
  double vanishedBits = 6;      ///< by which a gradient's share falls below its reference
  double memoryLimit = 0;       ///< bytes; 0 for none

  llvm::json::Object toJSON() const;
};

struct Alert {
  Grade grade = Grade::Alarm;
  std::string rule;  ///< its name in rules(), such as "loss-shift"
  std::string place; ///< which value, empty for the step
  int64_t step = 0;
  double value = 0;   ///< what was compared
  std::string reason; ///< the comparison, with its numbers
  std::string advice; ///< suggestions of the rule

  llvm::json::Object toJSON() const;
};

/// Alerts of one rule at one place.
struct AlertCount {
  Alert first;
  int64_t last = 0, count = 0;
  double worst = 0;
};

class Watcher {
public:
  explicit Watcher(AlarmOptions options = {});
  ~Watcher();
  Watcher(Watcher &&);
  Watcher &operator=(Watcher &&);

  /// Judges a step. The same rule at the same place speaks again after 50 steps at the earliest;
  /// counts() has all.
  std::vector<Alert> judge(const StepReading &reading);

  /// Tells that the learning rate or the program has changed: shifts are looked for again later.
  void noteChange(int64_t step);

  const std::map<std::pair<std::string, std::string>, AlertCount> &counts() const;
  const AlarmOptions &options() const;

  /// Windows and counts, for a checkpoint: a resumed watcher judges as if it had never stopped.
  llvm::json::Value toJSON() const;
  llvm::Error fromJSON(const llvm::json::Value &value);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mpcore::watch

#endif // MP_WATCH_ALARMS_H
