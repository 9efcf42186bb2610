// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells choices by a comparison that jump where its outcome changes from those that do not, as
// PReLU and extrema.

#ifndef MP_ANALYSIS_VALUES_CONTINUITY_H
#define MP_ANALYSIS_VALUES_CONTINUITY_H

#include "mp/Analysis/Values/ValueNumbering.h"

namespace mlir::mp {

/// The *lemma of continuity*: select(x > c, f, g) has no jump where x passes c if
///
/// 1. the comparison is of order, between x and a constant c, each element with its own;
/// 2. f and g read the same element of x, and with c in its place are the same number, as f32 tells
///    numbers apart, or the same number plus the same element of something else;
/// 3. on the way to these, no function has a pole or steps;
/// 4. what else is multiplied by zero there is finite, as slopes are.
///
/// The first three are checked, by arithmetic on value numbers; the last is assumed, as the
/// variance model assumes all sizes. What rounding does to x then moves the result along a slope.
/// Returns true if the lemma holds of `yes` and `no`, chosen by `condition`.
bool isContinuousAt(const ValueNumbering &values, const View &condition, const View &yes,
                    const View &no);

/// Returns true if `yes` and `no` are what `condition` asks the order of: an extremum, which gives
/// one of two that are equal where it passes from one to the other.
bool isExtremum(const ValueNumbering &values, const View &condition, const View &yes,
                const View &no);

} // namespace mlir::mp

#endif // MP_ANALYSIS_VALUES_CONTINUITY_H
