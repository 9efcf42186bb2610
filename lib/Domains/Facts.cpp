// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the lattice of FloatFacts: join, meet, order, and the rules that tie range, norm and
// flags.

#include "mp/Domains/Facts.h"

#include "mp/Domains/Rounding.h"
#include "mp/Numerics/Format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mpcore::domains {

static constexpr double kInf = std::numeric_limits<double>::infinity();

llvm::StringRef toString(Provenance provenance) {
  switch (provenance) {
  case Provenance::Proved: return "proved";
  case Provenance::Assumed: return "assumed";
  case Provenance::Sampled: return "sampled";
  }
  return "unknown";
}

FloatFacts FloatFacts::bottom() {
  FloatFacts facts = finite(Interval::empty());
  facts.visited = false;
  facts.norm2 = 0;
  facts.integerValued = true;
  return facts;
}

FloatFacts FloatFacts::finite(Interval range, Provenance provenance) {
  FloatFacts facts;
  facts.range = range;
  facts.mayNaN = false;
  facts.mayInf = false;
  facts.provenance = provenance;
  facts.normalize();
  return facts;
}

FloatFacts FloatFacts::constant(double value) {
  FloatFacts facts = finite(std::isnan(value) ? Interval::empty() : Interval::point(value));
  facts.mayNaN = std::isnan(value);
  facts.mayInf = std::isinf(value);
  facts.integerValued = !std::isfinite(value) || value == std::trunc(value);
  return facts;
}

FloatFacts FloatFacts::fromInteger(double lo, double hi) {
  FloatFacts facts = finite({lo, hi});
  facts.integerValued = true;
  return facts;
}

bool FloatFacts::isTop() const { return sameFacts(top()); }

bool FloatFacts::mayBePositiveInf() const { return mayInf && range.hi == kInf; }
bool FloatFacts::mayBeNegativeInf() const { return mayInf && range.lo == -kInf; }

void FloatFacts::normalize() {
  if (!range.contains(0))
    nonZero = true;
  if (range.isBounded())
    mayInf = false;
  if (mayInf)
    norm2 = kInf;
  if (std::isnan(norm2) || norm2 < 0)
    norm2 = kInf;
  if (range.isEmpty()) {
    integerValued = true;
    norm2 = 0;
  }
  if (!channels)
    return;
  if (channels->ranges.size() > ChannelFacts::kMaxChannels) {
    channels.reset();
    return;
  }
  for (Interval &channel : channels->ranges)
    channel = intersect(channel, range);
}

void FloatFacts::reduce(std::optional<int64_t> rowLength) {
  if (!visited)
    return;
  if (!mayInf)
    range = intersect(range, Interval::symmetric(norm2));
  if (rowLength && !mayInf && range.isBounded())
    norm2 = std::min(norm2, mulUp(range.mag(), sqrtUp(static_cast<double>(*rowLength))));
  normalize();
}

bool FloatFacts::sameFacts(const FloatFacts &other) const {
  if (isBottom() || other.isBottom())
    return isBottom() == other.isBottom();
  return range == other.range && norm2 == other.norm2 && mayNaN == other.mayNaN &&
         mayInf == other.mayInf && integerValued == other.integerValued &&
         nonZero == other.nonZero && channels == other.channels;
}

void FloatFacts::print(llvm::raw_ostream &os) const {
  if (isBottom()) {
    os << "unvisited";
    return;
  }
  os << range;
  if (norm2 < kInf) {
    os << " norm<=";
    printNumber(os, norm2);
  }
  if (integerValued && !range.isEmpty())
    os << " integer";
  if (nonZero && range.contains(0))
    os << " nonzero";
  if (mayNaN)
    os << " nan";
  if (mayInf)
    os << " inf";
  if (channels)
    os << " channels(dim " << channels->dim << ", " << channels->ranges.size() << ')';
  if (provenance != Provenance::Proved)
    os << " (" << toString(provenance) << ')';
}

/// No channel facts is above all channel facts; facts of different shape are not comparable.
static bool channelsAtMost(const FloatFacts &a, const FloatFacts &b) {
  if (!b.channels)
    return true;
  if (!a.channels || !a.channels->sameShape(*b.channels))
    return false;
  for (size_t i = 0, e = b.channels->ranges.size(); i < e; ++i)
    if (!b.channels->ranges[i].contains(a.channels->ranges[i]))
      return false;
  return true;
}

bool isAtMost(const FloatFacts &a, const FloatFacts &b) {
  if (a.isBottom() || b.isBottom())
    return a.isBottom();
  return b.range.contains(a.range) && a.norm2 <= b.norm2 && a.mayNaN <= b.mayNaN &&
         a.mayInf <= b.mayInf && a.integerValued >= b.integerValued && a.nonZero >= b.nonZero &&
         channelsAtMost(a, b);
}

static std::optional<ChannelFacts> joinChannels(const FloatFacts &a, const FloatFacts &b) {
  if (!a.channels || !b.channels || !a.channels->sameShape(*b.channels))
    return std::nullopt;
  ChannelFacts joined = *a.channels;
  for (size_t i = 0, e = joined.ranges.size(); i < e; ++i)
    joined.ranges[i] = hull(joined.ranges[i], b.channels->ranges[i]);
  return joined;
}

static std::optional<ChannelFacts> meetChannels(const FloatFacts &a, const FloatFacts &b) {
  if (!a.channels || !b.channels)
    return a.channels ? a.channels : b.channels;
  if (!a.channels->sameShape(*b.channels)) {
    auto key = [](const ChannelFacts &c) { return std::make_pair(c.dim, c.ranges.size()); };
    return key(*a.channels) < key(*b.channels) ? a.channels : b.channels;
  }
  ChannelFacts both = *a.channels;
  for (size_t i = 0, e = both.ranges.size(); i < e; ++i)
    both.ranges[i] = intersect(both.ranges[i], b.channels->ranges[i]);
  return both;
}

/// The sum of two histories would overflow in long chains; the longer one is enough for
/// termination.
static void joinCounters(FloatFacts &result, const FloatFacts &a, const FloatFacts &b) {
  result.movesLo = std::max(a.movesLo, b.movesLo);
  result.movesHi = std::max(a.movesHi, b.movesHi);
  result.movesNorm = std::max(a.movesNorm, b.movesNorm);
  result.movesChannels = std::max(a.movesChannels, b.movesChannels);
}

FloatFacts join(const FloatFacts &a, const FloatFacts &b) {
  if (a.isBottom())
    return b;
  if (b.isBottom())
    return a;
  FloatFacts joined;
  joined.range = hull(a.range, b.range);
  joined.norm2 = std::max(a.norm2, b.norm2);
  joined.mayNaN = a.mayNaN || b.mayNaN;
  joined.mayInf = a.mayInf || b.mayInf;
  joined.integerValued = a.integerValued && b.integerValued;
  joined.nonZero = a.nonZero && b.nonZero;
  joined.channels = joinChannels(a, b);
  joined.provenance = weakest(a.provenance, b.provenance);
  joinCounters(joined, a, b);
  return joined;
}

FloatFacts meet(const FloatFacts &a, const FloatFacts &b) {
  if (isAtMost(a, b) && (!isAtMost(b, a) || a.provenance <= b.provenance))
    return a;
  if (isAtMost(b, a))
    return b;
  FloatFacts both;
  both.range = intersect(a.range, b.range);
  both.norm2 = std::min(a.norm2, b.norm2);
  both.mayNaN = a.mayNaN && b.mayNaN;
  both.mayInf = a.mayInf && b.mayInf;
  both.integerValued = a.integerValued || b.integerValued;
  both.nonZero = a.nonZero || b.nonZero;
  both.channels = meetChannels(a, b);
  both.provenance = weakest(a.provenance, b.provenance);
  joinCounters(both, a, b);
  both.normalize();
  return both;
}

llvm::ArrayRef<double> wideningLimits() {
  using numerics::Format;
  static const std::array<double, 7> limits = {
      0,
      1,
      numerics::info(Format::F8E4M3FN).maxFinite,
      numerics::info(Format::F8E5M2).maxFinite,
      numerics::info(Format::F16).maxFinite,
      numerics::info(Format::BF16).maxFinite,
      numerics::info(Format::F32).maxFinite,
  };
  return limits;
}

/// The smallest of the limits, taken with both signs, that is at least x.
static double nextLimit(double x) {
  llvm::ArrayRef<double> limits = wideningLimits();
  if (x > 0) {
    for (double limit : limits)
      if (x <= limit)
        return limit;
    return kInf;
  }
  double best = 0;
  for (double limit : limits)
    if (x <= -limit)
      best = -limit;
  return best;
}

FloatFacts widen(const FloatFacts &previous, const FloatFacts &next) {
  FloatFacts joined = join(previous, next);
  if (previous.isBottom() || next.isBottom())
    return joined;
  joined.movesLo = previous.movesLo;
  joined.movesHi = previous.movesHi;
  joined.movesNorm = previous.movesNorm;
  joined.movesChannels = previous.movesChannels;
  auto moveTooOften = [](uint8_t &moves) {
    if (moves < kMovesBeforeWidening)
      return ++moves, false;
    return true;
  };
  bool widened = false;
  if (joined.range.hi > previous.range.hi && moveTooOften(joined.movesHi)) {
    joined.range.hi = nextLimit(joined.range.hi);
    widened = true;
  }
  if (joined.range.lo < previous.range.lo && moveTooOften(joined.movesLo)) {
    joined.range.lo = -nextLimit(-joined.range.lo);
    widened = true;
  }
  if (joined.norm2 > previous.norm2 && moveTooOften(joined.movesNorm))
    joined.norm2 = nextLimit(joined.norm2);
  // Widening channels one by one is not worth it in a loop that keeps moving.
  bool channelsMoved = joined.channels && joined.channels != previous.channels;
  if (widened || (channelsMoved && moveTooOften(joined.movesChannels)))
    joined.channels.reset();
  return joined;
}

} // namespace mpcore::domains
