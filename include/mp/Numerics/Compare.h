// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures how far two results are apart, in the terms that mp-run and the check dialect report:
// ULP, absolute, relative, and counts of NaN and infinities.

#ifndef MP_NUMERICS_COMPARE_H
#define MP_NUMERICS_COMPARE_H

#include "mp/Numerics/Format.h"

#include <cstddef>
#include <cstdint>

namespace mpcore::numerics {

/// Number of representable values one must step over to get from pattern `a`
/// to pattern `b`: 0 for equal values (+0 and -0 included) and for two NaNs,
/// UINT64_MAX if exactly one is NaN. Infinity is one step from the largest.
uint64_t ulpDistance(uint64_t a, uint64_t b, Format format);

/// Distance between values next to `value` in `format`: 2^(e - p + 1) with e
/// the exponent of `value`, not below the smallest subnormal. `value` finite.
double ulpOf(double value, Format format);

/// Statistics of a result against a reference, both given as doubles (exact for
/// every format). Elements where either side is NaN or infinite are counted,
/// and enter the maxima only as mismatches.
struct Comparison {
  Format format = Format::F32; ///< of the result; sets the size of an ULP
  size_t count = 0;
  size_t different = 0; ///< elements that are not equal (NaN equals NaN)
  size_t nanResult = 0, nanReference = 0;
  size_t infResult = 0, infReference = 0;
  /// NaN or infinity on one side only, or infinities of opposite sign.
  size_t nonFiniteMismatches = 0;
  /// Differences from a reference of exactly 0, which have no relative error.
  size_t nonZeroForZero = 0;

  double maxUlp = 0; ///< |result - reference| / ulpOf(reference)
  double maxAbsolute = 0;
  double maxRelative = 0; ///< over references that are not 0
  double sumSquaredError = 0, sumSquaredReference = 0;
  size_t worstIndex = 0; ///< of maxUlp, or of the first non-finite mismatch
  double worstResult = 0, worstReference = 0;

  explicit Comparison(Format format = Format::F32) : format(format) {}

  void add(double result, double reference);

  /// ||result - reference||_2 / ||reference||_2 over finite pairs; 0 when equal,
  /// infinity when only the reference is zero.
  double relativeNorm() const;

  bool equal() const { return different == 0; }
};

Comparison compare(const float *result, const float *reference, size_t count);
Comparison compare(const float *result, const double *reference, size_t count);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_COMPARE_H
