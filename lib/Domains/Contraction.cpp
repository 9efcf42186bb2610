// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the facts of a contraction from the facts of its factors, by every bound that applies.

#include "mp/Domains/Contraction.h"

#include "mp/Domains/Rounding.h"

#include <algorithm>

namespace mpcore::domains {

double contractedNorm(const FloatFacts &x, const Extent &contracted, bool innermostIsContracted,
                      const Extent &rows) {
  double byRange = mulUp(sqrtUp(contracted.upper()), x.mag());
  if (x.mayInf || !innermostIsContracted)
    return x.mayInf ? std::numeric_limits<double>::infinity() : byRange;
  return std::min(byRange, mulUp(sqrtUp(rows.upper()), x.norm2));
}

FloatFacts contract(const ContractionOperand &x, const ContractionOperand &w,
                    const Extent &contracted, RowLength resultRowLength) {
  if (x.facts.isBottom() || w.facts.isBottom())
    return FloatFacts::bottom();
  FloatFacts result =
      FloatFacts::finite(Interval::top(), weakest(x.facts.provenance, w.facts.provenance));
  result.mayInf = x.facts.mayInf || w.facts.mayInf;
  // inf * 0 and inf - inf.
  result.mayNaN = x.facts.mayNaN || w.facts.mayNaN || result.mayInf;
  result.integerValued = x.facts.integerValued && w.facts.integerValued;
  result.range = times(contracted, mul(x.facts.range, w.facts.range));
  if (!result.mayInf)
    result.range = intersect(result.range, Interval::symmetric(mulUp(x.norm, w.norm)));
  result.norm2 = x.norm == 0 ? 0 : std::numeric_limits<double>::infinity();
  result.normalize();
  result.reduce(resultRowLength);
  return result;
}

} // namespace mpcore::domains
