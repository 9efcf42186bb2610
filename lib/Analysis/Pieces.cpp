// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads pieces off concatenations and chains of insertions.

#include "mp/Analysis/Pieces.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr size_t kMostPieces = 4;

/// Sorts the pieces; nothing if they overlap, leave elements out, or are too many.
static std::optional<Whole> checkPieces(Whole whole, int64_t size) {
  llvm::erase_if(whole.pieces, [](const Piece &piece) { return piece.size == 0; });
  llvm::sort(whole.pieces, [](const Piece &a, const Piece &b) { return a.offset < b.offset; });
  int64_t next = 0;
  for (const Piece &piece : whole.pieces) {
    if (piece.offset != next)
      return std::nullopt;
    next += piece.size;
  }
  if (next != size || whole.pieces.size() < 2 || whole.pieces.size() > kMostPieces)
    return std::nullopt;
  return whole;
}

static std::optional<Whole> readConcatenation(Operation *op, ValueRange inputs, unsigned dim) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.isDynamicDim(dim))
    return std::nullopt;
  Whole whole{{op}, dim, {}};
  int64_t offset = 0;
  for (Value input : inputs) {
    auto part = dyn_cast<RankedTensorType>(input.getType());
    if (!part || part.isDynamicDim(dim))
      return std::nullopt;
    whole.pieces.push_back({input, offset, part.getDimSize(dim)});
    offset += part.getDimSize(dim);
  }
  return checkPieces(std::move(whole), type.getDimSize(dim));
}

/// Adds what `op` inserts into a tensor of `sizes`; fails if that does not lie beside other pieces
/// along one dimension, `dim` once it is known.
static LogicalResult addPiece(tensor::InsertSliceOp op, ArrayRef<OpFoldResult> sizes, Whole &whole,
                              std::optional<unsigned> &dim) {
  RankedTensorType source = op.getSourceType();
  if (!op.hasUnitStride() || source.getRank() != op.getDestType().getRank() ||
      llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic))
    return failure();
  for (auto [i, offset, size] : llvm::enumerate(op.getStaticOffsets(), op.getMixedSizes())) {
    if (offset == 0 && isEqualConstantIntOrValue(size, sizes[i]))
      continue;
    if (dim.value_or(i) != i || source.isDynamicDim(i))
      return failure();
    dim = unsigned(i);
  }
  if (!dim)
    return failure();
  whole.ops.push_back(op);
  whole.pieces.push_back({op.getSource(), op.getStaticOffset(*dim), source.getDimSize(*dim)});
  return success();
}

static std::optional<Whole> readInsertions(tensor::InsertSliceOp last) {
  RankedTensorType type = last.getDestType();
  Value base = last.getDest();
  while (auto insert = base.getDefiningOp<tensor::InsertSliceOp>())
    base = insert.getDest();
  auto empty = base.getDefiningOp<tensor::EmptyOp>();
  if (!empty && !type.hasStaticShape())
    return std::nullopt;
  const SmallVector<OpFoldResult> sizes =
      empty ? empty.getMixedSizes() : getAsIndexOpFoldResult(type.getContext(), type.getShape());
  Whole whole;
  std::optional<unsigned> dim;
  int64_t covered = 0;
  for (auto op = last; op; op = op.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    if (failed(addPiece(op, sizes, whole, dim)) || type.isDynamicDim(*dim))
      return std::nullopt;
    covered += whole.pieces.back().size;
    if (covered >= type.getDimSize(*dim))
      break;
  }
  whole.dim = *dim;
  return checkPieces(std::move(whole), type.getDimSize(*dim));
}

std::optional<Whole> mlir::mp::readWhole(Operation *op) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return readConcatenation(op, concat.getInputs(), unsigned(concat.getDim()));
  if (auto concat = dyn_cast<tosa::ConcatOp>(op))
    return readConcatenation(op, concat.getInput1(), concat.getAxis());
  auto insert = dyn_cast<tensor::InsertSliceOp>(op);
  if (!insert)
    return std::nullopt;
  auto next = insert->hasOneUse() ? dyn_cast<tensor::InsertSliceOp>(*insert->user_begin())
                                  : tensor::InsertSliceOp();
  return next && next.getDest() == insert.getResult() ? std::nullopt : readInsertions(insert);
}
