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
/// dimension, or both; the other form is made when it is asked for, once.
class Partitioner {
public:
  Partitioner(OpBuilder &builder, int64_t ranks) : b(builder), ranks(ranks) {}

  void setWhole(Value original, Value whole) { placed[original].whole = whole; }
  void setPart(Value original, Value part, int64_t dim) { placed[original] = {{}, part, dim}; }

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
  Value combineRanks(Location loc, Value own, Operation *combiner, Value init);
  /// Clones an op whose operands are given, as are the types of its results; what its regions
  /// capture is whole.
  Operation *cloneWith(Operation *op, ValueRange operands, TypeRange results);
  bool onPartsAlong(Operation *op, int64_t dim);

  int64_t bytesToGather(Value original) const;
  Value remake(Value original, int64_t dim);
  Value rank();

  OpBuilder &b;
  int64_t ranks;
  llvm::DenseMap<Value, Placed> placed;
  Value rankValue;
};

/// Bytes that each rank sends in a call of the function's collectives: all but its own part, of
/// what it has or of what it gets.
int64_t bytesSentPerCall(Block &block, int64_t ranks);

/// Combines into parts where only parts of an all_reduce are read.
void scatterWhereParts(Block &block, int64_t ranks);

} // namespace mlir::mp::distribute

#endif // MP_LIB_TRANSFORMS_DISTRIBUTE_PARTITIONER_H
