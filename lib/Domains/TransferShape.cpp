// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape changes, conversions to a format, perturbations.

#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"
#include "mp/Domains/Transfer.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

using numerics::Format;
using numerics::FormatInfo;
using numerics::Overflow;
using numerics::Rounding;

FloatFacts reshapeRows(const FloatFacts &x, RowLength rowLength) {
  if (x.isBottom())
    return x;
  FloatFacts result = x;
  result.norm2 = kInfinity;
  result.normalize();
  result.reduce(rowLength);
  return result;
}

FloatFacts mergeRows(const FloatFacts &x, int64_t count, RowLength rowLength) {
  FloatFacts result = reshapeRows(x, rowLength);
  if (!x.isBottom())
    result.norm2 = std::min(result.norm2, mulUp(sqrtUp(static_cast<double>(count)), x.norm2));
  return result;
}

FloatFacts partOfRows(const FloatFacts &x, RowLength rowLength) {
  return mergeRows(x, 1, rowLength);
}

FloatFacts perturb(const FloatFacts &x, double radius, RowLength rowLength) {
  if (x.isBottom() || radius == 0)
    return x;
  FloatFacts result = x;
  result.range = inflate(x.range, radius);
  result.integerValued = false;
  result.nonZero = false;
  result.norm2 = kInfinity;
  if (rowLength)
    result.norm2 =
        addUp(x.norm2, mulUp(std::fabs(radius), sqrtUp(static_cast<double>(*rowLength))));
  result.normalize();
  result.reduce(rowLength);
  return result;
}

std::pair<double, bool> overflowThreshold(Format format) {
  const FormatInfo &facts = numerics::info(format);
  if (format == Format::F64)
    return {kInfinity, true};
  // Half a unit in the last place above the largest finite value. The tie goes to the even
  // neighbour; the largest value is odd when its significand is all ones.
  double lastPlace = std::ldexp(1.0, facts.maxExponent - static_cast<int>(facts.precision) + 1);
  bool largestIsOdd = std::fmod(facts.maxFinite / lastPlace, 2) != 0;
  return {facts.maxFinite + lastPlace / 2, largestIsOdd};
}

/// One end of a range after rounding; overflow is reported, not applied.
static double roundEnd(double x, Format format, Rounding rounding, bool &overflows) {
  const FormatInfo &facts = numerics::info(format);
  overflows = false;
  if (std::isinf(x) || format == Format::F64)
    return x;
  auto [threshold, tieOverflows] = overflowThreshold(format);
  double magnitude = std::fabs(x);
  bool towardZero = rounding == Rounding::RZ || (rounding == Rounding::RD && x > 0) ||
                    (rounding == Rounding::RU && x < 0);
  if (rounding == Rounding::RNE)
    overflows = magnitude > threshold || (magnitude == threshold && tieOverflows);
  else if (rounding == Rounding::RNA)
    overflows = magnitude >= threshold;
  else
    overflows = magnitude > facts.maxFinite;
  if (overflows || magnitude > facts.maxFinite)
    return std::copysign(overflows && !towardZero ? kInfinity : facts.maxFinite, x);
  return numerics::decode(numerics::encode(x, format, rounding, Overflow::Saturate), format);
}

FloatFacts castTo(const FloatFacts &x, Format format, Overflow overflow, Rounding rounding,
                  RowLength rowLength, CastEffects *effects) {
  CastEffects local;
  CastEffects &seen = effects ? *effects : local;
  seen = {};
  if (x.isBottom())
    return x;
  const FormatInfo &facts = numerics::info(format);
  if (!facts.hasSign) { // f8E8M0FNU: powers of two, no zero
    FloatFacts scale = FloatFacts::finite({facts.minSubnormal, facts.maxFinite}, x.provenance);
    scale.mayNaN = x.mayNaN || x.mayInf || x.mag() > facts.maxFinite;
    seen.mayOverflow = x.mag() > facts.maxFinite;
    return scale;
  }

  bool stochastic = rounding == Rounding::SR || rounding == Rounding::SRCompare;
  // To f64 there is no conversion to clamp.
  bool saturates =
      (overflow == Overflow::Saturate && format != Format::F64) || (!facts.hasInf && !facts.hasNaN);
  auto convert = [&](const Interval &range) {
    if (range.isEmpty())
      return range;
    bool lowOverflows, highOverflows;
    Interval rounded{
        roundEnd(range.lo, format, stochastic ? Rounding::RD : rounding, lowOverflows),
        roundEnd(range.hi, format, stochastic ? Rounding::RU : rounding, highOverflows)};
    seen.mayOverflow |= lowOverflows || highOverflows;
    if (saturates || !facts.hasInf)
      rounded = intersect(rounded, Interval::symmetric(facts.maxFinite));
    // All of it beyond the format's end.
    if (rounded.isEmpty() && saturates)
      return Interval::point(std::copysign(facts.maxFinite, range.lo));
    return rounded;
  };

  FloatFacts result = x;
  result.range = convert(x.range);
  seen.mayOverflow |= !x.range.isBounded();
  bool losesInf = x.mayInf || seen.mayOverflow;
  result.mayInf = facts.hasInf && !saturates && losesInf;
  result.mayNaN = (x.mayNaN && facts.hasNaN) || (losesInf && !facts.hasInf && !saturates);
  bool belowNormal = x.range.lo < facts.minNormal && x.range.hi > -facts.minNormal;
  bool onlyZeroBelow = x.range == Interval::point(0) || (x.integerValued && facts.minNormal <= 1);
  seen.mayBeSubnormal = belowNormal && !onlyZeroBelow;
  bool toNearest = rounding == Rounding::RNE || rounding == Rounding::RNA;
  bool nearZero = toNearest
                      ? x.range.lo <= facts.underflowUnit && x.range.hi >= -facts.underflowUnit
                      : x.range.lo < facts.minSubnormal && x.range.hi > -facts.minSubnormal;
  seen.mayFlushToZero = nearZero && !onlyZeroBelow;
  if (seen.mayFlushToZero)
    result.nonZero = false;
  // Saturation to a fraction (f6E2M3FN: 7.5) is the one way to leave the integers.
  if (seen.mayOverflow && facts.maxFinite != std::trunc(facts.maxFinite))
    result.integerValued = false;
  // Relative growth u (2u when not to nearest) plus the underflow unit per element.
  double growth = addUp(1, (toNearest ? 1 : 2) * facts.unitRoundoff);
  double underflow = (toNearest ? 1 : 2) * facts.underflowUnit;
  result.norm2 = mulUp(x.norm2, growth);
  if (seen.mayBeSubnormal && result.norm2 < kInfinity)
    result.norm2 =
        rowLength ? addUp(result.norm2, mulUp(underflow, sqrtUp(static_cast<double>(*rowLength))))
                  : kInfinity;
  if (x.mayNaN && !facts.hasNaN) { // NaN becomes the largest value
    result.range = hull(result.range, Interval::point(facts.maxFinite));
    result.integerValued &= facts.maxFinite == std::trunc(facts.maxFinite);
    result.norm2 = kInfinity;
  }
  result.normalize();
  result.reduce(rowLength);
  return result;
}

FloatFacts roundTo(const FloatFacts &x, Format format, RowLength rowLength) {
  return castTo(x, format, Overflow::IEEE, Rounding::RNE, rowLength);
}

FloatFacts flushSubnormals(const FloatFacts &x, Format format) {
  const double normal = numerics::info(format).minNormal;
  if (x.isBottom() || (x.integerValued && normal <= 1))
    return x;
  FloatFacts result = x;
  if (x.range.lo > 0 && x.range.lo < normal)
    result.range.lo = 0;
  if (x.range.hi < 0 && x.range.hi > -normal)
    result.range.hi = 0;
  result.nonZero &= x.range.lo >= normal || x.range.hi <= -normal;
  return result;
}

} // namespace mpcore::domains
