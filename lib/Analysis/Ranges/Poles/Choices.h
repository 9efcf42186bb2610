// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which ops choose among numbers as some value decides: where rounding decides otherwise,
// another number is taken.

#ifndef MP_LIB_ANALYSIS_RANGES_POLES_CHOICES_H
#define MP_LIB_ANALYSIS_RANGES_POLES_CHOICES_H

#include "Feeds.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp {

/// Returns whether all elements are numbers small enough for their squares to be far from the
/// limit of f32: whichever of them is chosen, what is made of it is as good.
bool isModerate(Value value, ModuleRanges &ranges);

/// Returns whether rounding leaves `condition` alone as long as all is finite: it tells NaN and
/// infinities from numbers.
bool isDecidedByFiniteness(Value condition, ModuleRanges &ranges);

/// Returns whether the results of a reduction are only added to, or compared, from turn to turn.
bool addsToResults(linalg::LinalgOp reduction);

/// Returns whether the results of `op`, or what the blocks are given that it branches to, may be
/// numbers of any size, and other ones where what decides is rounded.
bool choosesUnbounded(Operation *op, ModuleRanges &ranges);

/// Returns whether a selection gives the same number, but for rounding, where its outcome changes:
/// a function in pieces that meet, an extremum.
bool isContinuousSelection(Operation *select, ModuleRanges &ranges);

/// Returns how far arms are apart, at most, that a selection takes for numbers of one size where it
/// changes: if it compares with a moderate number, they are moderate there.
double sizeOfAlike(Operation *select, ModuleRanges &ranges);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_POLES_CHOICES_H
