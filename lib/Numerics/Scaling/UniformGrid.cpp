// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fits the ends of a uniform grid to histograms.

#include "mp/Numerics/Scaling/UniformGrid.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mpcore::numerics;

double UniformGrid::round(double value) const {
  double code = std::nearbyint(value / double(step));
  return std::clamp(code, double(lowest - zero), double(highest - zero)) * double(step);
}

void SignedHistogram::add(llvm::ArrayRef<float> values) {
  std::vector<float> negative, others;
  for (float value : values)
    (value < 0 ? negative : others).push_back(value);
  below.add(negative);
  above.add(others);
  all.add(values);
}

/// The cost of one sign's values; `most` is where it no longer matters.
static double costOf(const MagnitudeHistogram &histogram, double sign, const UniformGrid &grid,
                     double most) {
  double cost = 0, before = 0;
  for (auto [bin, count] : llvm::enumerate(histogram.bins())) {
    double edge = histogram.edge(bin), middle = sign * (before + edge) / 2;
    before = edge;
    if (count == 0)
      continue;
    double error = middle - grid.round(middle);
    cost += double(count) * error * error;
    if (cost > most)
      break;
  }
  return cost;
}

double SignedHistogram::squaredError(const UniformGrid &grid) const {
  const double never = std::numeric_limits<double>::infinity();
  return costOf(below, -1, grid, never) + costOf(above, 1, grid, never);
}

/// From -low to high, in codes without sign.
static UniformGrid between(double low, double high, int levels) {
  UniformGrid grid{float((low + high) / levels), 0, 0, levels};
  if (!(grid.step > 0) || !std::isfinite(1 / grid.step))
    grid.step = 1;
  grid.zero = int(std::clamp(std::nearbyint(low / double(grid.step)), 0.0, double(levels)));
  return grid;
}

/// From -high to high.
static UniformGrid around(double high, int top) {
  UniformGrid grid{float(high / top), 0, -top, top};
  if (!(grid.step > 0) || !std::isfinite(1 / grid.step))
    grid.step = 1;
  return grid;
}

static UniformGrid leastError(const SignedHistogram &seen, int levels, bool isUnsigned) {
  constexpr int least = 30, all = 100; // hundredths of the largest magnitude
  const double low = seen.below.largest(), high = seen.above.largest();
  const double largest = seen.all.largest();
  UniformGrid best = isUnsigned ? between(low, high, levels) : around(largest, levels);
  double cost = seen.squaredError(best);
  auto consider = [&](const UniformGrid &grid) {
    double now = costOf(seen.below, -1, grid, cost);
    if (now < cost)
      now += costOf(seen.above, 1, grid, cost - now);
    if (now < cost) {
      cost = now;
      best = grid;
    }
  };
  for (int down = all; down >= (isUnsigned && low > 0 ? least : all); --down)
    for (int up = all; up >= (isUnsigned && high == 0 ? all : least); --up)
      consider(isUnsigned ? between(low * down / all, high * up / all, levels)
                          : around(largest * up / all, levels));
  return best;
}

UniformGrid mpcore::numerics::fitGrid(const SignedHistogram &seen, unsigned bits, bool isUnsigned,
                                      CalibrationMethod method, double share) {
  const int levels = isUnsigned ? (1 << bits) - 1 : (1 << (bits - 1)) - 1;
  if (method == CalibrationMethod::MSE)
    return leastError(seen, levels, isUnsigned);
  auto end = [&](const MagnitudeHistogram &histogram) {
    return calibrate(histogram, method, CodeFormat::integer(bits), share);
  };
  return isUnsigned ? between(end(seen.below), end(seen.above), levels)
                    : around(end(seen.all), levels);
}
