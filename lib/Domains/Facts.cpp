// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the lattice of FloatFacts: join, meet, order, and the rules that tie range, norm and
// flags.

#include "mp/Domains/Facts.h"

#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"
#include "mp/Numerics/Format.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

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

bool FloatFacts::mayBePositiveInf() const { return mayInf && range.hi == kInfinity; }
bool FloatFacts::mayBeNegativeInf() const { return mayInf && range.lo == -kInfinity; }

void FloatFacts::normalize() {
  if (!range.contains(0))
    nonZero = true;
  if (range.isBounded())
    mayInf = false;
  if (mayInf)
    norm2 = kInfinity;
  if (std::isnan(norm2) || norm2 < 0)
    norm2 = kInfinity;
  if (range.isEmpty()) {
    integerValued = true;
    norm2 = 0;
  }
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
         mayInf == other.mayInf && integerValued == other.integerValued && nonZero == other.nonZero;
}

void FloatFacts::print(llvm::raw_ostream &os) const {
  if (isBottom()) {
    os << "unvisited";
    return;
  }
  os << range;
  if (norm2 < kInfinity) {
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
  if (provenance != Provenance::Proved)
    os << " (" << toString(provenance) << ')';
}

bool isAtMost(const FloatFacts &a, const FloatFacts &b) {
  if (a.isBottom() || b.isBottom())
    return a.isBottom();
  return b.range.contains(a.range) && a.norm2 <= b.norm2 && a.mayNaN <= b.mayNaN &&
         a.mayInf <= b.mayInf && a.integerValued >= b.integerValued && a.nonZero >= b.nonZero;
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
  joined.provenance = weakest(a.provenance, b.provenance);
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
  both.provenance = weakest(a.provenance, b.provenance);
  both.normalize();
  return both;
}

} // namespace mpcore::domains
