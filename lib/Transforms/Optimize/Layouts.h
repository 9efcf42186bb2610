// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says which ops compute as well on tensors whose channels, dimension 1, lie behind the others.

#ifndef MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTS_H
#define MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "llvm/ADT/SmallSet.h"

namespace mlir::mp {

using Ranks = llvm::SmallSet<int64_t, 2>;

/// The order of dimensions that puts channels last: 0, 2, ..., rank - 1, 1.
SmallVector<int64_t> channelsLast(int64_t rank);
RankedTensorType withChannelsLast(RankedTensorType type);

/// True for a structured op that sums products of two tensors.
bool multiplies(Operation *op);
/// True for one along whose dimensions windows move.
bool isConvolution(Operation *op);

/// True for a tensor whose channels may be moved: a ranked one, of one of these ranks.
bool mayMove(Value value, const Ranks &ranks);
/// True for tensors that can be made anew in any order: empty, filled, or of one number.
bool isUniform(Value value);

/// The ways in which an op works on tensors with channels last.
enum class Moves {
  No,
  InLoops,     ///< a structured op: its loops are exchanged
  ByElement,   ///< an elementwise op: on each element as before
  WithPadding, ///< a padding by known sizes with one number
  Away,        ///< a transposition that puts channels last: it goes away
  Back,        ///< one that brings them back
};
Moves movesOf(Operation *op, const Ranks &ranks);

/// The operands of an op that `movesOf` takes, which it reads with channels last. The others it
/// reads as they lie.
SmallVector<OpOperand *> movedOperands(Operation *op, const Ranks &ranks);

/// The loops of a structured op in some order, in which its operands lie in some order.
struct LoopOrder {
  SmallVector<int64_t> order;  ///< loop i is the op's loop order[i]
  SmallVector<AffineMap> maps; ///< from these loops
  SmallVector<bool> isMoved;   ///< operands
};
LoopOrder loopsAsTheyAre(linalg::LinalgOp op);
/// The same with channels last.
LoopOrder loopsMoved(linalg::LinalgOp op, const Ranks &ranks);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_OPTIMIZE_LAYOUTS_H
