// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds what a probe counts of a tensor, as a row of f64 in which counts are exact up to 2^53, and
// the exact limits at which a format loses a value.

#ifndef MP_NUMERICS_PROBERECORD_H
#define MP_NUMERICS_PROBERECORD_H

#include "mp/Numerics/Format.h"

#include <vector>

namespace mpcore::numerics {

/// The magnitudes at which rounding to nearest even takes an f32 value out of a format.
struct RangeLimits {
  float overflowFrom;   ///< the least that becomes infinite, NaN or, in formats without, is clipped
  float flushedUpTo;    ///< the largest that becomes zero; zero itself does not count
  float subnormalBelow; ///< above flushedUpTo and below this it becomes subnormal
};

/// True for the formats that a probe can count: narrower than f32, with sign and zero.
bool canBeProbed(Format format);

/// Limits of a format that can be probed. A tie to even decides whether a limit belongs to it.
RangeLimits rangeLimits(Format format);

/// Columns of a record, then three for each format (overflowing, flushed, subnormal), then the bins
/// of the histogram. Mean and extremes are of finite elements.
enum class ProbeColumn : unsigned {
  Elements,
  NaNs,
  Infinities,
  Zeros,
  Negatives,         ///< finite, below zero
  Least,             ///< +infinity for no element
  Largest,           ///< -infinity for no element
  LeastMagnitude,    ///< of elements that are not zero; +infinity for none
  LargestMagnitude,  ///< 0 for none
  Mean,              ///< 0 for no element
  SquaredDeviations, ///< the sum of (x - mean)^2
  Count
};
inline constexpr unsigned kProbeColumns = unsigned(ProbeColumn::Count);

/// The histogram counts finite elements that are not zero by exponent: bin i has
/// floor(log2 |x|) = i - 48, the first also all below, the last all above.
inline constexpr unsigned kProbeBins = 64;
inline constexpr int kLeastBinExponent = -48;

inline unsigned probeRecordSize(size_t formats, bool hasHistogram) {
  return kProbeColumns + 3 * unsigned(formats) + (hasHistogram ? kProbeBins : 0);
}

/// A record, read.
struct ProbeRecord {
  llvm::ArrayRef<double> row;

  double get(ProbeColumn column) const { return row[unsigned(column)]; }
  double finite() const;
  double deviation() const; ///< of the population
  double norm() const;      ///< Euclidean, of the finite elements
  /// Shares of the `index`-th format: overflow of finite elements, flushed and subnormal of those
  /// that are not zero; 0 where there are none.
  double overflowing(unsigned index) const;
  double flushed(unsigned index) const;
  double subnormal(unsigned index) const;

private:
  double share(unsigned column, double of) const { return of > 0 ? row[column] / of : 0; }
};

} // namespace mpcore::numerics

#endif // MP_NUMERICS_PROBERECORD_H
