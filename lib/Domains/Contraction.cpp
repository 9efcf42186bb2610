// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the facts of a contraction from the facts of its factors, by every bound that applies.

#include "mp/Domains/Contraction.h"

#include "mp/Domains/Rounding.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

double contractedNorm(const FloatFacts &x, const Extent &contracted, bool innermostIsContracted,
                      const Extent &rows) {
  double byRange = mulUp(sqrtUp(contracted.upper()), x.mag());
  if (x.mayInf || !innermostIsContracted)
    return x.mayInf ? std::numeric_limits<double>::infinity() : byRange;
  return std::min(byRange, mulUp(sqrtUp(rows.upper()), x.norm2));
}

/// Flags and provenance of a sum of products; range and norm still to be set.
static FloatFacts productSum(const FloatFacts &x, const FloatFacts &w) {
  FloatFacts result = FloatFacts::finite(Interval::top(), weakest(x.provenance, w.provenance));
  bool anyInf = x.mayInf || w.mayInf;
  // inf * 0 and inf - inf.
  result.mayNaN = x.mayNaN || w.mayNaN || anyInf;
  result.mayInf = anyInf;
  result.integerValued = x.integerValued && w.integerValued;
  return result;
}

static FloatFacts finish(FloatFacts result, const ContractionOperand &x,
                         const ContractionShape &shape) {
  result.norm2 = mulUp(shape.operatorNorm, x.norm);
  result.normalize();
  result.reduce(shape.resultRowLength);
  return result;
}

FloatFacts contract(const ContractionOperand &x, const ContractionOperand &w,
                    const ContractionShape &shape) {
  if (x.facts.isBottom() || w.facts.isBottom())
    return FloatFacts::bottom();
  FloatFacts result = productSum(x.facts, w.facts);
  result.range = times(shape.contracted, mul(x.facts.range, w.facts.range));
  if (!result.mayInf)
    result.range = intersect(result.range, Interval::symmetric(mulUp(x.norm, w.norm)));
  return finish(std::move(result), x, shape);
}

FloatFacts contractConstant(const ContractionOperand &x, const FloatFacts &weights,
                            llvm::ArrayRef<LineFacts> lines, const ContractionShape &shape,
                            std::optional<unsigned> channelDim) {
  if (x.facts.isBottom() || weights.isBottom())
    return FloatFacts::bottom();
  FloatFacts result = productSum(x.facts, weights);
  std::vector<Interval> channels;
  Interval all;
  for (const LineFacts &line : lines) {
    // Every x_k anywhere in its range: positive weights and negative ones each scale the whole
    // range.
    Interval range =
        add(mul(line.positiveSum, x.facts.range), mul(line.negativeSum, x.facts.range));
    if (!result.mayInf)
      range = intersect(range, Interval::symmetric(mulUp(line.norm2, x.norm)));
    all = hull(all, range);
    channels.push_back(range);
  }
  result.range = all;
  if (result.mayInf)
    result.range = Interval::top();
  else if (channelDim && channels.size() <= ChannelFacts::kMaxChannels)
    result.channels = ChannelFacts{*channelDim, std::move(channels)};
  return finish(std::move(result), x, shape);
}

FloatFacts convexCombination(const FloatFacts &v, double sumSlack, RowLength resultRowLength) {
  if (v.isBottom())
    return v;
  FloatFacts result = v;
  result.mayNaN |= v.mayInf; // 0 * inf
  result.integerValued = false;
  result.nonZero = false;
  // sum p v with sum p = 1 + s is a point of the hull, scaled by 1 + s.
  Interval scale{subDown(1, sumSlack), addUp(1, sumSlack)};
  result.range = mul(v.range, scale);
  result.norm2 = mulUp(v.norm2, scale.hi);
  if (v.channels)
    for (Interval &channel : result.channels->ranges)
      channel = mul(channel, scale);
  result.movesLo = result.movesHi = result.movesNorm = result.movesChannels = 0;
  result.normalize();
  result.reduce(resultRowLength);
  return result;
}

} // namespace mpcore::domains
