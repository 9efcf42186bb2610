// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions with a pole or an edge (1 / x and logarithms at zero, roots below it) behind
// contractions: rounding the factors of x = a b - c d may make zero of what was a small number, and
// an infinity of what was finite; an exponential turns a small error into a large one. A choice
// that depends on x may give another number, however large: x > 1 ? t : 0, or table[x]; so may a
// jump that is multiplied: floor(x) t. A cast of the graph's own, to f16, is infinite from 65520
// on. No bound of magnitudes says anything about that.

#ifndef MP_ANALYSIS_RANGES_POLES_H
#define MP_ANALYSIS_RANGES_POLES_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"

namespace mlir::mp {

/// An op whose results may be infinite, or unlike what they were, where its arguments are rounded.
struct Pole {
  enum class Kind : uint8_t {
    Function, ///< it has a pole, or an edge
    Limit,    ///< its format, narrower than f32, may be too small for its result
    Choice,   ///< it picks among numbers that no range bounds
    Jump,     ///< it multiplies a number that jumps by one that no range bounds
  };
  Operation *op = nullptr;
  Kind kind = Kind::Function;
  explicit operator bool() const { return op; }
};

/// The ops of a module with a pole that their arguments may reach, whatever finite numbers
/// contractions give, with results that may exceed a narrow format which they have already, that
/// choose among unbounded numbers, or that multiply jumps by such, and what their arguments depend
/// on: by data, through bodies, loops, branches and calls. The size of a tensor depends on integers
/// that give it, not on its elements. Not among them
/// are what an optimizer makes of its own state, selections that are continuous, as of max(x, 0),
/// and checks for infinities.
class Poles {
public:
  explicit Poles(Operation *module);

  /// The op whose pole or choice the results of `op` may reach; null if there is none.
  Pole findBehind(Operation *op) const;

private:
  void mark(Value value, Pole pole);

  ModuleRanges ranges;
  DenseMap<Value, Pole> reached; ///< values that an argument of a pole depends on
  DenseSet<Value> reachedBySize; ///< of which only the sizes matter to one
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_RANGES_POLES_H
