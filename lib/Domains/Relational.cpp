// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes facts of values that share operands, from the shape of the expression.

#include "mp/Domains/Relational.h"

#include "mp/Domains/Rounding.h"

#include <algorithm>
#include <cmath>

namespace mpcore::domains {

static constexpr double kInf = std::numeric_limits<double>::infinity();

FloatFacts softmax(const FloatFacts &x, const Extent &n, bool groupsAreRows, RowLength rowLength) {
  if (x.isBottom())
    return x;
  // Largest when the others are all as small as possible, smallest the other way round.
  double ratio = image(UnaryFn::Exp, {subDown(x.range.lo, x.range.hi), 0}).lo;
  double others = std::max<double>(static_cast<double>(n.min) - 1, 0);
  double highest = std::min(1.0, divUp(1, addDown(1, mulDown(others, ratio))));
  double lowest = n.max ? divDown(ratio, std::max(1.0, n.upper())) : 0;
  FloatFacts result = FloatFacts::finite({std::max(0.0, lowest), highest}, x.provenance);
  result.mayNaN = x.mayNaN || x.mayInf;
  result.norm2 = groupsAreRows ? 1 : kInf;
  result.normalize();
  result.reduce(rowLength);
  // A group of -inf alone is NaN; single masked elements are zeros.
  result.nonZero = !x.mayBeNegativeInf();
  return result;
}

} // namespace mpcore::domains
