// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the class assumption through one operation.

#ifndef MP_LIB_ANALYSIS_RANGES_ASSUMPTIONTRANSFER_H
#define MP_LIB_ANALYSIS_RANGES_ASSUMPTIONTRANSFER_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp {

/// Returns the assumption on the float results of `op`, which is no control flow and has no body.
/// `operands`: one per operand, null for those that are no floats. `isSquare`: both factors are the
/// same element.
Assumption transferAssumption(Operation *op, const FloatMeaning &meaning,
                              ArrayRef<const RangeState *> operands, bool isSquare);
/// A sum of `count` terms, if that is known, on top of `init`.
Assumption sumAssumption(const RangeState &x, std::optional<int64_t> count, const RangeState &init,
                         StringRef op);
/// A product, as multiplications make it.
Assumption multiplyAssumption(const Assumption &a, const Assumption &b);
Assumption addAssumption(const Assumption &a, const Assumption &b);
/// The largest magnitude that arguments and contraction results are assumed to have.
double assumedReach();
/// Takes in what somebody says of a range: where that goes beyond f16, nothing is assumed any more.
void stateRange(Assumption &assumption, const domains::Interval &range);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_ASSUMPTIONTRANSFER_H
