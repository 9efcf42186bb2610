// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Robust statistics of the last values of a series: what the rules of Alarms compare a new value
// with. A value is never part of the window that judges it: the distance to a mean that includes it
// is bounded (Samuelson's inequality), so that such a rule may never fire.

#ifndef MP_WATCH_WINDOW_H
#define MP_WATCH_WINDOW_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <deque>
#include <vector>

namespace mpcore::watch {

/// Returns the median of the values, the mean of the middle two for an even number; NaN for none.
double median(llvm::ArrayRef<double> values);

/// The last values of a series, oldest first.
class Window {
public:
  explicit Window(size_t capacity) : capacity(capacity) {}

  void add(double value);
  void clear() { values.clear(); }
  size_t size() const { return values.size(); }
  bool full() const { return values.size() == capacity; }

  double median() const;
  /// Returns the median of the `count` newest values.
  double recentMedian(size_t count) const;
  size_t countAbove(double limit) const { return countRecentAbove(limit, values.size()); }
  /// Counts those among the `count` newest values that are above the limit.
  size_t countRecentAbove(double limit, size_t count) const;
  /// (value - median) / (1.4826 MAD), the factor making the median absolute deviation that of a
  /// normal distribution; a deviation below `least` counts as `least`.
  double robustZ(double value, double least) const;

  std::vector<double> list() const { return {values.begin(), values.end()}; }
  llvm::json::Value toJSON() const { return llvm::json::Array(values); }
  void fromJSON(const llvm::json::Array &array);

private:
  size_t capacity;
  std::deque<double> values;
};

/// A slope and its confidence interval, per sample.
struct Slope {
  double value, low, high;
};

/// The median slope of all pairs (Theil 1950, Sen 1968); the interval by the normal approximation
/// of Kendall's statistic at `z` standard deviations (2.576: 99 %). At least three samples.
Slope theilSen(llvm::ArrayRef<double> samples, double z);

} // namespace mpcore::watch

#endif // MP_WATCH_WINDOW_H
