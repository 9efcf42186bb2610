// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scale that grows every so many steps overflows about once per growth; more than chance allows
// is too much, and eight in a row always.

#include "SkipRule.h"

#include <algorithm>
#include <cmath>

using namespace mpcore;
using namespace mpcore::watch;

static constexpr int64_t kSettling = 50, kInARow = 8, kBelowOne = 100;
/// Skips come in bursts, so that rarer than one in 200 is not believed.
static constexpr double kLeastChance = 1.0 / 200;

double watch::binomialTail(int64_t trials, double chance, int64_t count) {
  double below = 0;
  for (int64_t k = 0; k < count; ++k)
    below +=
        std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) +
                 k * std::log(chance) + (trials - k) * std::log1p(-chance));
  return 1 - below;
}

void SkipRule::add(bool skipped, std::optional<double> scale) {
  clean = skipped ? 0 : clean + 1;
  if (hasSettled) {
    skips.add(skipped);
    row = skipped ? row + 1 : 0;
  }
  hasSettled |= clean >= kSettling;
  skippedLast = skipped;
  lastScale = scale;
  belowOne = scale && *scale < 1 ? belowOne + 1 : 0;
}

std::optional<std::pair<int64_t, int64_t>> SkipRule::findExcess(const AlarmOptions &options) const {
  if (!skippedLast)
    return std::nullopt;
  if (row >= kInARow)
    return std::pair(row, row);
  const double chance = std::max(kLeastChance, 1 / (double(options.scaleInterval) + 1));
  for (int64_t span : {100, 200, 500, 1000}) {
    const int64_t count = skips.countRecentAbove(0.5, span);
    if (binomialTail(span, chance, count) < options.skipChance)
      return std::pair(count, span);
  }
  return std::nullopt;
}

bool SkipRule::isAtFloor(const AlarmOptions &options) const {
  return belowOne >= kBelowOne ||
         (lastScale && skippedLast && options.scaleFloor > 0 && *lastScale <= options.scaleFloor);
}

llvm::json::Value SkipRule::toJSON() const {
  return llvm::json::Object{{"skips", skips.toJSON()},
                            {"clean", clean},
                            {"row", row},
                            {"below_one", belowOne},
                            {"settled", hasSettled}};
}

void SkipRule::fromJSON(const llvm::json::Object &object) {
  if (auto *array = object.getArray("skips"))
    skips.fromJSON(*array);
  clean = object.getInteger("clean").value_or(0);
  row = object.getInteger("row").value_or(0);
  belowOne = object.getInteger("below_one").value_or(0);
  hasSettled = object.getBoolean("settled").value_or(false);
}
