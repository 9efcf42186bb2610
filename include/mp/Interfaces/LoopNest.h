// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op seen as a loop nest, in the sense of linalg's structured ops: every iteration reads one
// element of each operand, at an affine function of the loop indices, and contributes to one
// element of each result. linalg ops state this themselves; elementwise ops on tensors, TOSA's
// reductions and the ops that only move elements are read in the same terms here, so that an
// analysis needs one notion of "the same elements meet".

#ifndef MP_INTERFACES_LOOPNEST_H
#define MP_INTERFACES_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineMap.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

namespace mlir::mp {

struct LoopNest {
  /// Trip counts; `ShapedType::kDynamic` where one is not known.
  SmallVector<int64_t, 4> sizes;
  /// True for loops that are reduced.
  SmallVector<bool, 4> isReduction;
  /// Per operand, loop indices to the index read; null for an operand that is not read at one
  /// element an iteration (an index, a shape, a whole tensor).
  SmallVector<AffineMap, 4> reads;
  /// Per result, loop indices to the index written.
  SmallVector<AffineMap, 1> writes;

  bool hasReductions() const { return llvm::is_contained(isReduction, true); }
};

/// Reads `op` as a loop nest. Nothing for ops that are none, for those with buffers, and where a
/// size that matters is dynamic in a way that could mean broadcasting or a partial read.
std::optional<LoopNest> readLoopNest(Operation *op);
/// The same for an op whose meaning is at hand.
std::optional<LoopNest> readLoopNest(Operation *op, const FloatMeaning &meaning);

/// The trip counts of `op`, whose indexing maps are `maps`; `kDynamic` where one is not known.
SmallVector<int64_t, 4> readLoopSizes(linalg::LinalgOp op, ArrayRef<AffineMap> maps);

/// States how one result of a reduction combines what it has so far with one more value.
struct Combination {
  Operation *combiner = nullptr; ///< the op of the body that combines
  Value combined;                ///< the value of the body that is added, or compared
};

/// The combination behind result `index` of a linalg op with reduction loops: out + x, max(out, x)
/// and so on, in either order. Nothing if the body does more with the partial result.
std::optional<Combination> readCombination(linalg::LinalgOp op, unsigned index);

} // namespace mlir::mp

#endif // MP_INTERFACES_LOOPNEST_H
