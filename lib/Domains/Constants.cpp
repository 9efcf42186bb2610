// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans the elements of a constant once, with the rounding error of the sums added outward.

#include "mp/Domains/Constants.h"

#include "mp/Domains/Rounding.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mpcore::domains {

/// The root of a plain double sum of as many squares, upwards: n additions of one sign lose at most
/// n ulps, and squares that underflow are lost up to the smallest normal each.
static double rootOfSum(double sum, double terms) {
  double underflow = terms * std::numeric_limits<double>::min();
  return sum == 0 ? (terms == 0 ? 0 : sqrtUp(underflow))
                  : sqrtUp(slackUp(sum, 2 * terms) + underflow);
}

FloatFacts scanElements(int64_t rows, int64_t length, ReadRow readRow) {
  FloatFacts facts = FloatFacts::finite(Interval::empty());
  std::vector<double> row(static_cast<size_t>(length));
  double most = 0;
  for (int64_t r = 0; r < rows; ++r) {
    readRow(r, row);
    double squares = 0;
    for (double x : row) {
      if (std::isnan(x)) {
        facts.mayNaN = true;
        continue;
      }
      facts.range = {std::min(facts.range.lo, x), std::max(facts.range.hi, x)};
      facts.mayInf |= std::isinf(x);
      facts.integerValued &= std::isinf(x) || x == std::trunc(x);
      facts.nonZero &= x != 0;
      squares += x * x;
    }
    most = std::max(most, squares);
  }
  facts.norm2 = rootOfSum(most, static_cast<double>(length));
  facts.normalize();
  facts.reduce(length);
  return facts;
}

} // namespace mpcore::domains
