// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that are put together of parts, each good for some arguments, as libraries compute erf: what they
// return is bounded, though each part by itself is not.

#ifndef MP_ANALYSIS_PIECES_H
#define MP_ANALYSIS_PIECES_H

#include "mlir/IR/Value.h"
#include "mp/Domains/Interval.h"

namespace mlir::mp {

/// What `value`, chosen by comparisons, can be where all it is computed of, element by element, is one value
/// of which nothing is known. Intervals are carried from pieces of the line to `value`; on most pieces a
/// comparison has one outcome. Nothing if that gives no bound.
std::optional<::mp::domains::Interval> boundInPieces(Value value);

} // namespace mlir::mp

#endif // MP_ANALYSIS_PIECES_H
