// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Medians, deviations and slopes that single values cannot move.

#include "mp/Watch/Window.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mpcore;
using namespace mpcore::watch;

/// The consistency factor 1 / Phi^-1(3/4) of the median absolute deviation.
static constexpr double kNormalMad = 1.4826;

double watch::median(llvm::ArrayRef<double> values) {
  if (values.empty())
    return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values);
  auto middle = sorted.begin() + sorted.size() / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2)
    return *middle;
  return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
}

void Window::add(double value) {
  values.push_back(value);
  if (values.size() > capacity)
    values.pop_front();
}

double Window::median() const { return recentMedian(values.size()); }

double Window::recentMedian(size_t count) const {
  count = std::min(count, values.size());
  return watch::median(std::vector<double>(values.end() - count, values.end()));
}

size_t Window::countRecentAbove(double limit, size_t count) const {
  count = std::min(count, values.size());
  return std::count_if(values.end() - count, values.end(),
                       [&](double value) { return value > limit; });
}

double Window::robustZ(double value, double least) const {
  const double middle = median();
  std::vector<double> distances;
  for (double other : values)
    distances.push_back(std::fabs(other - middle));
  return (value - middle) / std::max(kNormalMad * watch::median(distances), least);
}

void Window::fromJSON(const llvm::json::Array &array) {
  values.clear();
  for (const llvm::json::Value &value : array)
    add(value.getAsNumber().value_or(0));
}

Slope watch::theilSen(llvm::ArrayRef<double> samples, double z) {
  std::vector<double> slopes;
  for (size_t i = 0; i < samples.size(); ++i)
    for (size_t j = i + 1; j < samples.size(); ++j)
      slopes.push_back((samples[j] - samples[i]) / double(j - i));
  std::sort(slopes.begin(), slopes.end());
  // The variance of Kendall's S for n samples without ties.
  const double n = double(samples.size());
  const double spread = z * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  const double count = double(slopes.size());
  auto at = [&](double rank) { return slopes[size_t(std::clamp(rank, 0.0, count - 1))]; };
  return {median(slopes), at((count - spread) / 2), at((count + spread) / 2)};
}
