// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one value that are put together of parts, each good for some arguments, as libraries
// compute erf, or of which parts outgrow the whole, as of softplus: what they return is bounded,
// though each part by itself is not.

#ifndef MP_ANALYSIS_PIECEWISEBOUNDS_H
#define MP_ANALYSIS_PIECEWISEBOUNDS_H

#include "mlir/IR/Value.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Interval.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::mp {

/// Bounds `value` where it is a function, element by element, of a single value that lies in the
/// interval `domain` returns for it. The number line is cut into pieces whose intervals are carried
/// to `value`; on most pieces a comparison has one outcome. Returns nothing if the magnitude is not
/// known to stay within `limit`.
std::optional<domains::Interval>
boundPiecewise(Value value, llvm::function_ref<domains::Interval(Value)> domain, double limit);

} // namespace mlir::mp

#endif // MP_ANALYSIS_PIECEWISEBOUNDS_H
