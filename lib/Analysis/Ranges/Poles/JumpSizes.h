// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows jumps: where rounding moves x across a step, floor(x), sign(x), a remainder, a number
// made of a truth value or another moderate alternative are otherwise by so much. A sum keeps the
// size of a jump; a product with an unbounded number makes it unbounded, where f32 may have zero.

#ifndef MP_LIB_ANALYSIS_RANGES_POLES_JUMPSIZES_H
#define MP_LIB_ANALYSIS_RANGES_POLES_JUMPSIZES_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mp {

struct FloatMeaning;

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
  using Visit = llvm::function_ref<void(Operation *op, Value decider)>;

  JumpSizes(Operation *module, ModuleRanges &ranges);

  /// Calls `visit` with each op that makes a jump or a slope unbounded, and the values that decide
  /// about it.
  void visitUnbounded(Visit visit);

private:
  enum Of : uint8_t { Jumps, Slopes };
  /// A value, and what a result has of its jump.
  using Part = std::pair<Value, double>;

  double magnitude(Value value) const;
  double times(double size, double factor) const;
  double ownJump(Operation *op, const FloatMeaning &meaning) const;
  double ownSlope(Operation *op, const FloatMeaning &meaning) const;
  double ownOfArgument(BlockArgument argument) const;
  /// Returns values whose jumps a result has as they are.
  SmallVector<Part> wholes(ValueRange values) const;
  SmallVector<Part> parts(Operation *op, const FloatMeaning &meaning, Value result) const;
  SmallVector<Part> partsOfStructured(Operation *op, Value result) const;
  void collectTurns(Operation *module);

  /// Finds the sizes of all values.
  void follow();
  /// Adds up what `value` gets, in each element if its parts join, and notes what is unbounded.
  void settle(Value value, Operation *op, ArrayRef<Part> parts, double own, bool joins);
  void settleArguments(Operation *op);
  void settleResults(Operation *op);
  /// Has all that is made of `value` settled again.
  void touch(Value value);
  void visitFound(Visit visit) const;

  ModuleRanges &ranges;
  DenseMap<Operation *, double> owns[2]; ///< jumps, and slopes, that an op makes itself
  bool branches = false;                 ///< an op chooses the block that follows
  SmallVector<Operation *> order;        ///< of settling: with regions, before them and after
  DenseMap<Operation *, std::pair<unsigned, unsigned>> turns; ///< first and last in `order`
  DenseMap<Operation *, SmallVector<Operation *>> linked;     ///< calls of functions, and back

  Of of = Of::Jumps; ///< what is followed; the rest is about it
  DenseMap<Value, double> sizes;
  DenseMap<Value, unsigned> changes;
  DenseSet<Value> closed; ///< values of unbounded jumps
  llvm::BitVector due;    ///< turns of which something else may come
  llvm::SetVector<std::pair<Operation *, Value>> unbounded;
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_POLES_JUMPSIZES_H
