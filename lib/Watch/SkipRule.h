// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Skipped steps and the loss scale: how many overflows a rule of growth explains.

#ifndef MP_LIB_WATCH_SKIPRULE_H
#define MP_LIB_WATCH_SKIPRULE_H

#include "mp/Watch/Alarms.h"

namespace mpcore::watch {

/// P(X >= count) for X binomial of `trials` and `chance`.
double binomialTail(int64_t trials, double chance, int64_t count);

class SkipRule {
public:
  void add(bool skipped, std::optional<double> scale);

  /// Too many skips in a row or in one of several spans: the count and the span, if so.
  std::optional<std::pair<int64_t, int64_t>> findExcess(const AlarmOptions &options) const;
  /// The scale has nowhere to fall, or has lain below one for a hundred steps.
  bool isAtFloor(const AlarmOptions &options) const;

  llvm::json::Value toJSON() const;
  void fromJSON(const llvm::json::Object &object);

private:
  static constexpr size_t kLongest = 1000;
  Window skips{kLongest}; ///< 1 for a step that was skipped, once the scale has settled
  int64_t clean = 0, row = 0, belowOne = 0;
  bool hasSettled = false; ///< 50 clean steps have been: the first descent is over
  bool skippedLast = false;
  std::optional<double> lastScale;
};

} // namespace mpcore::watch

#endif // MP_LIB_WATCH_SKIPRULE_H
