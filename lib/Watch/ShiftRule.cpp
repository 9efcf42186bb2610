// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares logarithms with the median and the deviation of the 128 before: losses of networks that
// have converged are heavy-tailed beyond any threshold on the values themselves.

#include "ShiftRule.h"

#include <algorithm>
#include <cmath>

using namespace mpcore;
using namespace mpcore::watch;

ShiftRule::Finding ShiftRule::add(double value, bool isSettled, const AlarmOptions &options) {
  const double log = std::log(std::max(value, options.leastLoss));
  Finding finding;
  const bool hasWindow = logs.size() >= kRecent;
  if (hasWindow)
    finding.z = logs.robustZ(log, options.leastDeviation);
  const double before = logs.size() ? logs.median() : log;
  logs.add(log);
  zs.add(finding.z);
  const double recent = logs.recentMedian(kRecent);
  if (logs.size() >= kRecent) {
    leastMedian = hasLeast ? std::min(leastMedian, recent) : recent;
    hasLeast = true;
    finding.ratio = std::exp(recent - leastMedian);
  }
  finding.spiked =
      isSettled && hasWindow && finding.z > options.spikeZ && log > before + std::log(2.0);
  finding.shifted =
      isSettled && zs.countAbove(options.shiftZ) >= kAbove && finding.ratio > options.shiftRatio;
  return finding;
}

llvm::json::Value ShiftRule::toJSON() const {
  llvm::json::Object object{{"logs", logs.toJSON()}, {"z", zs.toJSON()}};
  if (hasLeast)
    object["least_median"] = leastMedian;
  return object;
}

void ShiftRule::fromJSON(const llvm::json::Object &object) {
  if (auto *array = object.getArray("logs"))
    logs.fromJSON(*array);
  if (auto *array = object.getArray("z"))
    zs.fromJSON(*array);
  hasLeast = object.get("least_median") != nullptr;
  leastMedian = object.getNumber("least_median").value_or(0);
}
