// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts how many relative errors of rounded factors a number has: x w of two factors has two, and
// its tenth power ten times as many. Where there are too many, a number far from the limit of f32
// may be infinite.

#ifndef MP_LIB_ANALYSIS_RANGES_POLES_RELATIVEERRORS_H
#define MP_LIB_ANALYSIS_RANGES_POLES_RELATIVEERRORS_H

#include "mp/Analysis/Ranges/RangeAnalysis.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mp {

struct FloatMeaning;

/// The *lemma of relative errors*: where each contraction adds magnitudes and is off by a factor of
/// at most 1 + 2^-7 (two factors in bf16), a number is off by at most that factor to the power of
/// its count, and the count is at most 512 (a factor of 55), unless an op is found here. A product
/// has the counts of both factors, a sum the larger one; what a range bounds has none.
class RelativeErrors {
public:
  RelativeErrors(Operation *module, ModuleRanges &ranges);

  /// The ops that make values of too many, and these values.
  ArrayRef<std::pair<Operation *, Value>> getFound() const { return found.getArrayRef(); }

private:
  double countOf(Operation *op, const FloatMeaning &meaning, Value result) const;
  double largestOf(ArrayRef<Value> values) const;
  /// Visits what `op` holds, again while loops add to counts, and then its results; returns whether
  /// one has grown.
  bool visit(Operation *op);
  bool visitAgain(Operation *op);
  bool visitRegions(Operation *op);
  bool settle(Value value, Operation *op, double count);

  ModuleRanges &ranges;
  DenseMap<Value, double> counts;
  DenseSet<Value> closed;  ///< values that were found
  bool isWidening = false; ///< what grows now does so for ever
  llvm::SetVector<std::pair<Operation *, Value>> found;
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_RANGES_POLES_RELATIVEERRORS_H
