// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A magnitude for values seen in batches: the largest, or a smaller one that
// costs less.

#ifndef MP_NUMERICS_SCALING_CALIBRATION_H
#define MP_NUMERICS_SCALING_CALIBRATION_H

#include "mp/Numerics/Scaling/ScaleRule.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace mpcore::numerics {

enum class CalibrationMethod : uint8_t { AbsMax, Percentile, MSE, Entropy };

llvm::StringRef toString(CalibrationMethod method); ///< "absmax", "percentile", "mse", "entropy"
std::optional<CalibrationMethod> parseCalibrationMethod(llvm::StringRef spelling);

/// A histogram of magnitudes. The first batch with a value other than zero fixes the
/// width of a bin, 1/2048 of its largest magnitude; larger ones later add bins.
class MagnitudeHistogram {
public:
  static constexpr size_t firstBins = 2048;

  /// Infinities and NaN are counted apart.
  void add(llvm::ArrayRef<float> values);

  float largest() const { return amax; }
  uint64_t total() const { return finite; }
  uint64_t nonFinite() const { return bad; }
  llvm::ArrayRef<uint64_t> bins() const { return counts; }
  /// The upper edge of bin `index`.
  double edge(size_t index) const { return double(index + 1) * width; }

  /// The smallest edge under which at least `share` (0 to 1) of the values lie.
  double percentile(double share) const;
  /// The edge for which values stored as `code` by their own scale, each at the middle of its
  /// bin, come back with the least sum of squared errors; the smallest of equals.
  double leastSquares(CodeFormat code) const;
  /// The edge at which the histogram, cut there and merged into 128 levels, has the least
  /// relative entropy to the whole; the largest of equals (TensorRT's rule).
  double leastEntropy() const;

private:
  std::vector<uint64_t> counts;
  double width = 0;
  float amax = 0;
  uint64_t finite = 0, bad = 0;
};

/// The magnitude that the method finds, at most the largest seen. `share` is that of Percentile.
double calibrate(const MagnitudeHistogram &histogram, CalibrationMethod method, CodeFormat code,
                 double share);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_CALIBRATION_H
