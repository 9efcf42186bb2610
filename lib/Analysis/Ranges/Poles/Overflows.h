// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which functions may overflow so that a reader sees it: softplus is x where exp(x) is
// infinite, and 1 / (1 + exp(-x)) is zero.

#ifndef MP_LIB_ANALYSIS_RANGES_POLES_OVERFLOWS_H
#define MP_LIB_ANALYSIS_RANGES_POLES_OVERFLOWS_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp {

/// Returns whether the result of `op`, a function of one number, may be infinite in f32 where its
/// argument is finite, and may be read otherwise than as a divisor, or in an arm that a selection
/// takes only for smaller arguments.
bool mayOverflowForReaders(Operation *op, ModuleRanges &ranges);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_POLES_OVERFLOWS_H
