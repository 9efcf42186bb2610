// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells choices by a comparison with a constant that jump where its outcome changes from those that
// do not, as PReLU.

#ifndef MP_LIB_ANALYSIS_ERROR_JUMPS_H
#define MP_LIB_ANALYSIS_ERROR_JUMPS_H

#include "mp/Analysis/Values/ValueNumbering.h"
#include <memory>

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
class Jumps {
public:
  explicit Jumps(Operation *root) : root(root) {}

  /// Returns true if the lemma holds of `selection`, the result of such a choice.
  bool isContinuous(Value selection);

  /// Returns by how much the result of `choice` is otherwise where a comparison is: nothing if it
  /// is continuous, else what it is chosen from is apart if that has nothing in common.
  double of(Operation *choice, llvm::function_ref<double(Value)> rmsOf);

private:
  Operation *root;
  std::unique_ptr<ValueNumbering> values; ///< of all below `root`, once it is needed
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_JUMPS_H
