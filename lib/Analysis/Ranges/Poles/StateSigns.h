// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what keeps an optimizer's divisors from zero: its second moments are not negative as long as
// they have not been, whatever the gradients are.

#ifndef MP_LIB_ANALYSIS_RANGES_POLES_STATESIGNS_H
#define MP_LIB_ANALYSIS_RANGES_POLES_STATESIGNS_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp {

/// Returns whether `argument` of `op`, a quotient, root or logarithm, keeps off the pole of it
/// because it is made of the state of a train step and of squares, whatever contractions give. That
/// state starts without negative numbers is presumed, that it stays so is checked; numbers made of
/// scalar arguments and constants alone, as epsilons and corrections of bias, are presumed to be
/// positive.
bool isKeptOffByState(Operation *op, Value argument, ModuleRanges &ranges);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_POLES_STATESIGNS_H
