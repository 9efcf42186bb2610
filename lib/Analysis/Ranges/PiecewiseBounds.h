// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one value that are put together of parts, each good for some arguments, as libraries
// compute erf, or of which parts outgrow the whole, as of softplus: what they return is bounded,
// though each part by itself is not.

#ifndef MP_LIB_ANALYSIS_RANGES_PIECEWISEBOUNDS_H
#define MP_LIB_ANALYSIS_RANGES_PIECEWISEBOUNDS_H

#include "RangeTransfer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::mp {

/// Bounds `value` where all it is computed of, element by element, is one value that lies in what
/// `domain` says of it. Intervals are carried from pieces of the line to `value`; on most pieces a
/// comparison has one outcome. Nothing if the magnitude is not known to stay within `limit`.
std::optional<domains::Interval> boundPiecewise(RangeTransfer &transfer, Value value,
                                                llvm::function_ref<domains::Interval(Value)> domain,
                                                double limit);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_PIECEWISEBOUNDS_H
