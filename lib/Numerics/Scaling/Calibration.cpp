// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects histograms and picks the magnitude of least entropy, error or a percentile.

#include "mp/Numerics/Scaling/Calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mpcore::numerics;

static constexpr llvm::StringRef methodNames[] = {"absmax", "percentile", "mse", "entropy"};

llvm::StringRef mpcore::numerics::toString(CalibrationMethod method) {
  return methodNames[size_t(method)];
}

std::optional<CalibrationMethod>
mpcore::numerics::parseCalibrationMethod(llvm::StringRef spelling) {
  for (size_t i = 0; i < std::size(methodNames); ++i)
    if (methodNames[i] == spelling)
      return CalibrationMethod(i);
  return std::nullopt;
}

void MagnitudeHistogram::add(llvm::ArrayRef<float> values) {
  for (float value : values)
    if (std::isfinite(value))
      amax = std::max(amax, std::fabs(value));
  if (width == 0 && amax > 0)
    width = double(amax) / firstBins;
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++bad;
      continue;
    }
    ++finite;
    double magnitude = std::fabs(value);
    // Bins hold their upper edge; zero is in the first.
    size_t bin = magnitude > 0 ? size_t(std::max(std::ceil(magnitude / width) - 1, 0.0)) : 0;
    if (bin >= counts.size())
      counts.resize(std::max(bin + 1, firstBins));
    ++counts[bin];
  }
}

double MagnitudeHistogram::percentile(double share) const {
  double below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    below += double(counts[i]);
    if (below >= share * double(finite))
      return edge(i);
  }
  return amax;
}

/// Cuts below this many bins are not tried.
static constexpr size_t fewestBins = 128;

double MagnitudeHistogram::leastSquares(CodeFormat code) const {
  double best = amax, least = std::numeric_limits<double>::infinity();
  for (size_t cut = fewestBins; cut <= counts.size(); ++cut) {
    float encode = float(code.largest() / edge(cut - 1)), decode = 1 / encode;
    double error = 0;
    for (size_t i = 0; i < counts.size() && error < least; ++i) {
      if (!counts[i])
        continue;
      float middle = float((double(i) + 0.5) * width);
      double difference =
          double(middle) - double(code.decode(code.encode(middle * encode))) * decode;
      error += double(counts[i]) * difference * difference;
    }
    if (error < least) {
      least = error;
      best = edge(cut - 1);
    }
  }
  return best;
}

/// Relative entropy of the first `cut` bins, what is beyond in the last of them, to the same bins
/// merged into levels and spread again over those that are not empty.
static double relativeEntropy(llvm::ArrayRef<double> bins, size_t cut, size_t levels) {
  double beyond = std::accumulate(bins.begin() + cut, bins.end(), 0.0);
  std::vector<double> merged(levels, 0), members(levels, 0);
  auto levelOf = [&](size_t i) { return i * levels / cut; };
  for (size_t i = 0; i < cut; ++i)
    if (bins[i] > 0) {
      merged[levelOf(i)] += bins[i];
      ++members[levelOf(i)];
    }
  double kept = std::accumulate(merged.begin(), merged.end(), 0.0), all = kept + beyond,
         entropy = 0;
  for (size_t i = 0; i < cut; ++i) {
    double reference = (bins[i] + (i + 1 == cut ? beyond : 0)) / all;
    double model = bins[i] > 0 ? merged[levelOf(i)] / members[levelOf(i)] / kept : 0;
    if (reference > 0)
      entropy += model > 0 ? reference * std::log(reference / model)
                           : std::numeric_limits<double>::infinity();
  }
  return entropy;
}

double MagnitudeHistogram::leastEntropy() const {
  std::vector<double> bins(counts.begin(), counts.end());
  // Zeros say nothing about where to cut.
  if (bins.size() > 1)
    bins[0] = bins[1];
  double best = amax, least = std::numeric_limits<double>::infinity();
  for (size_t cut = fewestBins; cut <= bins.size(); ++cut) {
    double entropy = relativeEntropy(bins, cut, fewestBins);
    if (entropy <= least) {
      least = entropy;
      best = edge(cut - 1);
    }
  }
  return best;
}

double mpcore::numerics::calibrate(const MagnitudeHistogram &histogram, CalibrationMethod method,
                                   CodeFormat code, double share) {
  double largest = histogram.largest();
  switch (method) {
  case CalibrationMethod::AbsMax: return largest;
  case CalibrationMethod::Percentile: return std::min(histogram.percentile(share), largest);
  case CalibrationMethod::MSE: return std::min(histogram.leastSquares(code), largest);
  case CalibrationMethod::Entropy: return std::min(histogram.leastEntropy(), largest);
  }
  return largest;
}
