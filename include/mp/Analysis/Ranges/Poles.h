// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions with a pole or an edge (1 / x and logarithms at zero, roots below it) behind
// contractions: rounding the factors of x = a b - c d may make zero of what was a small number, and
// an infinity of what was finite; an exponential turns a small error into a large one. No bound of
// magnitudes says anything about that.

#ifndef MP_ANALYSIS_RANGES_POLES_H
#define MP_ANALYSIS_RANGES_POLES_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp {

/// The ops of a module with a pole that their arguments may reach, whatever finite numbers
/// contractions give, and what their arguments depend on: by data, through bodies, loops, branches
/// and calls. Not among them is what an optimizer makes of its own state.
class Poles {
public:
  explicit Poles(Operation *module);

  /// The op whose pole the results of `op` may reach; null if there is none.
  Operation *findBehind(Operation *op) const;

private:
  void mark(Value value, Operation *pole);

  ModuleRanges ranges;
  DenseMap<Value, Operation *> reached; ///< values that an argument of a pole depends on
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_RANGES_POLES_H
