// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes ULP, absolute and relative differences of arrays.

#include "mp/Numerics/Compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mpcore::numerics;

/// Steps from zero, signed: equal for both zeros.
static int64_t orderOf(uint64_t bits, const FormatInfo &f) {
  uint64_t mask = f.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << f.bits) - 1;
  bits &= mask;
  int64_t magnitude = int64_t(bits & ~f.signBit);
  return (bits & f.signBit) ? -magnitude : magnitude;
}

uint64_t mpcore::numerics::ulpDistance(uint64_t a, uint64_t b, Format format) {
  bool aNaN = isNaN(a, format), bNaN = isNaN(b, format);
  if (aNaN || bNaN)
    return aNaN && bNaN ? 0 : std::numeric_limits<uint64_t>::max();
  const FormatInfo &f = info(format);
  int64_t x = orderOf(a, f), y = orderOf(b, f);
  return x > y ? uint64_t(x) - uint64_t(y) : uint64_t(y) - uint64_t(x);
}

double mpcore::numerics::ulpOf(double value, Format format) {
  const FormatInfo &f = info(format);
  int exponent = f.minExponent;
  if (value != 0)
    exponent = std::clamp(std::ilogb(value), f.minExponent, f.maxExponent);
  return std::ldexp(1.0, exponent - int(f.fractionBits));
}

void Comparison::add(double result, double reference) {
  size_t index = count++;
  bool resultNaN = std::isnan(result), referenceNaN = std::isnan(reference);
  bool resultInf = std::isinf(result), referenceInf = std::isinf(reference);
  nanResult += resultNaN;
  nanReference += referenceNaN;
  infResult += resultInf;
  infReference += referenceInf;
  if (resultNaN || referenceNaN || resultInf || referenceInf) {
    bool same = resultNaN || referenceNaN ? resultNaN == referenceNaN : result == reference;
    if (same)
      return;
    ++different;
    if (nonFiniteMismatches++ == 0) {
      worstIndex = index;
      worstResult = result;
      worstReference = reference;
    }
    return;
  }
  double error = std::fabs(result - reference);
  sumSquaredError += error * error;
  sumSquaredReference += reference * reference;
  if (error == 0)
    return;
  ++different;
  maxAbsolute = std::max(maxAbsolute, error);
  if (reference == 0)
    ++nonZeroForZero;
  else
    maxRelative = std::max(maxRelative, error / std::fabs(reference));
  double ulps = error / ulpOf(reference, format);
  if (ulps > maxUlp) {
    maxUlp = ulps;
    if (nonFiniteMismatches == 0) {
      worstIndex = index;
      worstResult = result;
      worstReference = reference;
    }
  }
}

double Comparison::relativeNorm() const {
  if (sumSquaredError == 0)
    return 0;
  return std::sqrt(sumSquaredError / sumSquaredReference);
}

Comparison mpcore::numerics::compare(const float *result, const float *reference, size_t count) {
  Comparison comparison(Format::F32);
  for (size_t i = 0; i < count; ++i)
    comparison.add(result[i], reference[i]);
  return comparison;
}

Comparison mpcore::numerics::compare(const float *result, const double *reference, size_t count) {
  Comparison comparison(Format::F32);
  for (size_t i = 0; i < count; ++i)
    comparison.add(result[i], reference[i]);
  return comparison;
}
