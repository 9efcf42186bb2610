// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Uniform grids for values seen in batches, with a zero point where their signs are uneven.

#ifndef MP_NUMERICS_SCALING_UNIFORMGRID_H
#define MP_NUMERICS_SCALING_UNIFORMGRID_H

#include "mp/Numerics/Scaling/Calibration.h"

namespace mpcore::numerics {

/// Values (code - zero) * step, of codes from `lowest` to `highest`; 0 is one of them.
struct UniformGrid {
  float step = 1;
  int zero = 0, lowest = 0, highest = 0;

  float low() const { return float(lowest - zero) * step; }
  float high() const { return float(highest - zero) * step; }
  /// The nearest value of the grid.
  double round(double value) const;
};

/// Histograms of the values below 0, of the others, and of all magnitudes.
struct SignedHistogram {
  MagnitudeHistogram below, above, all;

  void add(llvm::ArrayRef<float> values);
  /// The sum over all values seen, each at the middle of its bin, of what rounding costs squared.
  double squaredError(const UniformGrid &grid) const;
};

/// The grid whose ends the method finds. Signed codes are symmetric, from -(2^(bits-1) - 1) on;
/// unsigned ones have a zero point, and each end is that of its sign, or with MSE the pair of ends,
/// in hundredths of the largest, that costs least.
UniformGrid fitGrid(const SignedHistogram &seen, unsigned bits, bool isUnsigned,
                    CalibrationMethod method, double share);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_UNIFORMGRID_H
