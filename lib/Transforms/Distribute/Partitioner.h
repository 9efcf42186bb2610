// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares how a block of ops on whole tensors is written again for one of many ranks.

#ifndef MP_LIB_TRANSFORMS_DISTRIBUTE_PARTITIONER_H
#define MP_LIB_TRANSFORMS_DISTRIBUTE_PARTITIONER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mp/Dialect/Comm/CommDialect.h"

namespace mlir::mp::distribute {

/// The values that stand for those of the original function. Each is held whole, in parts along one
/// dimension, or both; the other form is made when it is asked for, once. What ranks still have to
/// combine is pending: it becomes whole by an all_reduce, or parts by a reduce_scatter.
class Partitioner {
public:
  Partitioner(OpBuilder &builder, int64_t ranks) : b(builder), ranks(ranks) {}

  void setWhole(Value original, Value whole) { placed[original].whole = whole; }
  void setPart(Value original, Value part, int64_t dim) { placed[original] = {{}, part, dim}; }

  /// Finds the values of which parts are asked for by results that are held in parts: those that
  /// reach them through ops which compute each element from one of the value's.
  void findWanted(Block &block, ArrayRef<std::optional<int64_t>> results);

  /// Gathers the value from all ranks where it is held in parts.
  Value whole(Value original);
  /// Cuts this rank's part out where the value is held whole, or in parts along another dimension.
  Value part(Value original, int64_t dim);
  /// The dimension along which the value is held in parts alone; nothing if it is held whole.
  std::optional<int64_t> dimOf(Value original) const;

  /// Writes an op again: on parts where a rule finds how, else on wholes.
  void visit(Operation *op);

  /// True if ranks can hold the dimension in equal parts.
  bool divides(Value value, int64_t dim) const;
  RankedTensorType partType(Type type, int64_t dim) const;

  unsigned onParts = 0, onWholes = 0; ///< ops visited

private:
  struct Placed {
    Value whole, part;
    int64_t dim = 0;
    Value own = {}; ///< what this rank has of a pending value, perhaps in a wider format
    comm::Combine combine = comm::Combine::Sum;
    bool isPending() const { return own && !whole && !part; }
  };

  bool visitStructured(linalg::LinalgOp op);
  bool visitElementwise(Operation *op);
  bool visitSoftmax(linalg::SoftmaxOp op);
  bool visitExpand(tensor::ExpandShapeOp op);
  bool visitCollapse(tensor::CollapseShapeOp op);
  bool visitExtractSlice(tensor::ExtractSliceOp op);
  bool visitInsertSlice(tensor::InsertSliceOp op);
  bool visitPad(tensor::PadOp op);
  bool visitConcat(tensor::ConcatOp op);
  void visitWhole(Operation *op);

  /// Returns what running a structured op over parts of a loop costs: bytes that each rank sends,
  /// or nothing where it cannot be done.
  std::optional<int64_t> costOf(linalg::LinalgOp op, unsigned loop) const;
  void overPartsOf(linalg::LinalgOp op, unsigned loop);
  void combineRanks(Value original, Value own, Operation *combiner, Value init);

  /// The form of a value that ranks have not combined yet, in its own format; null if it is not.
  const Placed *pendingOf(Value original) const;
  /// Lets the op wait for ranks to combine, too, where it gives the same on what each rank has:
  /// what moves elements, and what combines more of them by the same operation.
  bool visitPending(Operation *op);
  void resolveWanted(Operation *op);
  /// Clones an op whose operands are given, as are the types of its results; what its regions
  /// capture is whole.
  Operation *cloneWith(Operation *op, ValueRange operands, TypeRange results);
  bool onPartsAlong(Operation *op, int64_t dim);

  static int64_t bytesOf(Value original);
  /// Bytes that ranks exchange until all hold the value.
  int64_t bytesToGather(Value original) const;
  Value remake(Value original, int64_t dim);
  bool hasWhole(Value original) const;
  /// True if the whole is made again from another value's, without an exchange of its own.
  bool isMadeAgain(Value original) const;
  Value madeAgain(Value original);
  Value repeat(linalg::LinalgOp op, int64_t dim);
  Value scatter(Value original, int64_t dim);
  Value rounded(Value combined, RankedTensorType type);
  Value rank();

  OpBuilder &b;
  int64_t ranks;
  llvm::DenseMap<Value, Placed> placed;
  llvm::DenseMap<Value, int64_t> wanted; ///< the dimension along which parts are asked for
  Value rankValue;
};

/// Bytes that each rank sends in a call of the function's collectives: all but its own part, of
/// what it has or of what it gets.
int64_t bytesSentPerCall(Block &block, int64_t ranks);

/// The op by which the body adds to its destination `index`; null if it does more with it, or with
/// another of its destinations.
Operation *combinerOf(linalg::LinalgOp op, unsigned index);
std::optional<comm::Combine> combineOf(Operation *combiner);
/// True if the value is filled with the neutral element of a combination.
bool isNeutralInit(Value original, Operation *combiner);

/// The dimension of the split tensor that holds blocks of the merged one: the first of the group
/// that is not 1.
std::optional<int64_t> outermost(ArrayRef<int64_t> group, RankedTensorType split);
/// True if the slice takes the dimension as a whole.
bool takesAll(OffsetSizeAndStrideOpInterface op, RankedTensorType whole, int64_t dim);

} // namespace mlir::mp::distribute

#endif // MP_LIB_TRANSFORMS_DISTRIBUTE_PARTITIONER_H
