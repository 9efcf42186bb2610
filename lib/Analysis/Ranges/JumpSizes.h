// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows jumps: where rounding moves x across a step, floor(x), sign(x), a remainder, a number
// made of a truth value or another moderate alternative are otherwise by so much. A sum keeps the
// size of a jump; a product with an unbounded number makes it unbounded, where f32 may have zero.

#ifndef MP_LIB_ANALYSIS_RANGES_JUMPSIZES_H
#define MP_LIB_ANALYSIS_RANGES_JUMPSIZES_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mp {

/// The *lemma of jumps*: values move by no more than a moderate number where contractions round
/// across a step, unless an op is found here. A jump is a step of a function or a choice that is
/// not continuous; it lies in the range of its result, is multiplied by the other factors' ranges
/// and by slopes, and added up in sums, loops included. Not followed are the steps of casts.
///
/// The same for slopes: the result of a steep function, as 1 / (x^2 + e), may be any number of its
/// range. A product with an unbounded number is presumed to be finite then, as all that is
/// continuous is; one with a bounded number is not.
class JumpSizes {
public:
  enum class Of : uint8_t { Jumps, Slopes };
  JumpSizes(Operation *module, ModuleRanges &ranges, Of of);

  /// Calls `visit` with each op that makes a jump unbounded, and the values that decide about it.
  void visitUnbounded(llvm::function_ref<void(Operation *op, Value decider)> visit) const;

private:
  /// A value, and what a result has of its jump.
  using Part = std::pair<Value, double>;

  double magnitude(Value value) const;
  double times(double size, double factor) const;
  double own(Operation *op) const;
  double ownOfArgument(BlockArgument argument) const;
  SmallVector<Part> parts(Operation *op, Value result) const;
  SmallVector<Part> partsOfStructured(Operation *op, Value result) const;
  /// Adds up what `value` gets, and notes what is unbounded.
  void settle(Value value, Operation *op, ArrayRef<Part> parts, double own);
  void settleArguments(Operation *op);
  void settleResults(Operation *op);

  ModuleRanges &ranges;
  Of of;
  DenseMap<Operation *, double> owns; ///< jumps that an op makes itself
  DenseMap<Value, double> sizes;
  DenseMap<Value, unsigned> changes;
  DenseSet<Value> closed; ///< values of unbounded jumps
  bool changed = false;
  llvm::SetVector<std::pair<Operation *, Value>> unbounded;
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_JUMPSIZES_H
