// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limits of formats from their parameters, and what follows from a row of counts.

#include "mp/Numerics/ProbeRecord.h"

#include <cmath>
#include <limits>

using namespace mpcore;
using namespace mpcore::numerics;

bool numerics::canBeProbed(Format format) {
  const FormatInfo &facts = info(format);
  return facts.hasSign && facts.hasZero && facts.bits < info(Format::F32).bits;
}

RangeLimits numerics::rangeLimits(Format format) {
  const FormatInfo &facts = info(format);
  const double lastPlace = std::ldexp(1.0, facts.maxExponent - int(facts.precision) + 1);
  const bool clips = !facts.hasInf && !facts.hasNaN;
  const float limit = float(clips ? facts.maxFinite : facts.maxFinite + lastPlace / 2);
  // A tie goes to the even one: beyond an odd largest value that is the next, which is not there.
  const bool tieOverflows = !clips && facts.largest % 2 == 1;
  RangeLimits limits;
  limits.overflowFrom =
      tieOverflows ? limit : std::nextafter(limit, std::numeric_limits<float>::infinity());
  limits.flushedUpTo = float(facts.minSubnormal / 2);
  limits.subnormalBelow = float(facts.minNormal * (1 - std::ldexp(1.0, -int(facts.precision))));
  return limits;
}

double ProbeRecord::finite() const {
  return get(ProbeColumn::Elements) - get(ProbeColumn::NaNs) - get(ProbeColumn::Infinities);
}

double ProbeRecord::deviation() const {
  return finite() > 0 ? std::sqrt(get(ProbeColumn::SquaredDeviations) / finite()) : 0;
}

double ProbeRecord::norm() const {
  const double mean = get(ProbeColumn::Mean);
  return std::sqrt(get(ProbeColumn::SquaredDeviations) + finite() * mean * mean);
}

double ProbeRecord::overflowing(unsigned index) const {
  return share(kProbeColumns + 3 * index, finite());
}

double ProbeRecord::flushed(unsigned index) const {
  return share(kProbeColumns + 3 * index + 1, finite() - get(ProbeColumn::Zeros));
}

double ProbeRecord::subnormal(unsigned index) const {
  return share(kProbeColumns + 3 * index + 2, finite() - get(ProbeColumn::Zeros));
}
