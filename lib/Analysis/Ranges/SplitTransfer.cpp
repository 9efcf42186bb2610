// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of parts and of what their products add up to.

#include "FloatTransfer.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Domains/Rounding.h"

using namespace mlir;
using namespace mlir::mp;

/// The residual that `parts` parts leave of a value is a rounding of the last of them; NaN where
/// the first is infinite.
domains::FloatFacts FloatTransfer::splitResidual(Operation *op, const domains::FloatFacts &x,
                                                 domains::RowLength rows) {
  auto next = cast<SplitResidualOp>(op);
  const numerics::FormatInfo &format = numerics::info(*getNumericsFormat(next.getFormat()));
  double size =
      std::pow(format.unitRoundoff, double(next.getParts().size())) * (1 + 2 * format.unitRoundoff);
  double largest = domains::addUp(domains::mulUp(x.mag(), size), format.underflowUnit);
  domains::FloatFacts part =
      domains::FloatFacts::finite(domains::Interval::symmetric(largest), x.provenance);
  part.mayNaN = x.mayNaN || x.mayInf || !(x.mag() < format.maxFinite);
  if (rows)
    part.norm2 =
        domains::addUp(domains::mulUp(x.norm2, size),
                       domains::mulUp(format.underflowUnit, domains::sqrtUp(double(*rows))));
  part.reduce(rows);
  return part;
}

/// large + small, or large alone where small is NaN; then + init.
domains::FloatFacts FloatTransfer::joinSplit(ArrayRef<FloatRange> parts, Type type,
                                             domains::RowLength rows) const {
  domains::FloatFacts large = parts[0].facts, small = parts[1].facts;
  bool mayStandAlone = small.mayNaN;
  small.mayNaN = false;
  domains::FloatFacts sum =
      roundedTo(domains::binary(domains::BinaryFn::Add, large, small, rows), type, rows);
  if (mayStandAlone)
    sum = domains::join(sum, large);
  return parts.size() < 3
             ? sum
             : roundedTo(domains::binary(domains::BinaryFn::Add, sum, parts[2].facts, rows), type,
                         rows);
}
